"""pass^k under its two names."""

from __future__ import annotations

from itertools import combinations

import pytest

from pytest_skilleval.core.statistics.passk import every_repeat, k_in_a_row
from pytest_skilleval.core.statistics.proportions import wilson
from pytest_skilleval.core.statistics.values import RunCounts

COUNTS = [RunCounts(str(i), good, 5) for i, good in enumerate([5, 4, 3, 0, 5, 2])]


@pytest.mark.parametrize(("k", "value"), [(1, 0.633333), (2, 0.5), (3, 0.416667), (5, 0.333333)])
def test_unbiased_reference_values(k: int, value: float) -> None:
    """C(c, k) / C(n, k) averaged equals the worked examples."""
    result = k_in_a_row("passes", COUNTS, k)
    assert result.value == pytest.approx(value, abs=1e-6)
    assert (result.k, result.cases, result.given, result.fewest_runs) == (k, 6, 6, 5)


def test_unbiased_estimate_is_the_share_of_all_good_subsets() -> None:
    """It equals enumerating every choice of k runs."""
    subsets = [all(chosen) for chosen in combinations([1, 1, 1, 0, 1], 3)]
    assert k_in_a_row("passes", [RunCounts("a", 4, 5)], 3).value == sum(subsets) / len(subsets)


def test_every_repeat_is_the_share_of_flawless_cases() -> None:
    """pass^k itself counts cases good in all their repeats, with Wilson over cases."""
    result = every_repeat("pass^k", COUNTS)
    assert result.value == pytest.approx(2 / 6)
    assert result.interval == wilson(2, 6)
    assert result.k == 5


def test_unequal_repeats_are_said_and_not_given_a_k() -> None:
    """With unequal numbers of repeats there is no single k, and the range is shown."""
    result = every_repeat("pass^k", [*COUNTS, RunCounts("short", 2, 2)])
    assert (result.k, result.fewest_runs, result.most_runs) == (None, 2, 5)


def test_only_cases_with_enough_runs_enter() -> None:
    """A case with fewer than k runs is left out and counted as given."""
    result = k_in_a_row("passes", [*COUNTS, RunCounts("short", 2, 2)], 3)
    assert (result.cases, result.given) == (6, 7)


def test_three_cases_have_an_interval() -> None:
    """From three cases on there is an interval over cases."""
    assert every_repeat("pass^k", COUNTS[:3]).interval == wilson(1, 3)


def test_too_few_cases_have_a_reason() -> None:
    """No cases, or two, have no interval."""
    nothing = every_repeat("pass^k", [])
    assert (nothing.value, nothing.cases, nothing.most_runs) == (None, 0, 0)
    for result in (every_repeat("pass^k", []), every_repeat("pass^k", COUNTS[:2]), k_in_a_row("p", COUNTS[:2], 2)):
        assert result.interval.low is None
        assert result.interval.reason


def test_all_passing_cases_do_not_give_certainty() -> None:
    """When every run passes, the lower limit stays below 1."""
    result = k_in_a_row("passes", [RunCounts(str(i), 5, 5) for i in range(8)], 3)
    assert result.interval.low == pytest.approx(0.737783, abs=1e-6)


def test_k_below_one_is_refused() -> None:
    """Zero would be true of everything."""
    with pytest.raises(ValueError, match="k"):
        k_in_a_row("passes", COUNTS, 0)
