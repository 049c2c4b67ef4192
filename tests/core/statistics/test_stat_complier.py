"""As assigned, as loaded, effect of loading."""

from __future__ import annotations

import numpy as np
import pytest
from stat_writing import written

from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.complier import Loads, load_effect
from pytest_skilleval.core.statistics.values import PairedCounts


def _loads(passed0: int, passed1: int, loaded1: int, passed_loaded1: int, *, name: str = "c", repeats: int = 4) -> Loads:
    return Loads(PairedCounts(name, passed0, repeats, passed1, repeats), 0, loaded1, passed_loaded1)


def test_when_every_run_loads_all_three_are_one(data_a: tuple[PairedCounts, ...]) -> None:
    """With full loading, the effect of loading is the effect as assigned, interval included."""
    effect = load_effect([Loads(case, 0, case.n1, case.passed1) for case in data_a])
    assert effect.as_assigned.value == effect.as_loaded.value == effect.of_loading.value == pytest.approx(0.375)
    assert effect.of_loading.interval.limits == pytest.approx(bbb([float(case.difference) for case in data_a]).limits, abs=1e-9)


def test_half_loading_doubles_the_effect() -> None:
    """Where half of the runs load and only those gain, the effect of loading is twice that as assigned."""
    effect = load_effect([_loads(0, 2, 2, 2, name=str(i)) for i in range(12)])
    assert effect.first_stage.value == effect.as_assigned.value == pytest.approx(0.5)
    assert effect.of_loading.value == pytest.approx(1)
    low, high = effect.of_loading.interval.limits
    assert low is not None
    assert low < 0.9
    assert high == 1
    written(effect)


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([], "no case"),
        ([_loads(0, 4, 4, 4, name=str(i)) for i in range(5)], "too few"),
        ([_loads(2, 2, 0, 0, name=str(i)) for i in range(12)], "hardly"),
        ([_loads(0, 1, int(i == 0), int(i == 0), name=str(i)) for i in range(12)], "hardly"),
    ],
)
def test_where_loading_can_not_be_blamed(cases: list[Loads], reason: str) -> None:
    """Too few cases or hardly any loading give a reason instead of a quotient by nearly nothing."""
    effect = load_effect(cases)
    assert effect.of_loading.value is None
    assert effect.of_loading.interval.reason is not None
    assert reason in effect.of_loading.interval.reason


def test_a_baseline_that_loads_too_weakens_the_instrument() -> None:
    """What counts is the change in loading, not loading itself."""
    case = Loads(PairedCounts("c", 1, 4, 3, 4), 2, 4, 3)
    assert load_effect([case]).first_stage.value == 0.5


@pytest.mark.parametrize("counts", [(0, 2, 5, 2), (0, 2, 1, 2), (0, 4, 1, 0), (0, 1, 4, 2)])
def test_counts_that_contradict_each_other_are_refused(counts: tuple[int, int, int, int]) -> None:
    """More loads than runs, or passes that don't add up, are the caller's fault."""
    with pytest.raises(ValueError, match="c:"):
        _loads(*counts)


def test_coverage_of_the_effect_of_loading() -> None:
    """In 200 simulated evaluations where a .4 gain needs loading, the interval covers .4 in at least nine of ten."""
    rng, hits, given = np.random.default_rng(9), 0, 0
    for _ in range(200):
        rate, load = rng.uniform(0.1, 0.5, 12), rng.beta(2, 1, 12)
        loaded = rng.binomial(3, load)
        passed0, inside, outside = rng.binomial(3, rate), rng.binomial(loaded, rate + 0.4), rng.binomial(3 - loaded, rate)
        rows = enumerate(zip(passed0.tolist(), (inside + outside).tolist(), loaded.tolist(), inside.tolist(), strict=True))
        low, high = load_effect([_loads(*row, name=str(i), repeats=3) for i, row in rows]).of_loading.interval.limits
        if low is not None and high is not None:
            given, hits = given + 1, hits + (low <= 0.4 <= high)
    assert given > 150
    assert hits / given >= 0.9
