"""A guard is trusted only when each of its commands was tried and denied; and nothing of a dry turn is left behind."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_skilleval.core.errors import ArmError, HarnessError
from pytest_skilleval.core.transcript import ShellCommand
from pytest_skilleval.running import Cancellation
from pytest_skilleval.running.dry_turn import check_guard, dry_turn

TRIES = ("docker rm -f --help", "docker kill --help")


def command(line: str, *, denied: bool) -> ShellCommand:
    """One command that an agent tried."""
    return ShellCommand(line=line, executed=not denied, denied=denied)


def test_a_guard_that_denies_all_holds() -> None:
    """Nothing is raised; without a guard there is nothing to deny."""
    check_guard([command(line, denied=True) for line in TRIES], TRIES)
    check_guard([], ())


@pytest.mark.parametrize("seen", [(), (command("docker kill --help", denied=False),)])
def test_what_ran_or_was_not_tried_is_named(seen: tuple[ShellCommand, ...]) -> None:
    """A command that ran is no guard, and neither is one that nobody saw denied."""
    with pytest.raises(ArmError, match=r"the guard does not hold: docker kill$"):
        check_guard([command("docker rm -f --help", denied=True), *seen], TRIES)


def test_a_gateway_that_is_gone_leaves_no_sandbox(tmp_path: Path) -> None:
    """The sandbox is closed also where the gateway can't be told that the turn is over."""
    closed: list[str] = []
    sandbox = SimpleNamespace(close=lambda: closed.append("sandbox"))
    job: Any = SimpleNamespace(
        row=SimpleNamespace(run_id="case.with.codex.default.r1", arm="with"),
        loaded=SimpleNamespace(guards={}),
        case=SimpleNamespace(sandbox=SimpleNamespace(disk=None, hosts=())),
        archive=SimpleNamespace(folder=tmp_path),
        agent=SimpleNamespace(simulated=False, host_program=dict),
        backend=SimpleNamespace(open=lambda _: sandbox),
        cancellation=Cancellation(),
        gateway=str(tmp_path / "gone"),
    )
    with pytest.raises(HarnessError, match="the gateway does not answer"):
        dry_turn(job)
    assert closed == ["sandbox"]
