"""Run 0 takes its dry turns at the same time, as many as the machine or the session can, and tells of them in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.plan import Row
from pytest_skilleval.running import Cancellation, dry_turn
from pytest_skilleval.running.dry_turn import DryTurn, NotAsDeclared
from pytest_skilleval.session import run_zero

ARMS, AGENTS = ("bare", "with", "without"), ("claude-code", "codex")


def rows() -> list[Row]:
    """Six set-ups, in the order of run 0."""
    more = {"index": 0, "skill": "s", "case": "c", "kind": "outcome", "model": "default", "repeat": 1, "block": 0}
    return [Row(run_id=f"c.{arm}.{agent}.default.r1", arm=arm, agent=agent, **more) for agent in AGENTS for arm in ARMS]


def taken(
    monkeypatch: pytest.MonkeyPatch,
    turn: Callable[[Row, bool], DryTurn],
    *,
    workers: int,
    cpus: int = 1,
    cancellation: Cancellation | None = None,
) -> tuple[list[DryTurn], list[str]]:
    """What run 0 finds where a dry turn does this."""
    monkeypatch.setattr("os.cpu_count", lambda: cpus)
    monkeypatch.setattr(dry_turn, "dry_turn", lambda job, *, resumed: turn(job, resumed))
    monkeypatch.setattr(run_zero, "_job", lambda _, row: row)
    evaluation: Any = SimpleNamespace(workers=workers, cancellation=cancellation or Cancellation())
    return run_zero._take(evaluation, rows())


@pytest.mark.parametrize(("workers", "cpus", "at_once"), [(1, 1, 1), (3, 1, 3), (1, 2, 2), (50, 1, 6)])
def test_as_many_at_once_as_workers_or_processors(monkeypatch: pytest.MonkeyPatch, workers: int, cpus: int, at_once: int) -> None:
    """So many go on together and never more; what each found stands in the order of the set-ups; each agent goes on with a session once."""
    together, running, most, resumed = threading.Barrier(at_once, timeout=10), 0, 0, []
    lock = threading.Lock()

    def turn(row: Row, again: bool) -> DryTurn:
        nonlocal running, most
        with lock:
            running, most = running + 1, max(most, running + 1)
            resumed.extend([row] if again else [])
        together.wait()
        with lock:
            running -= 1
        return DryTurn(warnings=(f"{row.agent} {row.arm}",))

    found, problems = taken(monkeypatch, turn, workers=workers, cpus=cpus)
    assert [one.warnings for one in found] == [(f"{row.agent} {row.arm}",) for row in rows()]
    assert (problems, most) == ([], at_once)
    assert sorted((row.agent, row.arm) for row in resumed) == [(agent, ARMS[0]) for agent in AGENTS]


def test_every_problem_is_told_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """One set-up that can't be measured does not hide another."""

    def turn(row: Row, _: bool) -> DryTurn:
        if row.arm == "with":
            raise NotAsDeclared("shows more")
        if row.arm == "without" and row.agent == "codex":
            raise SandboxError("lost")
        return DryTurn()

    found, problems = taken(monkeypatch, turn, workers=2)
    assert len(found) == 3
    assert problems == [
        "  s: arm with, claude-code, shows more",
        "  s: arm with, codex, shows more",
        "  s: arm without, codex, lost",
    ]


def test_a_session_that_is_stopped_begins_no_further_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn that saw the stop ends as stopped, and those that wait are not begun."""
    begun: list[Row] = []
    cancellation = Cancellation()

    def turn(row: Row, _: bool) -> DryTurn:
        begun.append(row)
        cancellation.cancel()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        taken(monkeypatch, turn, workers=1, cancellation=cancellation)
    assert len(begun) == 1
