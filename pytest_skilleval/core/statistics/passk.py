"""pass^k: reliability over repeats. Two figures under two names, never mixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from pytest_skilleval.core.statistics.proportions import new_cases_interval, wilson
from pytest_skilleval.core.statistics.values import LEVEL, Interval, RunCounts, cluster_means, mean


@dataclass(frozen=True, slots=True)
class PassK:
    """A share of cases with its k, the fewest and most runs per case (n), and how many cases, and families, entered of how many given."""

    name: str
    k: int | None
    fewest_runs: int
    most_runs: int
    cases: int
    given: int
    families: int
    value: float | None
    interval: Interval


def every_repeat(name: str, counts: Sequence[RunCounts], level: float = LEVEL) -> PassK:
    """Share of cases that were good in every repeat they had: "pass^k" itself, where good means no must-not violation.

    Depends on the number of repeats: compare only between equal ones (``k`` is None when cases have unequal numbers).
    """
    entered = [case for case in counts if case.n]
    runs = [case.n for case in entered]
    k = runs[0] if len(set(runs)) == 1 else None
    return _result((name, k), counts, entered, [Fraction(case.good == case.n) for case in entered], level)


def k_in_a_row(name: str, counts: Sequence[RunCounts], k: int, level: float = LEVEL) -> PassK:
    """Unbiased chance that k fresh runs of a case are all good: the mean of C(c, k) / C(n, k) over cases with n >= k.

    References
    ----------
    Yao et al. 2024, arXiv 2406.12045.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    entered = [case for case in counts if case.n >= k]
    shares = [_chance(case.good, case.n, k) for case in entered]
    return _result((name, k), counts, entered, shares, level)


@lru_cache(maxsize=1024)
def _chance(good: int, n: int, k: int) -> Fraction:
    return Fraction(math.comb(good, k), math.comb(n, k))


def _result(
    named: tuple[str, int | None], given: Sequence[RunCounts], entered: Sequence[RunCounts], shares: list[Fraction], level: float
) -> PassK:
    name, k = named
    runs = [case.n for case in entered] or [0]
    clusters = cluster_means(zip((case.family for case in entered), shares, strict=True))
    interval = _interval(clusters, k is None or max(runs) == k, level)
    value = float(mean(shares)) if shares else None
    return PassK(name, k, min(runs), max(runs), len(entered), len(given), len(clusters), value, interval)


def _interval(clusters: list[Fraction], all_or_nothing: bool, level: float) -> Interval:
    """About cases of this kind: Wilson over cases that are each 0 or 1, else BBB on [0, 1]."""
    if all_or_nothing and len(clusters) > 2 and set(clusters) <= {0, 1}:
        return wilson(int(sum(clusters)), len(clusters), level)
    return new_cases_interval(sorted(float(share) for share in clusters), 0, 1, level)
