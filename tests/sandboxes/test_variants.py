"""The engine backend where the machine offers less: other control groups, files on disk, the host's own /usr."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.sandboxes.engine import host_root
from pytest_skilleval.sandboxes.engine.backend import EngineBackend
from pytest_skilleval.sandboxes.engine.cgroups import Hierarchy, hierarchies, writable

from . import conformance

pytestmark = pytest.mark.engine

CHECKS = (
    conformance.a_time_out_kills_everything_the_command_started,
    conformance.a_time_out_leaves_containers_alone,
    conformance.the_engine_works_for_the_agent,
    conformance.deleting_everything_inside_leaves_the_host_alone,
    conformance.a_kept_state_comes_back_as_it_was,
)


def only(version: int) -> tuple[Hierarchy, ...]:
    """The hierarchies of one version; skips where they can't be used."""
    found = tuple(one for one in hierarchies() if one.version == version)
    if not writable(found):
        pytest.skip(f"no cgroup v{version} here")
    return found


@pytest.fixture(params=["cgroup v1 only", "cgroup v2 only", "on disk", "host root"])
def variant(request: pytest.FixtureRequest, engine: EngineBackend, tmp_path: Path) -> EngineBackend:
    """The backend with one thing changed."""
    state = tmp_path / "live"
    if request.param == "on disk":
        return EngineBackend(engine.cache, state_dir=state, in_memory=False)
    if request.param == "host root":
        backend = EngineBackend(tmp_path / "cache", root="host", state_dir=state)
        engine.warm(print)
        assert engine.tree is not None
        backend.tree = host_root.make(tmp_path / "cache", host=engine.tree.path)
        return backend
    found = only(int(request.param[8]))
    return EngineBackend(engine.cache, state_dir=state, cgroups=lambda: found)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_promises_hold_there_too(check: conformance.Check, variant: EngineBackend, tmp_path: Path) -> None:
    """The same promises hold with less to build on."""
    check(conformance.Bench(variant, tmp_path))
