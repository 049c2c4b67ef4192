"""Nothing is left behind: after success, after failure, after Ctrl-C, and whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest
import requests

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import Command, SandboxRequest
from pytest_skilleval.sandboxes.engine.backend import EngineBackend
from pytest_skilleval.sandboxes.engine.leftovers import inventory, processes
from tests.heeding import heed_signals

from . import world

pytestmark = pytest.mark.engine

WORLD = "leftovers"
Victim = tuple[subprocess.Popen[str], int, int]
"""The process that opened a sandbox, the sandbox's supervisor and its first process."""


@pytest.fixture
def fresh(engine: EngineBackend, tmp_path: Path) -> EngineBackend:
    """A backend whose sandboxes no other test sees."""
    return EngineBackend(engine.cache, state_dir=tmp_path / "live")


@pytest.fixture(scope="module")
def kept(engine: EngineBackend) -> str:
    """A prepared state with three running containers."""
    if not engine.has(WORLD):
        sandbox = engine.open(SandboxRequest(name="prepare"))
        try:
            world.make(sandbox)
            sandbox.save(WORLD, age_days=5)
        finally:
            sandbox.close()
    return WORLD


@pytest.fixture
def victim(fresh: EngineBackend, kept: str) -> Iterator[Victim]:
    """Another process with a sandbox in use."""
    command = [sys.executable, "-m", f"{__package__}.opener", str(fresh.state_dir), kept, str(fresh.cache)]
    root = Path(__file__).parents[len(__package__.split("."))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root, preexec_fn=heed_signals
    ) as process:
        assert process.stdout is not None
        supervisor, init = map(int, process.stdout.readline().split())
        yield process, supervisor, init
        process.kill()


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether `holds` becomes true in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def host() -> list[object]:
    """The host's mounts, named network namespaces, virtual wires and process namespaces."""
    names = Path("/run/netns")
    return [
        Path("/proc/self/mounts").read_text(),
        sorted(names.iterdir()) if names.exists() else [],
        sorted(path.name for path in Path("/sys/class/net").iterdir()),
    ]


def use(backend: EngineBackend, restore: str | None = None) -> None:
    """One whole life of a sandbox."""
    sandbox = backend.open(SandboxRequest(name="use", restore=restore))
    try:
        assert sandbox.exec(Command(argv=("docker", "ps")), timeout=30).exit_code == 0
        sandbox.state()
    finally:
        sandbox.close()


def test_twenty_sandboxes_leave_the_host_as_it_was(fresh: EngineBackend, kept: str) -> None:
    """Twenty sandboxes one after the other leave no folder, group, mount, network, wire, process or open file."""
    use(fresh, kept)
    before, files = host(), len([*Path("/proc/self/fd").iterdir()])
    for number in range(20):
        use(fresh, kept if number % 4 == 0 else None)
    assert inventory(fresh.state_dir) == frozenset()
    assert host() == before
    assert len([*Path("/proc/self/fd").iterdir()]) == files


@pytest.mark.slow
def test_a_hundred_sandboxes_leave_the_host_as_it_was(fresh: EngineBackend, kept: str) -> None:
    """A hundred sandboxes, two at a time, leave nothing and do not fill the disk."""
    before, free = host(), os.statvfs("/").f_bavail
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: use(fresh, kept), range(100)))
    assert inventory(fresh.state_dir) == frozenset()
    assert host() == before
    assert (free - os.statvfs("/").f_bavail) * os.statvfs("/").f_frsize < 500 << 20


def test_the_inventory_sees_a_live_sandbox(fresh: EngineBackend) -> None:
    """The inventory is able to fail: folder, groups and processes of a live sandbox are in it."""
    sandbox = fresh.open(SandboxRequest(name="seen"))
    try:
        kinds = {line.split()[0] for line in inventory(fresh.state_dir)}
    finally:
        sandbox.close()
    assert {"folder", "process"} <= kinds


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_session_is_killed_everything_goes(how: signal.Signals, fresh: EngineBackend, victim: Victim) -> None:
    """Within a second of the session's death by any signal its sandbox is gone without a trace."""
    process, _, _ = victim
    os.kill(process.pid, how)
    process.wait(10)
    assert within(1, lambda: not processes(fresh.state_dir))
    assert within(1, lambda: not inventory(fresh.state_dir))


def test_when_the_supervisor_is_killed_the_rest_is_reaped(fresh: EngineBackend, victim: Victim) -> None:
    """Within a second nothing is alive; the folders that stay are removed by the next session."""
    _, supervisor, _ = victim
    os.kill(supervisor, signal.SIGKILL)
    assert within(1, lambda: not processes(fresh.state_dir))
    reaped = fresh.reap()
    assert len(reaped) == 1
    assert inventory(fresh.state_dir) == frozenset()
    assert fresh.reap() == ()


def test_what_is_paused_is_reaped_too(fresh: EngineBackend) -> None:
    """A paused container outlives a killed supervisor under cgroup v1, but not the next session's reaping."""
    sandbox = fresh.open(SandboxRequest(name="paused"))
    try:
        world.load(sandbox)
        script = "docker run -d --name held tools:1 sleep 900 && docker pause held"
        assert sandbox.exec(Command(argv=("sh", "-c", script)), timeout=60).exit_code == 0
        os.kill(sandbox.supervisor, signal.SIGKILL)
        assert within(2, lambda: len(processes(fresh.state_dir)) <= 2)
        assert len(fresh.reap()) == 1
        assert within(1, lambda: not inventory(fresh.state_dir))
    finally:
        sandbox.close()


def test_when_the_first_process_is_killed_everything_goes(fresh: EngineBackend, victim: Victim) -> None:
    """Killing the sandbox's own pid 1 from outside ends and removes it."""
    _, _, init = victim
    os.kill(init, signal.SIGKILL)
    assert within(1, lambda: not inventory(fresh.state_dir))


def test_a_dead_sandbox_is_told_as_lost(fresh: EngineBackend) -> None:
    """Commands, state and files of a sandbox whose first process died are sandbox errors; closing is still fine."""
    sandbox = fresh.open(SandboxRequest(name="dies"))
    try:
        os.kill(sandbox.init, signal.SIGKILL)
        assert within(2, lambda: not inventory(fresh.state_dir))
        for call in (lambda: sandbox.exec(Command(argv=("true",)), timeout=5), sandbox.state, sandbox.events, sandbox.describe):
            with pytest.raises(SandboxError, match=r"gone|answer"):
                call()
    finally:
        sandbox.close()


def test_reaping_spares_the_living(fresh: EngineBackend, engine: EngineBackend) -> None:
    """A session that reaps leaves other sessions' live sandboxes alone."""
    sandbox = fresh.open(SandboxRequest(name="lives"))
    try:
        assert EngineBackend(engine.cache, state_dir=fresh.state_dir).reap() == ()
        assert sandbox.exec(Command(argv=("docker", "ps")), timeout=30).exit_code == 0
    finally:
        sandbox.close()


def test_a_sandbox_that_can_not_be_made_leaves_nothing(fresh: EngineBackend) -> None:
    """A fault while making it is a sandbox error that says what failed, and nothing is left."""
    with pytest.raises(SandboxError, match=r"could not be made.*no/such/folder"):
        fresh.open(SandboxRequest(name="fails", read_only={Path("/no/such/folder"): "/opt/x"}))
    assert within(1, lambda: not inventory(fresh.state_dir))
    with pytest.raises(SandboxError, match="no prepared state"):
        fresh.open(SandboxRequest(name="fails", restore="never-saved"))
    assert inventory(fresh.state_dir) == frozenset()


def test_an_engine_that_does_not_answer_when_a_state_is_restored_is_the_sandboxs_fault(
    fresh: EngineBackend, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time-out of the engine while containers are started again is told as the sandbox's, and leaves nothing."""

    def silent(*_: object) -> None:
        raise requests.ReadTimeout("read timed out")

    monkeypatch.setattr(docker.APIClient, "start", silent)
    with pytest.raises(SandboxError, match="does not answer: read timed out"):
        fresh.open(SandboxRequest(name="silent", restore=kept))
    assert within(5, lambda: inventory(fresh.state_dir) == frozenset())


def test_eight_sandboxes_at_once(fresh: EngineBackend) -> None:
    """Eight sandboxes live side by side, each with its own engine, and all go."""
    with ThreadPoolExecutor(8) as pool:
        sandboxes = list(pool.map(lambda number: fresh.open(SandboxRequest(name=f"box{number}")), range(8)))
        try:
            ids = list(pool.map(lambda one: one.exec(Command(argv=("docker", "info", "-f", "{{.ID}}")), timeout=60).stdout, sandboxes))
        finally:
            list(pool.map(lambda one: one.close(), sandboxes))
    assert len(set(ids)) == 8
    assert within(1, lambda: not inventory(fresh.state_dir))
