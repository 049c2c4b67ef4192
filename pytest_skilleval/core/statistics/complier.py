"""As assigned, as loaded, and the effect of loading: a skill can't work in a run that does not load it.

Assignment is random by design, loading is not. "As assigned" is the headline. "As loaded" compares the runs that loaded with
the baseline and mixes the skill's effect with what made those runs load. The effect of loading takes assignment as an
instrument: the effect as assigned divided by how much assignment changes loading. It presumes that the skill works only by
being loaded; the line about it in the catalogue may work by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pytest_skilleval.core.statistics.bounded import cdf
from pytest_skilleval.core.statistics.paired import FEWEST_CASES, NO_PAIR, TOO_FEW
from pytest_skilleval.core.statistics.proportions import new_cases_interval
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval, PairedCounts, cluster_means, mean

WEAK = 0.1
_N = "n = families"


@dataclass(frozen=True, slots=True)
class Loads:
    """Outcomes of one case, with the runs that loaded the skill in each arm, and how many of those in arm 1 passed."""

    counts: PairedCounts
    loaded0: int
    loaded1: int
    passed_loaded1: int

    def __post_init__(self) -> None:
        counts = self.counts
        if not (0 <= self.loaded0 <= counts.n0 and 0 <= self.passed_loaded1 <= self.loaded1 <= counts.n1):
            raise ValueError(f"{counts.case}: more loaded runs than runs")
        if not counts.passed1 - (counts.n1 - self.loaded1) <= self.passed_loaded1 <= counts.passed1:
            raise ValueError(f"{counts.case}: passes of loaded runs don't fit the passes of all")


@dataclass(frozen=True, slots=True)
class LoadEffect:
    """The three effects, all about new cases, and ``first_stage``: by how much assignment changes the share of runs that load."""

    as_assigned: Estimate
    as_loaded: Estimate
    first_stage: Estimate
    of_loading: Estimate


def load_effect(cases: Sequence[Loads], level: float = LEVEL) -> LoadEffect:
    """All three effects of one contrast.

    Notes
    -----
    The interval of the effect of loading is BBB's for a ratio of means: with pseudo-cases that load always and have the effect
    -1 or +1, so it is BBB itself when every run loads. Limits stay within [-1, 1]. Simulated coverage (400 evaluations a
    cell, 6 to 20 cases, 1 and 3 repeats, mean load .3 to .9, also with effects that vary): minimum .923, mean .965. Below a first
    stage whose lower limit is .1 it is not given.

    References
    ----------
    Angrist, Imbens and Rubin 1996, Journal of the American Statistical Association 91:444.
    """
    pairs = [case for case in cases if case.counts.complete]
    families = [case.counts.family for case in pairs]
    changes = cluster_means(zip(families, [case.counts.difference for case in pairs], strict=True))
    uptakes = cluster_means(zip(families, [_uptake(case) for case in pairs], strict=True))
    among = [(case.counts.family, Fraction(case.passed_loaded1, case.loaded1) - case.counts.arm(0).share) for case in pairs if case.loaded1]
    least = -1 if any(case.loaded0 for case in pairs) else 0
    first = _estimate(uptakes, least, "change in the share of runs that load", level)
    return LoadEffect(
        _estimate(changes, -1, "as assigned", level),
        _estimate(cluster_means(among), -1, "as loaded (loading was not assigned)", level),
        first,
        _of_loading(changes, uptakes, first, level),
    )


def _uptake(case: Loads) -> Fraction:
    return Fraction(case.loaded1, case.counts.n1) - Fraction(case.loaded0, case.counts.n0)


def _estimate(values: list[Fraction], least: int, what: str, level: float) -> Estimate:
    interval = new_cases_interval(sorted(float(value) for value in values), least, 1, level)
    return Estimate(float(mean(values)) if values else None, interval, len(values), f"{what}; {_N}")


def _of_loading(changes: list[Fraction], uptakes: list[Fraction], first: Estimate, level: float) -> Estimate:
    method = f"effect of loading (assignment as instrument); {_N}"
    reason = _why_not(len(changes), first.interval)
    if reason:
        return Estimate(None, Interval.unknown(reason, "BBB of a ratio", level), len(changes), method)
    value = max(-1.0, min(1.0, float(mean(changes) / mean(uptakes))))
    tail = (1 - level) / 2
    low = -1.0 if changes == [-uptake for uptake in uptakes] else ratio_quantile(changes, uptakes, tail)
    high = 1.0 if changes == uptakes else ratio_quantile(changes, uptakes, 1 - tail)
    return Estimate(value, Interval(low, high, level, "BBB of a ratio"), len(changes), method)


def _why_not(size: int, first: Interval) -> str | None:
    if size == 0:
        return NO_PAIR
    if size < FEWEST_CASES:
        return TOO_FEW
    if first.low is None or first.low < WEAK:
        return f"assignment hardly changes loading (lower limit below {WEAK:g}): nothing to divide by"
    return None


def ratio_quantile(changes: Sequence[Fraction], uptakes: Sequence[Fraction], probability: float, reach: float = 1.0) -> float:
    """The t within `reach` of 0 with P(sum D change <= t sum D uptake) = probability; +-`reach` when it lies beyond."""
    from scipy.optimize import brentq

    change = np.array([*map(float, changes), -1.0, 1.0])
    uptake = np.array([*map(float, uptakes), 1.0, 1.0])
    weights = np.append(np.ones(len(changes)), [0.5, 0.5])

    def excess(t: float) -> float:
        return cdf(0.0, change - t * uptake, weights) - probability

    if excess(-reach) >= 0:
        return -reach
    return reach if excess(reach) <= 0 else float(brentq(excess, -reach, reach, xtol=1e-12))
