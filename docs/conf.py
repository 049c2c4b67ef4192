"""Sphinx configuration."""

project = "pytest-skilleval"
author = "the pytest-skilleval authors"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
exclude_patterns = ["_build"]
# JSON with comments or with dots for what is left out is shown, not parsed.
suppress_warnings = ["misc.highlighting_failure"]
