"""What goes in and comes out of the statistics."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import pytest

from pytest_skilleval.core.statistics.values import Estimate, Interval, PairedCounts, RunCounts, cluster_means


@pytest.mark.parametrize(("low", "high"), [(math.nan, 1.0), (0.0, math.inf), (0.6, 0.4), (None, 1.0), (0.0, None)])
def test_an_impossible_interval_is_refused(low: float | None, high: float | None) -> None:
    """No interval holds NaN, infinity, crossed limits or one limit alone."""
    with pytest.raises(ValueError, match="interval"):
        Interval(low, high, 0.95, "m")


def test_missing_limits_need_a_reason() -> None:
    """An interval that can't be estimated says why."""
    with pytest.raises(ValueError, match="reason"):
        Interval(None, None, 0.95, "m")
    unknown = Interval.unknown("no runs", "m")
    assert (unknown.low, unknown.high, unknown.reason) == (None, None, "no runs")


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_is_a_share(level: float) -> None:
    """A level of 95 instead of .95 is refused."""
    with pytest.raises(ValueError, match="level"):
        Interval(0.1, 0.2, level, "m")


def test_an_unknown_interval_excludes_nothing() -> None:
    """What can't be estimated proves nothing."""
    assert not Interval.unknown("no runs", "m").excludes(0)
    assert Interval(0.1, 0.2, 0.95, "m").excludes(0)
    assert not Interval(0.0, 0.2, 0.95, "m").excludes(0)


def test_an_estimate_is_finite() -> None:
    """No estimate holds NaN."""
    with pytest.raises(ValueError, match="finite"):
        Estimate(math.nan, Interval.unknown("x", "m"), 0, "share")


@pytest.mark.parametrize("counts", [(4, 3, 0, 3), (-1, 3, 0, 3), (0, 3, 1, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    """More passes than runs is a fault of the caller, named with the case."""
    with pytest.raises(ValueError, match="c1"):
        PairedCounts("c1", *counts)
    with pytest.raises(ValueError, match="undecided"):
        PairedCounts("c1", 1, 2, 1, 2, undecided1=-1)


def test_shares_and_differences_are_exact() -> None:
    """Differences of shares are fractions, so that equal ones are equal."""
    assert PairedCounts("c", 1, 3, 2, 3).difference == Fraction(1, 3)
    assert PairedCounts("c", 1, 3, 2, 4).arm(1) == RunCounts("c", 2, 4)


def test_an_unknown_interval_mirrors_to_itself() -> None:
    """Negating what can't be estimated leaves the reason."""
    unknown = Interval.unknown("no runs", "m")
    assert unknown.mirrored() == unknown
    assert Interval(0.1, 0.3, 0.95, "m").mirrored().limits == (-0.3, -0.1)


def test_a_family_counts_once() -> None:
    """Cases of one family become one value, cases without a family stay alone."""
    half, one, zero = Fraction(1, 2), Fraction(1), Fraction(0)
    assert cluster_means([("prune", one), (None, half), ("prune", zero), (None, half)]) == [half, half, half]


def test_the_values_load_no_heavy_library() -> None:
    """Whoever only handles results pays neither for numpy nor for scipy."""
    program = "import sys, pytest_skilleval.core.statistics.values; sys.exit(bool({'numpy', 'scipy', 'statsmodels'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
