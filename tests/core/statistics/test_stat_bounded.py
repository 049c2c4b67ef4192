"""BBB and Gaffke against worked examples, exact special cases and Monte Carlo."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from pytest_skilleval.core.statistics.bounded import bbb, cdf, gaffke
from pytest_skilleval.core.statistics.proportions import clopper_pearson
from pytest_skilleval.core.statistics.values import PairedCounts

THIRD = 1 / 3
SEVEN_OF_TEN = [1.0] * 7 + [0.0] * 3


def test_bbb_of_the_reference_data(data_a: tuple[PairedCounts, ...], data_b: tuple[PairedCounts, ...]) -> None:
    """BBB of data A and B equals the worked examples."""
    assert bbb([float(c.difference) for c in data_a]).limits == pytest.approx((-0.013688, 0.652011), abs=1e-6)
    assert bbb([float(c.difference) for c in data_b]).limits == pytest.approx((0.180168, 0.748629), abs=1e-6)


def test_gaffke_of_the_reference_data(data_a: tuple[PairedCounts, ...], data_b: tuple[PairedCounts, ...]) -> None:
    """Gaffke of data A and B equals the worked examples."""
    assert gaffke([float(c.difference) for c in data_a]).limits == pytest.approx((-0.171393, 0.723985), abs=1e-6)
    assert gaffke([float(c.difference) for c in data_b]).limits == pytest.approx((-0.003106, 0.804115), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "lower", "expected"),
    [
        ([0.0] * 5, -1, (-0.340292, 0.340292)),
        ([0.0] * 8, -1, (-0.232647, 0.232647)),
        ([0.0] * 20, -1, (-0.102227, 0.102227)),
        ([1.0] * 6, -1, (0.339222, 1)),
        ([1.0] * 8, -1, (0.475566, 1)),
        ([THIRD] * 8, -1, (0.006890, 0.477028)),
        ([1.0] * 8, 0, (0.737783, 1)),
        ([x / 3 for x in (3, 3, 3, 2, 3, 3, 1, 3)], 0, (0.608772, 0.969059)),
        ([x / 3 for x in (3, 1, 0, 2, 0, 2, 1, 3)], 0, (0.261327, 0.738673)),
        (SEVEN_OF_TEN, 0, (0.394182, 0.907305)),
    ],
)
def test_bbb_of_degenerate_data(values: list[float], lower: float, expected: tuple[float, float]) -> None:
    """Equal values and values at a bound have the limits of the worked examples, never zero width."""
    assert bbb(values, lower).limits == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "lower", "expected"),
    [
        ([0.0] * 8, -1, (0.025 ** (1 / 8) - 1, 1 - 0.025 ** (1 / 8))),
        ([1.0] * 8, -1, (0.261167, 1)),
        ([1.0] * 6, -1, (0.081484, 1)),
        (SEVEN_OF_TEN, 0, (0.347547, 0.933260)),
    ],
)
def test_gaffke_of_degenerate_data(values: list[float], lower: float, expected: tuple[float, float]) -> None:
    """Gaffke of equal and of 0/1 values equals the closed forms."""
    assert gaffke(values, lower).limits == pytest.approx(expected, abs=1e-6)


@given(good=st.integers(0, 30), bad=st.integers(0, 30), level=st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=40, deadline=None)
def test_zero_one_data_give_the_classical_intervals(good: int, bad: int, level: float) -> None:
    """On 0/1 data BBB is the Jeffreys interval and Gaffke the Clopper-Pearson one."""
    if good + bad == 0:
        return
    values, tail = [1.0] * good + [0.0] * bad, (1 - level) / 2
    low = 0.0 if good == 0 else beta.ppf(tail, good + 0.5, bad + 0.5)
    high = 1.0 if bad == 0 else beta.ppf(1 - tail, good + 0.5, bad + 0.5)
    assert bbb(values, 0, 1, level).limits == pytest.approx((low, high), abs=1e-9)
    assert gaffke(values, 0, 1, level).limits == pytest.approx(clopper_pearson(good, good + bad, level).limits, abs=1e-9)


@pytest.mark.parametrize("size", [1, 3, 12, 40])
def test_bbb_agrees_with_monte_carlo(size: int) -> None:
    """The exact limits are the quantiles of simulated Dirichlet-weighted means."""
    rng = np.random.default_rng(size)
    values = rng.uniform(-1, 1, size)
    draws = rng.dirichlet([*[1.0] * size, 0.5, 0.5], 200_000) @ np.append(values, [-1, 1])
    assert bbb(values.tolist()).limits == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist(), abs=0.01)


def test_the_distribution_function_of_two_atoms_is_the_beta_distribution() -> None:
    """The numerical inversion is exact to 1e-11 where a closed form exists."""
    for a, b, t in ((0.5, 0.5, 0.2), (3.5, 1.0, 0.9), (40.0, 60.0, 0.43), (700.5, 300.5, 0.71)):
        assert cdf(t, np.array([0.0, 1.0]), np.array([b, a])) == pytest.approx(beta.cdf(t, a, b), abs=1e-11)


VALUES = st.lists(st.integers(-12, 12).map(lambda x: x / 12), min_size=1, max_size=15)


@given(values=VALUES)
@settings(max_examples=40, deadline=None)
def test_negating_the_values_mirrors_the_limits(values: list[float]) -> None:
    """Swapping the arms negates the interval, for both methods."""
    negated = [-value for value in values]
    for method in (bbb, gaffke):
        assert method(negated).limits == pytest.approx(method(values).mirrored().limits, abs=1e-9)


@given(values=VALUES)
@settings(max_examples=40, deadline=None)
def test_intervals_nest_and_have_width(values: list[float]) -> None:
    """A higher level gives a wider interval around the lower one, Gaffke contains BBB, and none has zero width."""
    for method in (bbb, gaffke):
        inner, outer = method(values, level=0.8), method(values, level=0.95)
        assert outer.low <= inner.low + 1e-9 < inner.high <= outer.high + 1e-9  # type: ignore[operator]
    narrow, strict = bbb(values), gaffke(values)
    assert strict.low <= narrow.low + 1e-9  # type: ignore[operator]
    assert narrow.high <= strict.high + 1e-9  # type: ignore[operator]


@pytest.mark.parametrize("values", [[], [1.5], [-1.01, 0.0], [float("nan")]])
def test_values_outside_the_bounds_are_refused(values: list[float]) -> None:
    """Values that can't be a difference of rates are the caller's fault."""
    with pytest.raises(ValueError, match="values"):
        bbb(values)


def test_a_thousand_distinct_cases_take_half_a_second() -> None:
    """Exact limits stay fast for large case sets."""
    values = np.random.default_rng(1).uniform(-1, 1, 1000).tolist()
    bbb(values[:3])
    start = time.process_time()
    bbb(values)
    assert time.process_time() - start <= 0.5


@pytest.mark.parametrize(("good", "cases"), [(5, 20), (30, 100), (290, 300), (500, 1000), (998, 1000)])
def test_exact_at_any_size(good: int, cases: int) -> None:
    """On 0/1 data the limits are those of Jeffreys to nine digits, for a thousand cases as for twenty."""
    found = bbb([1.0] * good + [0.0] * (cases - good), 0, 1)
    wanted = beta.ppf([0.025, 0.975], good + 0.5, cases - good + 0.5)
    assert (found.low, found.high) == pytest.approx(tuple(wanted), abs=1e-9)
