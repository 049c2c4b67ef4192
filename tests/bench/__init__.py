"""Benchmarks: ``nox -s bench`` prints figures and ratios to a baseline of the same minute; nothing here passes or fails."""
