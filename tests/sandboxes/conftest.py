"""Backends to test, made once per process; tests that need root on Linux are skipped where it is missing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.sandboxes.conformance", "sandboxes.conformance")

from pytest_skilleval.sandboxes.engine.backend import EngineBackend, default_cache  # noqa: E402
from tests import required  # noqa: E402


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineBackend]:
    """The `engine` backend with folders of its own, but for the root: that is built once, in the user's cache."""
    folder = Path(tempfile.mkdtemp(prefix="pytest-skilleval-"))
    (default_cache() / "trees").mkdir(parents=True, exist_ok=True)
    cache = tmp_path_factory.mktemp("cache")
    (cache / "trees").symlink_to(default_cache() / "trees")
    backend = EngineBackend(cache, state_dir=folder)
    required.sandboxes(backend)
    backend.warm(print)
    yield backend
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _slow_only_when_asked(request: pytest.FixtureRequest) -> None:
    """Tests marked slow run with ``-m slow`` only."""
    if request.node.get_closest_marker("slow") and "slow" not in request.config.getoption("-m"):
        pytest.skip("slow: run with -m slow")
