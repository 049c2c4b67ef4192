"""Cases against repeats: what evaluations of several sizes would show of a wanted effect, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_skilleval.core.statistics.planning import Bill, Outlook, Price, Spread, bill, cases_needed, outlook, width_here

CASES = (8, 12, 16, 20, 25, 30, 40)
REPEATS = (1, 3, 5, 10)
ROUGH = 1000
"""Simulated evaluations for each size of the table: its chances are good to about two points."""


@dataclass(frozen=True, slots=True)
class Need:
    """Cases needed to show the effect for new cases in four of five evaluations, at a number of repeats."""

    repeats: int
    cases: int
    bill: Bill


@dataclass(frozen=True, slots=True)
class Sizing:
    """All that is known about sizes before an evaluation runs.

    ``present`` is the size of the spec as it stands, ``width_here`` the width to expect of its interval for these cases;
    ``table`` holds every size of `cases` x `repeats`, ``needs`` one entry per number of repeats.
    """

    spread: Spread
    present: Outlook
    width_here: float | None
    needs: tuple[Need, ...]
    table: tuple[Outlook, ...]

    def at(self, cases: int, repeats: int) -> Outlook:
        """One size of the table; `KeyError` when it isn't there."""
        return {(one.cases, one.repeats): one for one in self.table}[cases, repeats]


def sizing(
    spread: Spread,
    effect: float,
    *,
    cases: int,
    repeats: int,
    arms: int,
    price: Price | None = None,
    sizes: tuple[Sequence[int], Sequence[int]] = (CASES, REPEATS),
) -> Sizing:
    """Look at the present size and at `sizes` (numbers of cases, numbers of repeats).

    Parameters
    ----------
    cases
        Families of cases: what counts as one for new cases.
    arms
        Runs of one repeat of one case: arms times agents.
    """
    some_cases, some_repeats = sizes
    needed = [(many, cases_needed(spread, effect, many)) for many in some_repeats]
    return Sizing(
        spread,
        outlook(spread, effect, cases=cases, repeats=repeats, arms=arms, price=price),
        width_here(spread, effect, cases, repeats),
        tuple(Need(many, need, bill(need * many * arms, price)) for many, need in needed),
        tuple(
            outlook(spread, effect, cases=few, repeats=many, arms=arms, price=price, datasets=ROUGH)
            for few in some_cases
            for many in some_repeats
        ),
    )
