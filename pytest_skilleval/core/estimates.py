"""How long a plan takes and what it costs, before it runs: an expectation to decide by, not a measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_skilleval.core.choosing import DEFAULT_MODEL, SCRIPTED
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.prices import Prices, shipped
from pytest_skilleval.core.transcript import Usage


@dataclass(frozen=True, slots=True)
class Pace:
    """What one turn of an agent is expected to take: seconds, US dollars; `sandbox`: seconds around the turns of a run.

    `usd` counts where the CLI chooses the model, else `TURN` at the model's price.
    """

    seconds: float
    usd: float
    sandbox: float = 3.0


ASSUMED: Mapping[str, Pace] = {
    "scripted": Pace(seconds=0.5, usd=0.0, sandbox=1.5),
    "claude-code": Pace(seconds=45.0, usd=0.15),
    "codex": Pace(seconds=45.0, usd=0.15),
}
"""Round figures to plan with, said to be assumed wherever they are shown; what a session really took is in its report."""

REHEARSED = Pace(seconds=1.5, usd=0.0, sandbox=1.5)
"""The same of a real agent whose model is the scripted one, which does not think."""


TURN = Usage(cache_read=120_000, cache_write_5m=8_000, output=1_500, known=True)
"""Tokens of a turn of a real agent, assumed like the rest: about eight model calls, each of which finds the ones before it in the cache."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of wall clock, and US dollars; None when no price is known for one of the models, `unpriced`."""

    seconds: float
    usd: float | None
    unpriced: tuple[str, ...] = ()


def estimate(
    rows: Iterable[Row],
    turns: Mapping[tuple[str, str], int],
    *,
    workers: int,
    prices: Prices | None = None,
    pace: Mapping[str, Pace] = ASSUMED,
) -> Estimate:
    """Time and money of `rows`, if every case takes all its turns.

    Parameters
    ----------
    turns
        Number of turns by (skill, case).
    workers
        Runs that go on at the same time.
    prices
        None: the shipped ones.
    """
    seconds = usd = 0.0
    unpriced: set[str] = set()
    for row in rows:
        expected = REHEARSED if row.model == SCRIPTED else pace[row.agent]
        count = turns[row.skill, row.case]
        money = _of_turn(row, expected, prices or shipped())
        seconds += expected.sandbox + count * expected.seconds
        usd += count * (money or 0.0)
        unpriced |= {row.model} if money is None else set()
    return Estimate(seconds=seconds / max(1, workers), usd=None if unpriced else usd, unpriced=tuple(sorted(unpriced)))


def _of_turn(row: Row, expected: Pace, prices: Prices) -> float | None:
    if expected.usd == 0:
        return 0.0
    return expected.usd if row.model == DEFAULT_MODEL else prices.cost(TURN, row.model).billed
