"""Shares of runs and pass rates of an arm."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.statistics.proportions import (
    clopper_pearson,
    effective_runs,
    newcombe,
    rate_new_cases,
    rate_these_cases,
    wilson,
)
from pytest_skilleval.core.statistics.values import PairedCounts, RunCounts


@pytest.mark.parametrize(
    ("good", "n", "expected"),
    [(7, 10, (0.396778, 0.892209)), (20, 24, (0.641469, 0.933213)), (24, 24, (0.862024, 1)), (0, 8, (0, 0.324408))],
)
def test_wilson_reference_values(good: int, n: int, expected: tuple[float, float]) -> None:
    """Wilson's limits equal the published worked examples."""
    assert wilson(good, n).limits == pytest.approx(expected, abs=1e-6)


def test_newcombe_reference_value() -> None:
    """Newcombe's limits of 21/24 against 12/24 equal the worked example."""
    assert newcombe(21, 24, 12, 24).limits == pytest.approx((0.112829, 0.577844), abs=1e-6)


def test_clopper_pearson_reference_value() -> None:
    """The exact interval of 7 of 10."""
    assert clopper_pearson(7, 10).limits == pytest.approx((0.347547, 0.933260), abs=1e-6)


def test_nothing_seen_is_not_nothing() -> None:
    """No violation in 24 runs still allows for .138."""
    assert wilson(0, 24).high == pytest.approx(0.138, abs=1e-3)


def test_no_runs_give_a_reason() -> None:
    """Without runs there is no limit, least of all 0."""
    for interval in (wilson(0, 0), clopper_pearson(0, 0), newcombe(0, 0, 1, 2), newcombe(1, 2, 0, 0)):
        assert interval.limits == (None, None)
        assert interval.reason
    assert rate_these_cases([]).value is None
    assert rate_new_cases([RunCounts("c", 0, 0)]).value is None


def test_effective_runs_of_balanced_and_unequal_repeats() -> None:
    """Balanced repeats count as they are; unequal ones count less than their sum."""
    assert effective_runs([RunCounts("a", 1, 3), RunCounts("b", 1, 3)]) == pytest.approx(6)
    assert effective_runs([RunCounts("a", 1, 1), RunCounts("b", 1, 3)]) == pytest.approx(3)


def test_rates_of_data_a(data_a: tuple[PairedCounts, ...]) -> None:
    """The rate with the skill: Wilson on 24 runs for these cases, BBB on 8 cases for new ones."""
    with_ = [case.arm(1) for case in data_a]
    assert rate_these_cases(with_).value == rate_new_cases(with_).value == pytest.approx(0.875)
    assert rate_these_cases(with_).interval.limits == wilson(21, 24).limits
    assert rate_new_cases(with_).interval.limits == pytest.approx((0.608772, 0.969059), abs=1e-6)


def test_cases_without_runs_do_not_count() -> None:
    """A case that lost all runs changes neither rate nor n."""
    counts = [RunCounts("a", 2, 2), RunCounts("b", 0, 2), RunCounts("c", 1, 2)]
    assert rate_new_cases([*counts, RunCounts("lost", 0, 0)]) == rate_new_cases(counts)
    assert rate_these_cases([*counts, RunCounts("lost", 0, 0)]) == rate_these_cases(counts)


def test_two_cases_say_nothing_about_new_ones() -> None:
    """One or two cases get a rate but no interval for new cases."""
    rate = rate_new_cases([RunCounts("a", 2, 2), RunCounts("b", 0, 2)])
    assert rate.value == 0.5
    assert rate.interval.reason
    assert rate.interval.limits == (None, None)
