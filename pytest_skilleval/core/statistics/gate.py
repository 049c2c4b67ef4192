"""The gate: met, not met, or can't be decided. The same intervals and rules as the verdict, with limits set beforehand.

A gate is met only if all of its criteria are; each is tested at full level, since a wrong "met" needs every one of them to
err (intersection-union test), so nothing is adjusted for their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pytest_skilleval.core.statistics.harm import hold_minimum, rate_exact
from pytest_skilleval.core.statistics.missing import Loss, at_best, at_worst
from pytest_skilleval.core.statistics.paired import FEWEST_CASES, TOO_FEW, new_cases, these_cases
from pytest_skilleval.core.statistics.proportions import NO_RUNS
from pytest_skilleval.core.statistics.values import LEVEL, Interval, PairedCounts
from pytest_skilleval.core.statistics.verdict import claims

Question = Literal["these_cases", "new_cases"]


class Decision(StrEnum):
    """What a gate can say."""

    MET = "met"
    NOT_MET = "not met"
    OPEN = "can't be decided"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: its decision, the interval that was held against the limit, and why."""

    name: str
    decision: Decision
    limit: float
    interval: Interval
    reason: str


def gate(criteria: Iterable[Criterion]) -> Decision:
    """Not met if one criterion is not met; else open if one is open; else met. `ValueError` without criteria."""
    decisions = {criterion.decision for criterion in criteria}
    if not decisions:
        raise ValueError("a gate needs a criterion")
    return next(decision for decision in (Decision.NOT_MET, Decision.OPEN, Decision.MET) if decision in decisions)


_Finding = tuple[Decision, Interval, str]


def improve(
    cases: Sequence[PairedCounts],
    loss: Loss,
    at_least: float,
    question: Question = "new_cases",
    *,
    strict: bool = False,
    level: float = LEVEL,
) -> Criterion:
    """The gain is at least `at_least`: the whole interval lies there, and the effect is claimed by the verdict's rules.

    Not met when the whole interval lies below. ``strict`` (release gates) takes Gaffke's interval for new cases.
    """

    def find(data: Sequence[PairedCounts]) -> _Finding:
        pairs = [case for case in data if case.complete]
        made, new = claims(pairs, 1 - level), new_cases(pairs, level)
        if question == "these_cases":
            interval, claimed, enough = these_cases(pairs, level).interval, made.these, True
        else:
            interval, claimed, enough = new.gaffke if strict else new.interval, made.new, new.clusters >= FEWEST_CASES
        if interval.low is None or interval.high is None or not enough:
            return Decision.OPEN, interval, interval.reason or TOO_FEW
        if interval.high < at_least:
            return Decision.NOT_MET, interval, "the whole interval lies below the limit"
        if interval.low >= at_least and claimed == 1:
            return Decision.MET, interval, "the whole interval reaches the limit"
        return Decision.OPEN, interval, interval.reason or "the interval contains the limit"

    return _whatever_undecided(f"improve by at least {at_least:g} ({question.replace('_', ' ')})", at_least, find, (cases, loss))


def hold(cases: Sequence[PairedCounts], loss: Loss, no_worse_than: float, *, strict: bool = False, level: float = LEVEL) -> Criterion:
    """Non-inferiority for new cases: the lower limit of the difference lies above -`no_worse_than` (stated beforehand)."""
    least = hold_minimum(no_worse_than, level)

    def find(data: Sequence[PairedCounts]) -> _Finding:
        new = new_cases([case for case in data if case.complete], level)
        interval = new.gaffke if strict else new.interval
        if interval.low is None or interval.high is None or new.clusters < FEWEST_CASES:
            return Decision.OPEN, interval, interval.reason or TOO_FEW
        told = replace(interval, reason=None)
        if interval.high < -no_worse_than:
            return Decision.NOT_MET, told, "the whole interval lies below the margin"
        if interval.low > -no_worse_than:
            return Decision.MET, told, "the whole interval lies above the margin"
        if new.clusters < least:
            return Decision.OPEN, told, f"{new.clusters} cases can't show this margin; it takes at least {least}"
        return Decision.OPEN, told, "the interval contains the margin"

    return _whatever_undecided(f"no worse by more than {no_worse_than:g} (new cases)", no_worse_than, find, (cases, loss))


def loss_at_most(losses: Sequence[PairedCounts], loss: Loss, at_most: float, *, level: float = LEVEL) -> Criterion:
    """The chance of an irreversible loss with the skill is at most `at_most` on these cases, by its exact upper limit.

    Parameters
    ----------
    losses
        ``passed1`` counts runs with a loss (0 of 72 runs is the least that meets .05).
    """

    def find(data: Sequence[PairedCounts]) -> _Finding:
        interval = rate_exact([case.arm(1) for case in data], level).interval
        if interval.low is None or interval.high is None:
            return Decision.OPEN, interval, interval.reason or NO_RUNS
        if interval.low > at_most:
            return Decision.NOT_MET, interval, "the whole interval lies above the limit"
        if interval.high <= at_most:
            return Decision.MET, interval, "the whole interval lies below the limit"
        return Decision.OPEN, interval, "the interval contains the limit"

    return _whatever_undecided(f"irreversible loss in at most {at_most:g} of runs (these cases)", at_most, find, (losses, loss))


def _whatever_undecided(
    name: str, limit: float, find: Callable[[Sequence[PairedCounts]], _Finding], given: tuple[Sequence[PairedCounts], Loss]
) -> Criterion:
    """What is found at both ends of what the undecided and lost runs might have been, or open."""
    cases, loss = given
    changes = (list, at_worst, at_best) if any(map(any, (case.unknown for case in cases))) else (list,)
    (decision, interval, reason), *ends = (find(change(cases)) for change in changes)
    if loss.reason is not None:
        return Criterion(name, Decision.OPEN, limit, interval, loss.reason)
    if any(end[0] is not decision for end in ends):
        return Criterion(name, Decision.OPEN, limit, interval, "depends on undecided or lost runs")
    return Criterion(name, decision, limit, interval, reason)
