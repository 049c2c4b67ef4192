"""The `engine` backend against the conformance suite, and what is special about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.sandboxes.engine.backend import EngineBackend

from . import conformance

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: conformance.Check, engine: EngineBackend, tmp_path: Path) -> None:
    """The engine backend keeps every promise of the conformance suite."""
    check(conformance.Bench(engine, tmp_path))
