"""Paired costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon
from stat_writing import written

from pytest_skilleval.core.statistics.skewed import CostPair, cost_effect, hodges_lehmann

COSTS = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=4).map(tuple)
PAIRS = st.lists(st.tuples(COSTS, COSTS), min_size=1, max_size=10).map(
    lambda rows: [CostPair(str(i), a, b) for i, (a, b) in enumerate(rows)]
)


def test_the_limits_invert_the_signed_rank_test() -> None:
    """Just inside the limits the exact signed-rank test accepts at .05, just outside it rejects."""
    values = np.random.default_rng(8).standard_exponential(11)
    low, high = hodges_lehmann(values.tolist(), "m").interval.limits
    assert low is not None
    assert high is not None
    for inside, outside in ((low + 1e-9, low - 1e-9), (high - 1e-9, high + 1e-9)):
        assert wilcoxon(values - inside, method="exact").pvalue > 0.05
        assert wilcoxon(values - outside, method="exact").pvalue <= 0.05


def test_a_constant_factor_is_found() -> None:
    """Half as much again in every case is a ratio of 1.5 within its limits."""
    rng = np.random.default_rng(2)
    pairs = [
        CostPair(str(i), (base,), (1.5 * base * math.exp(noise),)) for i, (base, noise) in enumerate(rng.normal(10, 1, (12, 2)) * [1, 0.01])
    ]
    pairs = [CostPair(pair.case, pair.used0, (pair.used1[0] / math.exp(0.1),)) for pair in pairs]
    effect = cost_effect(pairs)
    assert effect.ratio.value == pytest.approx(1.5, rel=0.03)
    assert effect.ratio.interval.low is not None
    assert 1.4 < effect.ratio.interval.low < 1.5


def test_coverage_with_lognormal_costs_and_outliers() -> None:
    """At 8 and 20 cases of 3 repeats the ratio is covered in 95 % of 400 simulated evaluations, tenfold outliers included."""
    rng = np.random.default_rng(6)
    for cases in (8, 20):
        logs = rng.standard_normal((400, 2, cases, 3)) * 0.6 + np.log(10) * (rng.uniform(size=(400, 2, cases, 3)) < 0.05)
        used = np.exp(logs + rng.standard_normal((400, 1, cases, 1)))
        used[:, 1] *= 1.3
        hits = 0
        for without, with_ in used:
            low, high = cost_effect(
                [CostPair(str(i), tuple(a), tuple(b)) for i, (a, b) in enumerate(zip(without.tolist(), with_.tolist(), strict=True))]
            ).ratio.interval.limits
            assert low is not None
            assert high is not None
            hits += low <= 1.3 <= high
        assert hits / 400 >= 0.95 - 0.033


@pytest.mark.parametrize("cases", [1, 5])
def test_below_six_cases_there_is_no_interval(cases: int) -> None:
    """The exact test can't reach 95 % with fewer than six cases."""
    effect = cost_effect([CostPair(str(i), (1.0,), (2.0 + i,)) for i in range(cases)])
    assert effect.ratio.value is not None
    assert effect.ratio.interval.limits == (None, None)
    assert effect.ratio.interval.reason


def test_equal_cases_have_no_width_to_estimate() -> None:
    """The same factor in every case is not certainty."""
    effect = cost_effect([CostPair(str(i), (1.0,), (2.0,)) for i in range(9)])
    assert effect.ratio.value == pytest.approx(2)
    assert effect.ratio.interval.reason


def test_what_costs_nothing_has_no_ratio() -> None:
    """Cases with a mean of 0 stay out of the ratio and in the difference; no cases at all give a reason."""
    effect = cost_effect([CostPair(str(i), (0.0,), (float(i),)) for i in range(8)])
    assert effect.ratio.value is None
    assert effect.difference.n == 8
    assert cost_effect([CostPair("a", (), (1.0,))]).difference.interval.reason


def test_a_family_counts_once() -> None:
    """Cases of one family are averaged into one unit."""
    pairs = [CostPair(str(i), (1.0,), (1.0 + i,), family="one" if i < 4 else None) for i in range(8)]
    assert cost_effect(pairs).difference.n == 5


@given(PAIRS)
@settings(max_examples=30, deadline=None)
def test_swapping_the_arms_inverts_the_ratio(pairs: list[CostPair]) -> None:
    """With arms swapped the ratio is inverted and the difference negated; the order of cases never matters; it is strict JSON."""
    one, other = cost_effect(pairs), cost_effect([CostPair(p.case, p.used1, p.used0) for p in reversed(pairs)])
    assert one.ratio.value == pytest.approx(1 / other.ratio.value) if other.ratio.value else one.ratio.value is None
    if one.ratio.interval.low is not None:
        assert one.ratio.interval.low == pytest.approx(1 / other.ratio.interval.high)  # type: ignore[operator]
    assert one.difference.value == pytest.approx(-other.difference.value)  # type: ignore[operator]
    written(one)


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_an_impossible_cost_is_refused(value: float) -> None:
    """A cost below 0 or not finite is the caller's fault, named with the case."""
    with pytest.raises(ValueError, match="c1"):
        CostPair("c1", (1.0,), (value,))
