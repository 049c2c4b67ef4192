"""How long a plan takes and what it costs, before it runs: an expectation to decide by, not a measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_skilleval.core.plan import Row


@dataclass(frozen=True, slots=True)
class Pace:
    """What one turn of an agent is expected to take: seconds, US dollars; `sandbox`: seconds around the turns of a run."""

    seconds: float
    usd: float
    sandbox: float = 3.0


ASSUMED: Mapping[str, Pace] = {
    "scripted": Pace(seconds=0.5, usd=0.0, sandbox=1.5),
    "claude-code": Pace(seconds=45.0, usd=0.15),
    "codex": Pace(seconds=45.0, usd=0.15),
}
"""Round figures to plan with, said to be assumed wherever they are shown; what a session really took is in its report."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of wall clock, and US dollars."""

    seconds: float
    usd: float


def estimate(rows: Iterable[Row], turns: Mapping[tuple[str, str], int], *, workers: int, pace: Mapping[str, Pace] = ASSUMED) -> Estimate:
    """Time and money of `rows`, if every case takes all its turns.

    Parameters
    ----------
    turns
        Number of turns by (skill, case).
    workers
        Runs that go on at the same time.
    """
    seconds = usd = 0.0
    for row in rows:
        expected = pace[row.agent]
        count = turns[row.skill, row.case]
        seconds += expected.sandbox + count * expected.seconds
        usd += count * expected.usd
    return Estimate(seconds=seconds / max(1, workers), usd=usd)
