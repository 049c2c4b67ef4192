"""From the statistics' values to the report's: every number keeps its limits, method, n and unit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from pytest_skilleval.core.statistics import paired as statistics
from pytest_skilleval.core.statistics.paired import PairedEffect
from pytest_skilleval.core.statistics.proportions import new_cases_interval
from pytest_skilleval.core.statistics.values import Estimate, Interval, mean
from pytest_skilleval.report.values import BootstrapLimits, Figure, Limits, NewCases, TheseCases


def limit_fields(interval: Interval, n: float, unit: str) -> dict[str, Any]:
    """What every value of the report with limits holds: an interval, and the number of units behind it."""
    return {
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
        "n": n,
        "unit": unit,
        "reason": interval.reason,
    }


def limits(interval: Interval, n: float, unit: str) -> Limits:
    """An interval with the number of units behind it."""
    return Limits(**limit_fields(interval, n, unit))


def figure(value: float | None, interval: Interval, n: float, unit: str) -> Figure:
    """A number with its interval."""
    return Figure(value=value, **limit_fields(interval, n, unit))


def of_estimate(estimate: Estimate, unit: str) -> Figure:
    """An estimate as a figure."""
    return figure(estimate.value, estimate.interval, estimate.n, unit)


def of_clusters(clusters: Sequence[Fraction], low: float, high: float) -> Figure:
    """The mean over families for new cases, where each lies between `low` and `high`; null without any."""
    interval = new_cases_interval(sorted(map(float, clusters)), low, high)
    return figure(float(mean(clusters)) if clusters else None, interval, len(clusters), "families")


def these_cases(effect: PairedEffect) -> TheseCases:
    """The figures about exactly these cases."""
    found = effect.these_cases
    return TheseCases(
        **limit_fields(found.interval, effect.runs0 + effect.runs1, "runs"), p=found.p, p_method="exact permutation within cases"
    )


def new_cases(found: statistics.NewCases) -> NewCases:
    """The figures about new cases."""
    return NewCases(
        **limit_fields(found.interval, found.clusters, "families"),
        difference=None if found.difference is None else float(found.difference),
        moved=found.moved,
        sign_flip_p=found.sign_flip_p,
        gaffke=limits(found.gaffke, found.clusters, "families"),
    )


def bootstrap(effect: PairedEffect) -> BootstrapLimits:
    """The secondary figure."""
    found = effect.bootstrap
    return BootstrapLimits(**limit_fields(found.interval, effect.cases, "cases"), resamples=found.resamples, random_seed=found.random_seed)
