"""Harm: being no worse where no gain is expected, and the chance of an irreversible loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_skilleval.core.statistics.bootstrap import RESAMPLES
from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.complier import WEAK, ratio_quantile
from pytest_skilleval.core.statistics.paired import FEWEST_CASES, NO_PAIR, TOO_FEW, PairedEffect, paired_effect
from pytest_skilleval.core.statistics.proportions import NO_RUNS, clopper_pearson, effective_runs, new_cases_interval
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval, PairedCounts, RunCounts, cluster_means, mean

FARTHEST = 20.0
"""Limits of losses averted per question beyond this are not told: the questions are too few to divide by."""


def hold_minimum(margin: float, level: float = LEVEL) -> int:
    """Fewest cases that can show "no worse by more than `margin`", even if not one case moves (8 for .24, 21 for .1).

    `ValueError` for a margin outside (0, 1).
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin lies between 0 and 1, not {margin}")
    high = FEWEST_CASES
    while not _holds(high, margin, level):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(middle, margin, level) else (middle, high)
    return max(high, FEWEST_CASES)


def rate_exact(counts: Sequence[RunCounts], level: float = LEVEL) -> Estimate:
    """Rate on exactly these cases with Clopper-Pearson limits on the effective number of runs.

    For rare and grave things: 0 of n runs has the upper limit 1 - (alpha / 2)^(1/n), .14 at 24 runs; "none seen" is not "none".
    """
    counted = [case for case in counts if case.n]
    if not counted:
        return Estimate(None, Interval.unknown(NO_RUNS, "Clopper-Pearson", level), 0, "mean of case shares; n = effective runs")
    value, runs = float(mean([case.share for case in counted])), effective_runs(counted)
    return Estimate(value, clopper_pearson(value * runs, runs, level), runs, "mean of case shares; n = effective runs")


@dataclass(frozen=True, slots=True)
class LossEffect:
    """Chance of an irreversible loss without and with the skill, and the paired difference (below 0 is better)."""

    without: Estimate
    with_: Estimate
    difference: PairedEffect


def irreversible_loss(losses: Sequence[PairedCounts], *, random_seed: int, resamples: int = RESAMPLES, level: float = LEVEL) -> LossEffect:
    """The second primary outcome: per case, runs with an irreversible loss of all runs, in both arms.

    Parameters
    ----------
    losses
        ``passed0`` and ``passed1`` count runs *with* a loss; its p joins Holm beside that of the pass rate.
    """
    return LossEffect(
        rate_exact([case.arm(0) for case in losses], level),
        rate_exact([case.arm(1) for case in losses], level),
        paired_effect(losses, random_seed=random_seed, resamples=resamples, level=level),
    )


def averted_per_question(losses: Sequence[PairedCounts], asked: Sequence[PairedCounts], level: float = LEVEL) -> Estimate:
    """Runs with an irreversible loss averted per run in which arm 1 asked first and arm 0 did not, for new cases.

    Parameters
    ----------
    losses, asked
        Per case, in the same order: runs with a loss, and runs that asked first, of all runs.

    Notes
    -----
    A ratio of two means over families: (losses without - losses with) / (asked with - asked without), with the interval of
    a BBB of a ratio (see :mod:`~pytest_skilleval.core.statistics.complier`). Not given unless arm 1 surely asks more often:
    the lower limit of the extra questions must reach .1. What it divides is no cause: a skill may avert losses without asking.
    """
    both = [pair for pair in zip(losses, asked, strict=True) if pair[0].complete and pair[1].complete]
    averted = cluster_means((loss.family, -loss.difference) for loss, _ in both)
    questions = cluster_means((ask.family, ask.difference) for _, ask in both)
    reason = _why_no_ratio(questions, level)
    if reason:
        return Estimate(None, Interval.unknown(reason, "BBB of a ratio", level), len(averted), _AVERTED)
    tail = (1 - level) / 2
    low, high = (ratio_quantile(averted, questions, chance, FARTHEST) for chance in (tail, 1 - tail))
    if max(-low, high) >= FARTHEST:
        interval = Interval.unknown("too few extra questions to divide by", "BBB of a ratio", level)
    else:
        interval = Interval(low, high, level, "BBB of a ratio")
    return Estimate(float(mean(averted) / mean(questions)), interval, len(averted), _AVERTED)


_AVERTED = "losses averted per extra question; n = families"


def _why_no_ratio(questions: list[Fraction], level: float) -> str | None:
    if len(questions) < FEWEST_CASES:
        return TOO_FEW if questions else NO_PAIR
    least = new_cases_interval(sorted(map(float, questions)), -1, 1, level).low
    if least is None or least < WEAK:
        return f"not clearly more questions (lower limit below {WEAK:g}): nothing to divide by"
    return None


def _holds(cases: int, margin: float, level: float) -> bool:
    low = bbb([0.0] * cases, level=level).low
    return low is not None and low > -margin
