"""Sizes and prices of an evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from stat_writing import written

from pytest_skilleval.core.statistics.planning import (
    Price,
    Spread,
    bill,
    cases_needed,
    detectable_effect,
    expected_width,
    outlook,
    pilot,
    stated,
)
from pytest_skilleval.core.statistics.simulate import SETTINGS, draw_batch
from pytest_skilleval.core.statistics.values import PairedCounts


def _true_spread(setting: str, effect: float) -> Spread:
    p0, p1 = SETTINGS[setting](effect)(np.random.default_rng(0), (1, 50_000))
    within = (float((p0 * (1 - p0)).mean()), float((p1 * (1 - p1)).mean()))
    return Spread(float(p0.mean()), float(p1.mean()), within, float((p1 - p0).var()), setting)


@pytest.mark.parametrize(
    ("setting", "effect", "simulated"),
    [
        ("shift", 0.2, (101, 36, 24, 19)),
        ("shift", 0.3, (48, 17, 14, 11)),
        ("hetero", 0.2, (88, 41, 32, 27)),
        ("hetero", 0.3, (42, 20, 16, 14)),
        ("bimodal", 0.3, (35, 25, 22, 22)),
        ("ceiling", 0.3, (25, 16, 15, 14)),
        ("hetero", 0.5, (17, 10, 8, 8)),
    ],
)
def test_the_formula_agrees_with_the_simulated_need(setting: str, effect: float, simulated: tuple[int, ...]) -> None:
    """Cases needed at 1, 3, 5, 10 repeats differ by at most five from those found by simulation."""
    needed = [cases_needed(_true_spread(setting, effect), effect, repeats) for repeats in (1, 3, 5, 10)]
    assert needed == pytest.approx(simulated, abs=5)


def test_the_detectable_effect_inverts_the_need() -> None:
    """The cases needed for an effect detect that effect, one case fewer does not."""
    spread = stated(0.4, 0.25)
    needed = cases_needed(spread, 0.25, 3)
    found, missed = detectable_effect(spread, needed, 3), detectable_effect(spread, needed - 1, 3)
    assert found is not None
    assert missed is not None
    assert found <= 0.25 < missed


def test_nothing_is_detectable_with_few_cases() -> None:
    """Below eight cases, or when it would take more than 1, there is no detectable effect."""
    assert detectable_effect(stated(0.5, 0.3), 7, 10) is None
    assert detectable_effect(Spread(0.5, 0.5, (0.25, 0.25), 2.0, "x"), 8, 1) is None


def test_stated_guesses_split_the_variance() -> None:
    """Within and between parts of each arm add up to p(1 - p)."""
    spread = stated(0.4, 0.2, icc=0.25, correlation=0)
    assert sum(spread.within) + spread.omega2 == pytest.approx(0.4 * 0.6 + 0.6 * 0.4)
    assert spread.variance(2) == pytest.approx(spread.omega2 + sum(spread.within) / 2)
    for guess in ((0.9, 0.2, 0.3), (0.0, 0.2, 0.3), (0.5, 0.2, 1.0)):
        with pytest.raises(ValueError, match="rates"):
            stated(*guess)


def test_a_pilot_recovers_the_spread() -> None:
    """From many cases, the within and between variances of the population come back."""
    batch = draw_batch(SETTINGS["hetero"](0.3), 2000, 4, 1, np.random.default_rng(5))
    rows = zip(batch.passed0[0].tolist(), batch.passed1[0].tolist(), strict=True)
    measured, true = pilot([PairedCounts(str(i), a, 4, b, 4) for i, (a, b) in enumerate(rows)]), _true_spread("hetero", 0.3)
    assert measured is not None
    assert measured.omega2 == pytest.approx(true.omega2, abs=0.015)
    assert measured.within == pytest.approx(true.within, abs=0.015)


def test_a_pilot_too_small_or_too_still_measures_nothing() -> None:
    """Five cases, single runs or data without any variation are no basis for a plan."""
    assert pilot([PairedCounts(str(i), i % 3, 2, 2, 2) for i in range(2)]) is None
    assert pilot([PairedCounts(str(i), i % 2, 1, 1, 1) for i in range(9)]) is None
    assert pilot([PairedCounts(str(i), 0, 3, 3, 3) for i in range(9)]) is None


def test_the_expected_width_shrinks_with_cases() -> None:
    """Four times the cases halve the width, nearly; two cases have none."""
    spread = stated(0.4, 0.3)
    narrow, wide = expected_width(spread, 80, 3), expected_width(spread, 20, 3)
    assert narrow is not None
    assert wide is not None
    assert narrow / wide == pytest.approx(0.5, abs=0.03)
    assert expected_width(Spread(0.5, 0.5, (0.25, 0.25), 0.0, "x"), 25, 1) == pytest.approx(2 * 2.063899 * (0.5 / 25) ** 0.5)
    assert expected_width(spread, 2, 3) is None


def test_the_width_of_a_pilot_is_that_of_its_t_interval(data_a: tuple[PairedCounts, ...], data_b: tuple[PairedCounts, ...]) -> None:
    """Planned again as it was, a pilot has the t interval of its own case differences: the worked examples, and scipy's."""
    for data, repeats, low, high in ((data_a, 3, -0.002938, 0.752938), (data_b, 5, 0.381078, 0.818922)):
        spread = pilot(data)
        assert spread is not None
        theirs = ttest_1samp([float(case.difference) for case in data], 0).confidence_interval(0.95)
        assert tuple(theirs) == pytest.approx((low, high), abs=1e-6)
        assert expected_width(spread, 8, repeats) == pytest.approx(high - low, abs=2e-6)


def test_an_effect_of_nothing_has_no_size() -> None:
    """No number of cases shows an effect of 0."""
    with pytest.raises(ValueError, match="effect of 0"):
        cases_needed(stated(0.4, 0.3), 0, 3)


def test_the_bill_counts_runs_money_and_hours() -> None:
    """Runs side by side take whole rounds; what isn't known stays unknown."""
    assert bill(7, Price(0.5, 600, 2)).hours == pytest.approx(4 * 600 / 3600)
    assert bill(7, Price(0.5)).money == 3.5
    assert (bill(7, None).money, bill(7, Price(0.5)).hours) == (None, None)


def test_the_outlook_of_the_common_plan() -> None:
    """8 cases x 3 repeats: good for .5 on these cases, poor for new ones, and repeatable."""
    view = outlook(stated(0.25, 0.5), 0.5, cases=8, repeats=3, price=Price(0.3, 120))
    assert view == outlook(stated(0.25, 0.5), 0.5, cases=8, repeats=3, price=Price(0.3, 120))
    assert view.power_these_cases == pytest.approx(0.95, abs=0.04)
    assert view.power_new_cases < 0.8
    assert 0.05 < view.too_few < 0.4
    assert view.bill.runs == 48
    written(view)


def test_an_outlook_at_the_ceiling_says_too_few() -> None:
    """When the baseline passes nearly everything, hardly six cases will move."""
    assert outlook(stated(0.95, 0.04), 0.04, cases=8, repeats=3).too_few > 0.9
