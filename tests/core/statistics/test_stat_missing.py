"""Lost and undecided runs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy.stats import fisher_exact

from pytest_skilleval.core.statistics.missing import at_best, at_worst, bounds, loss
from pytest_skilleval.core.statistics.values import PairedCounts


@pytest.mark.parametrize(
    ("lost", "too_many"),
    [
        ((0, 24, 0, 24), False),
        ((2, 24, 2, 24), False),
        ((3, 24, 0, 24), True),
        ((0, 100, 7, 100), True),
        ((0, 0, 0, 24), False),
        ((0, 0, 0, 0), False),
    ],
)
def test_when_too_many_runs_are_lost(lost: tuple[int, int, int, int], too_many: bool) -> None:
    """Over 10 % of an arm, or unequal loss between arms, forbids a verdict and says why."""
    result = loss(*lost)
    assert result.too_many is too_many
    assert bool(result.reason) is too_many
    assert result.lost0 == lost[0]


def test_the_loss_test_is_fishers() -> None:
    """The p between arms is Fisher's exact one."""
    assert loss(1, 30, 6, 30).fisher_p == pytest.approx(fisher_exact([[1, 29], [6, 24]]).pvalue)


def test_more_lost_than_planned_is_refused() -> None:
    """Impossible counts are the caller's fault."""
    with pytest.raises(ValueError, match="planned"):
        loss(3, 2, 0, 2)


def test_runs_without_a_verdict_widen_the_range_both_ways() -> None:
    """At worst undecided and lost runs fail with and pass without the skill; at best the reverse."""
    cases = [PairedCounts("a", 1, 2, 2, 2, undecided0=1), PairedCounts("b", 0, 3, 2, 2, undecided1=1, lost1=1)]
    found = bounds(cases)
    assert found.low == (Fraction(1, 3) + Fraction(1, 2)) / 2
    assert found.high == (Fraction(2, 3) + 1) / 2


def test_nothing_undecided_leaves_one_point() -> None:
    """Without undecided runs both ends are the difference itself."""
    found = bounds([PairedCounts("a", 1, 3, 2, 3)])
    assert found.low == found.high == Fraction(1, 3)


def test_a_case_with_undecided_runs_only_enters_the_range() -> None:
    """Bounds cover a case that has no verdict at all in one arm."""
    case = PairedCounts("a", 1, 2, 0, 0, undecided1=2)
    assert [c.difference for c in at_worst([case])] == [Fraction(-1, 2)]
    assert [c.difference for c in at_best([case])] == [Fraction(1, 2)]
