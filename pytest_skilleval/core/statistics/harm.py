"""Harm: being no worse where no gain is expected, and the chance of an irreversible loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_skilleval.core.statistics.bootstrap import RESAMPLES
from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.paired import FEWEST_CASES, PairedEffect, paired_effect
from pytest_skilleval.core.statistics.proportions import NO_RUNS, clopper_pearson, effective_runs, rate_new_cases
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval, PairedCounts, RunCounts, mean


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
    with_new_cases: Estimate
    difference: PairedEffect

    def to_json(self) -> dict[str, Any]:
        """As the report writes it."""
        return {
            "without": self.without.to_json(),
            "with": self.with_.to_json(),
            "with_new_cases": self.with_new_cases.to_json(),
            "difference": self.difference.to_json(),
        }


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
        rate_new_cases([case.arm(1) for case in losses], level),
        paired_effect(losses, random_seed=random_seed, resamples=resamples, level=level),
    )


def _holds(cases: int, margin: float, level: float) -> bool:
    low = bbb([0.0] * cases, level=level).low
    return low is not None and low > -margin
