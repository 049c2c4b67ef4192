"""Runs without a verdict: lost and undecided ones. Neither is a pass or a fail; both bound the effect at worst and at best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_skilleval.core.statistics.values import PairedCounts, mean

MOST_LOST = Fraction(1, 10)
UNEQUAL_LOSS = 0.05


@dataclass(frozen=True, slots=True)
class Loss:
    """Runs lost to errors (not failures of the agent) in arms 0 and 1, of those planned."""

    lost0: int
    planned0: int
    lost1: int
    planned1: int
    fisher_p: float
    reason: str | None

    @property
    def too_many(self) -> bool:
        """Whether no verdict may be given."""
        return self.reason is not None


def loss(lost0: int, planned0: int, lost1: int, planned1: int) -> Loss:
    """Whether so many runs are lost that what is left may be no fair picture.

    Too many: over 10 % in either arm, or a difference between arms with Fisher's p <= .05 (loss that depends on the arm
    can fake an effect). Where nothing was planned nothing is lost. `ValueError` when more are lost than planned.
    """
    if not (0 <= lost0 <= planned0 and 0 <= lost1 <= planned1):
        raise ValueError("more runs lost than planned")
    p = _fisher(lost0, planned0, lost1, planned1)
    return Loss(lost0, planned0, lost1, planned1, p, _loss_reason(lost0, planned0, lost1, planned1, p))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range a mean difference may have had, equal ends when every run has a verdict; no confidence interval."""

    low: Fraction | None
    high: Fraction | None
    reason: str | None = None


def at_worst(cases: Iterable[PairedCounts]) -> list[PairedCounts]:
    """Undecided and lost runs counted against the effect: fails with, passes without."""
    return [_decided(case, case.unknown[0], 0) for case in cases]


def at_best(cases: Iterable[PairedCounts]) -> list[PairedCounts]:
    """Undecided and lost runs counted for the effect: passes with, fails without."""
    return [_decided(case, 0, case.unknown[1]) for case in cases]


def bounds(cases: Sequence[PairedCounts]) -> Bounds:
    """Range of the mean difference over all verdicts that the undecided and lost runs could have had.

    References
    ----------
    Manski 2003, Partial Identification of Probability Distributions.
    """
    low, high = (_mean_difference(bound) for bound in (at_worst(cases), at_best(cases)))
    return Bounds(low, high, None if low is not None else "no case has runs in both arms")


def _decided(case: PairedCounts, passes0: int, passes1: int) -> PairedCounts:
    return PairedCounts(
        case.case,
        case.passed0 + passes0,
        case.n0 + case.unknown[0],
        case.passed1 + passes1,
        case.n1 + case.unknown[1],
        case.family,
    )


def _mean_difference(cases: Iterable[PairedCounts]) -> Fraction | None:
    differences = [case.difference for case in cases if case.complete]
    return mean(differences) if differences else None


def _fisher(lost0: int, planned0: int, lost1: int, planned1: int) -> float:
    from scipy.stats import fisher_exact

    return float(fisher_exact([[lost0, planned0 - lost0], [lost1, planned1 - lost1]]).pvalue)


def _loss_reason(lost0: int, planned0: int, lost1: int, planned1: int, p: float) -> str | None:
    if lost0 > MOST_LOST * planned0 or lost1 > MOST_LOST * planned1:
        return f"over {float(MOST_LOST):.0%} of runs lost: {lost0} of {planned0} without, {lost1} of {planned1} with"
    if p <= UNEQUAL_LOSS:
        return f"arms lost unequally many runs (Fisher p = {p:.3f}): {lost0} of {planned0} without, {lost1} of {planned1} with"
    return None
