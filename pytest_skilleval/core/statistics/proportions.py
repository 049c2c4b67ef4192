"""Shares of runs, and the pass rate of an arm over cases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval, RunCounts, cluster_means, mean

NO_RUNS = "no run with a verdict"
ONE_OR_TWO_CASES = "one or two kinds of case say nothing about new cases"


def wilson(good: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson score interval for a share; `good` and `n` may be effective (fractional) numbers of runs.

    References
    ----------
    Brown, Cai and DasGupta 2001, Statistical Science 16:101.
    """
    return _proportion(good, n, level, "wilson", "Wilson")


def clopper_pearson(good: float, n: float, level: float = LEVEL) -> Interval:
    """Exact (tail-inverting) interval for a share: covers at least `level` always."""
    return _proportion(good, n, level, "beta", "Clopper-Pearson")


def newcombe(good1: float, n1: float, good0: float, n0: float, level: float = LEVEL) -> Interval:
    """Newcombe's hybrid score interval for the difference share 1 - share 0 of independent samples.

    Notes
    -----
    With effective numbers of runs it covers the mean difference of a fixed set of cases: simulated minimum .92, mean .98.

    References
    ----------
    Newcombe 1998, Statistics in Medicine 17:873.
    """
    if n1 <= 0 or n0 <= 0:
        return Interval.unknown(NO_RUNS, "Newcombe", level)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(good1, n1, good0, n0, method="newcomb", compare="diff", alpha=1 - level)
    return Interval(max(-1.0, float(low)), min(1.0, float(high)), level, "Newcombe")


def effective_runs(counts: Sequence[RunCounts]) -> float:
    """K squared over the sum of 1/n: the number of runs that gives the unweighted mean of case shares its variance.

    Equals the number of runs when all cases have the same number.
    """
    return len(counts) ** 2 / sum(1 / case.n for case in counts)


def rate_these_cases(counts: Sequence[RunCounts], level: float = LEVEL) -> Estimate:
    """Pass rate on exactly these cases: unweighted mean of case shares, Wilson on the effective number of runs.

    Notes
    -----
    Conservative: the variance of a sum of unequal Bernoullis is largest when all are equal. It says nothing about new
    cases (there it covers as little as .63 at 8 cases of 10 runs).
    """
    counted = [case for case in counts if case.n]
    if not counted:
        return Estimate(None, Interval.unknown(NO_RUNS, "Wilson", level), 0, "mean of case shares; n = effective runs")
    value, runs = float(mean([case.share for case in counted])), effective_runs(counted)
    return Estimate(value, wilson(value * runs, runs, level), runs, "mean of case shares; n = effective runs")


def rate_new_cases(counts: Sequence[RunCounts], level: float = LEVEL) -> Estimate:
    """Pass rate on cases of this kind: mean over families of cases, BBB interval on [0, 1]."""
    shares = cluster_means((case.family, case.share) for case in counts if case.n)
    value = float(mean(shares)) if shares else None
    return Estimate(
        value, new_cases_interval([float(share) for share in shares], 0, 1, level), len(shares), "mean of families; n = families"
    )


def new_cases_interval(values: Sequence[float], lower: float, upper: float, level: float = LEVEL) -> Interval:
    """BBB interval of the mean of one value per case, or why there is none (below 3 cases)."""
    if len(values) < 3:
        return Interval.unknown(ONE_OR_TWO_CASES if values else NO_RUNS, "BBB", level)
    return bbb(values, lower, upper, level)


# Many arms, models and figures of one report have the same counts.
@lru_cache(maxsize=4096)
def _proportion(good: float, n: float, level: float, method: str, name: str) -> Interval:
    if n <= 0:
        return Interval.unknown(NO_RUNS, name, level)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(good, n, alpha=1 - level, method=method)
    return Interval(max(0.0, float(low)), min(1.0, float(high)), level, name)
