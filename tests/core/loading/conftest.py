"""A specs folder for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from spec_builder import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A specs folder with one small valid spec."""
    return Tree(tmp_path)
