"""Measure whether an agent skill changes what a coding agent does, and at what harm and cost."""
