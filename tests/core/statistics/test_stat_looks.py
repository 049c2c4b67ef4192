"""What planned looks save and cost, on a fixed-seed slice of the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_skilleval.core.statistics.sequential import LOOKS, Look, look_number
from pytest_skilleval.core.statistics.simulate import SETTINGS, UNTOUCHED
from pytest_skilleval.core.statistics.simulate_looks import LooksRates, least_share, looks_rates, repeats_for


def _rates(setting: str, effect: float, cases: int, looks: tuple[Look, ...] = LOOKS) -> LooksRates:
    rng = np.random.default_rng([7, cases, round(1000 * effect)])
    return looks_rates(SETTINGS[setting](effect), effect, cases=cases, rng=rng, datasets=1000, looks=looks)


@pytest.mark.parametrize("setting", sorted(UNTOUCHED))
def test_no_stop_errs_more_often_than_its_level(setting: str) -> None:
    """Where no case is affected, at most 5 % of sessions claim a change by the last look, and each look adds at most its alpha."""
    found = _rates(setting, 0.0, 12)
    added = np.diff([0.0, *found.changed])
    assert found.changed[-1] <= 0.05
    assert all(share <= look.alpha + 0.006 for share, look in zip(added, LOOKS, strict=True))


@pytest.mark.parametrize("setting", ["hetero", "bimodal", "near", "harm"])
def test_no_stop_claims_new_cases_falsely(setting: str) -> None:
    """Where the mean effect is nil over all cases of the kind, at most 5 % of sessions claim one for new cases, wherever they end."""
    assert _rates(setting, 0.0, 12).shown[-1] <= 0.05


@pytest.mark.parametrize(("setting", "effect", "cases"), [("hetero", 0.3, 12), ("shift", 0.3, 12), ("hetero", 0.4, 8), ("ceiling", 0.3, 8)])
def test_looks_save_runs_at_equal_power(setting: str, effect: float, cases: int) -> None:
    """Sessions with looks make at most 60 % of the runs of ten repeats and lose at most three points of power."""
    found = _rates(setting, effect, cases)
    assert found.mean_repeats <= 6.0
    assert found.changed[-1] >= found.fixed - 0.03
    assert found.covered >= 0.93


def test_giving_up_costs_no_error_and_hardly_any_power() -> None:
    """A look that gives up saves a tenth of all runs where there is nothing, adds no false claim, and costs at most 1.5 points of power."""
    never = tuple(replace(look, futile=1.0) for look in LOOKS)
    for effect in (0.0, 0.3):
        gives_up, goes_on = _rates("shift", effect, 8), _rates("shift", effect, 8, never)
        assert goes_on.changed[-1] - 0.015 <= gives_up.changed[-1] <= goes_on.changed[-1]
        if effect == 0:
            assert gives_up.mean_repeats <= goes_on.mean_repeats - 1


@pytest.mark.parametrize(("power", "share"), [(0.77, 0.63), (0.89, 0.58), (0.96, 0.49)])
def test_no_sequential_test_saves_more_than_wald_allows(power: float, share: float) -> None:
    """Wald's bound, worked by hand: below a power of about .86 no test of equal power can do with 60 % of the runs."""
    assert least_share(power) == pytest.approx(share, abs=0.006)
    assert repeats_for(0.5, (0.2, 0.4, 0.6)) == pytest.approx(2.5)


def test_a_single_look_is_no_look() -> None:
    """One look after all repeats at .05 is the ordinary session."""
    found = _rates("hetero", 0.3, 8, (Look(10, 0.05),))
    assert found.changed == (found.fixed,)
    assert found.mean_repeats == 10


def test_repeats_belong_to_the_first_look_that_counts_them() -> None:
    """Repeats 1 to 3 belong to the first look, 4 to 6 to the second, 7 to 10 to the third; without looks all to one."""
    assert [look_number(LOOKS, repeat) for repeat in range(1, 11)] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert look_number((), 7) == 1
