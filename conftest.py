"""For all tests of this repository: pytest's own fixture for testing plugins."""

from __future__ import annotations

pytest_plugins = ["pytester"]
