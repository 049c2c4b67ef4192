"""A real host's Docker state made into a seed that tells of the host only how such hosts look."""
