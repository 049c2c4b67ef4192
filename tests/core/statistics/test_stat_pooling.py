"""Several models: the average and partial pooling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from stat_writing import written

from pytest_skilleval.core.statistics.paired import from_differences
from pytest_skilleval.core.statistics.pooling import pool, reml

Table = dict[str, dict[str, Fraction]]


def _table(rng: np.random.Generator, truth: list[float], cases: int, repeats: int = 4) -> Table:
    rate = rng.uniform(0.2, 0.5, cases)
    without = [rng.binomial(repeats, rate) for _ in truth]
    with_ = [rng.binomial(repeats, rate + effect) for effect in truth]
    return {
        f"m{i}": {f"c{j}": Fraction(int(b[j] - a[j]), repeats) for j in range(cases)}
        for i, (a, b) in enumerate(zip(without, with_, strict=True))
    }


def test_the_average_is_taken_case_by_case() -> None:
    """The pooled effect is that of the case means over models: common cases only, K of them and not K times the models."""
    differences: Table = {
        "a": {"x": Fraction(1), "y": Fraction(0), "z": Fraction(1, 2), "only-a": Fraction(1)},
        "b": {"x": Fraction(0), "y": Fraction(0), "z": Fraction(1, 2)},
    }
    pooled = pool(differences)
    assert pooled.cases == ("x", "y", "z")
    assert pooled.average == from_differences([Fraction(1, 2), Fraction(0), Fraction(1, 2)])


def test_equal_models_are_drawn_together() -> None:
    """Where the truth is one effect, the pooled effects lie closer together than the plain ones."""
    table = _table(np.random.default_rng(1), [0.3] * 6, 12)
    plain = [float(sum(rows.values())) / 12 for rows in table.values()]
    pooled = [estimate.value for estimate in pool(table).models.values()]
    assert all(value is not None for value in pooled)
    assert np.ptp(np.array(pooled, dtype=float)) < 0.8 * np.ptp(plain)


def test_different_models_stay_apart() -> None:
    """Where models truly differ, hardly anything is drawn and the variance between them is found."""
    truth = [-0.1, 0.0, 0.2, 0.4, 0.45]
    pooled = pool(_table(np.random.default_rng(2), truth, 60, 10))
    assert pooled.between == pytest.approx(float(np.var(truth, ddof=1)), rel=0.4)
    assert [estimate.value for estimate in pooled.models.values()] == pytest.approx(truth, abs=0.08)


def test_intervals_cover_the_models_effects() -> None:
    """Over 120 simulated evaluations of 5 models the intervals cover the true effects in 95 %, up to Monte-Carlo error."""
    rng, hits = np.random.default_rng(3), []
    for _ in range(120):
        truth = np.clip(rng.normal(0.2, 0.1, 5), -0.2, 0.5).tolist()
        for effect, estimate in zip(truth, pool(_table(rng, truth, 10)).models.values(), strict=True):
            hits.append(not estimate.interval.excludes(effect))
            assert estimate.interval.low is not None
    assert np.mean(hits) >= 0.95 - 0.04


@pytest.mark.parametrize("models", [0, 1, 3])
def test_few_models_are_not_pooled(models: int) -> None:
    """Below four models each keeps its plain effect and says why."""
    pooled = pool(_table(np.random.default_rng(4), [0.3] * models, 8))
    assert pooled.between is None
    for estimate in pooled.models.values():
        assert estimate.interval.limits == (None, None)
        assert estimate.interval.reason is not None
    written(pooled)


def test_models_alike_in_every_case_leave_nothing_to_weigh() -> None:
    """Identical rows have no noise; no zero-width interval comes of them."""
    row = {f"c{j}": Fraction(j % 2) for j in range(8)}
    pooled = pool({f"m{i}": row for i in range(5)})
    assert all(estimate.interval.reason for estimate in pooled.models.values())


def test_reml_equals_the_closed_form_of_the_balanced_case() -> None:
    """With equal error variances REML is the variance of the effects less the error, not below 0."""
    effects = [0.1, 0.5, 0.3, 0.9]
    assert reml(effects, [0.01] * 4) == pytest.approx(float(np.var(effects, ddof=1)) - 0.01, abs=1e-5)
    assert reml(effects, [1.0] * 4) == 0
