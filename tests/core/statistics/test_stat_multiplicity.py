"""Holm, planned looks and the e-value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pytest_skilleval.core.statistics.multiplicity import holm
from pytest_skilleval.core.statistics.sequential import E_VALUE_LIMIT, LOOKS, e_value


def test_holm_reference_values() -> None:
    """Adjusted p values of the worked example, in the order given."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=6, deadline=None)
def test_holm_equals_statsmodels(p_values: list[float]) -> None:
    """Every list of p values is adjusted as the reference library does."""
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_contrasts_without_a_test_do_not_count() -> None:
    """None stays None and makes the others no stricter."""
    assert holm([0.01, None, 0.03]) == [pytest.approx(0.02), None, pytest.approx(0.03)]
    assert holm([None]) == [None]
    assert holm([]) == []


@pytest.mark.parametrize(("wins", "losses", "value"), [(6, 0, 14.4375), (7, 0, 26.8125), (8, 1, 5.585938), (10, 2, 4.100586), (0, 0, 1)])
def test_e_value_reference_values(wins: int, losses: int, value: float) -> None:
    """The mixture e-value equals the worked examples; seven wins in a row suffice to stop."""
    assert e_value(wins, losses) == pytest.approx(value, abs=1e-6)
    assert (e_value(wins, losses) >= E_VALUE_LIMIT) is (wins == 7)


def test_the_alphas_of_the_looks_add_up() -> None:
    """All looks together spend no more than .05."""
    assert sum(look.alpha for look in LOOKS) == pytest.approx(0.05)


def test_negative_counts_are_refused() -> None:
    """Impossible counts are the caller's fault."""
    with pytest.raises(ValueError, match="negative"):
        e_value(-1, 2)
