"""What may be said of each comparison: the fixed rules of the statistics, applied to the primary ones together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.planning import Price
from pytest_skilleval.core.statistics.verdict import ALPHA, Contrast, PValues, Verdict, verdicts
from pytest_skilleval.report.comparisons import Comparison

SIMULATED = "simulated results say nothing about the skill"
PARTIAL = "rows of the plan were left out (partial session)"
EXPLORATORY = "exploratory: described, not tested"
NULL = "null contrast (calibration), never a gate: both arms are declared alike"
CHANGED = "the spec is not the one that was locked before the first run"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one comparison, or why there is none."""

    found: Verdict | None
    why_none: str = ""


def judge(compared: Sequence[Comparison], *, silence: str | None, beside: Sequence[PValues] = (), alpha: float = ALPHA) -> list[Judgement]:
    """One judgement per comparison, in order, at the level that the session's last look has.

    The primary ones are judged together, corrected for their number and for that of the other primary outcomes, `beside`.
    `silence` says why nothing may be claimed at all; None: something may.
    """
    if silence:
        return [_untested(one, silence) for one in compared]
    primary = [one for one in compared if one.primary]
    price = price_of([run for one in primary for case in one.cases for run in (*case.before, *case.after)])
    judged = iter(verdicts([Contrast(name(one), one.counts, one.loss) for one in primary], alpha=alpha, price=price, beside=beside))
    return [Judgement(next(judged)) if one.primary else _untested(one, EXPLORATORY) for one in compared]


def _untested(one: Comparison, why: str) -> Judgement:
    return Judgement(None, NULL if one.subject.null else why)


def why_silent(*, simulated: bool, partial: bool, unwanted_engines: Sequence[str]) -> str | None:
    """Why these results can show nothing about the skill; None: they can."""
    if simulated:
        return SIMULATED
    if unwanted_engines:
        return f"the spec wants another Docker Engine than {', '.join(unwanted_engines)}"
    return PARTIAL if partial else None


def name(one: Comparison) -> str:
    """A comparison's name, unique within a report."""
    subject = one.subject
    return f"{subject.pair[0]} -> {subject.pair[1]}, {subject.kind}, {subject.expects}, {subject.group.agent}, {subject.group.model}"


def price_of(runs: Sequence[MeasuredRun]) -> Price:
    """What one run cost on average, in money and seconds, where it is known."""
    money = [run.cost_usd for run in runs if run.cost_usd is not None]
    seconds = [run.record.seconds for run in runs if run.record and run.record.seconds > 0]
    return Price(_mean(money), _mean(seconds))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
