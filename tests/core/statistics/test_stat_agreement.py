"""Judge against human labels."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_skilleval.core.statistics.agreement import (
    calibration,
    cohens_kappa,
    corrected_difference,
    gwet_ac1,
    krippendorff_alpha,
    rogan_gladen,
)

TABLE = [[40, 6], [3, 11]]
BLIND = [[55, 3], [2, 0]]


def _units(table: list[list[int]]) -> list[tuple[int, int]]:
    return [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def test_reference_agreement() -> None:
    """Kappa with its interval, AC1 and alpha of the worked example."""
    kappa = cohens_kappa(TABLE)
    assert kappa.value == pytest.approx(0.609827, abs=1e-6)
    assert kappa.interval.limits == pytest.approx((0.381211, 0.838443), abs=1e-6)
    assert gwet_ac1(TABLE).value == pytest.approx(0.756812, abs=1e-6)
    assert krippendorff_alpha(_units(TABLE)).value == pytest.approx(0.611816, abs=1e-6)


def test_reference_sensitivity_and_specificity() -> None:
    """Of human passes and of human fails, with Wilson intervals."""
    judge = calibration(TABLE)
    assert judge.sensitivity.value == pytest.approx(40 / 43)
    assert judge.specificity.value == pytest.approx(11 / 17)
    assert judge.specificity.interval.limits == pytest.approx((0.413004, 0.826903), abs=1e-6)
    assert not judge.trusted()
    assert calibration([[60, 1], [1, 60]]).trusted()
    assert judge.specificity.n == 17


def test_a_judge_blind_to_fails_is_not_trusted() -> None:
    """AC1 of .91 does not save a judge who missed every human fail."""
    assert gwet_ac1(BLIND).value == pytest.approx(0.91, abs=5e-3)
    assert cohens_kappa(BLIND).value == pytest.approx(-0.04, abs=5e-3)
    assert not calibration(BLIND).trusted()


@pytest.mark.parametrize("table", [TABLE, [[40, 6, 2], [3, 25, 4], [2, 1, 17]]])
def test_the_standard_error_of_ac1_agrees_with_resampling(table: list[list[int]]) -> None:
    """Gwet's variance formula matches the spread over resampled subjects, for two labels and for three."""
    rng, counts = np.random.default_rng(7), np.array(table)
    draws = rng.multinomial(counts.sum(), counts.ravel() / counts.sum(), 1500)
    values = [gwet_ac1(draw.reshape(counts.shape).tolist()).value for draw in draws]
    interval = gwet_ac1(table).interval
    assert interval.low is not None
    assert interval.high is not None
    assert (interval.high - interval.low) / (2 * 1.959964) == pytest.approx(np.std(np.array(values, dtype=float)), rel=0.1)


def test_alpha_takes_missing_labels_and_three_raters() -> None:
    """Krippendorff's published nominal example with missing data gives .743."""
    published = [
        "1 1 . 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1", "2 2 2 2", ". 5 5 5", ". . 1 1", ". . 3 .",
    ]  # fmt: skip
    rows = [[None if label == "." else label for label in row.split()] for row in published]
    result = krippendorff_alpha(rows)
    assert result.value == pytest.approx(0.743, abs=5e-4)
    assert result.n == 11


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[9, 0], [0, 0]]])
def test_no_labels_or_one_label_have_reasons(table: list[list[int]]) -> None:
    """Where chance agreement is complete or nothing was labelled, there is a reason, no NaN."""
    assert cohens_kappa(table).value is None
    assert krippendorff_alpha(_units(table)).value is None
    assert calibration(table).specificity.value is None
    assert calibration(table).youden is None
    assert gwet_ac1(table).interval.reason
    assert {cohens_kappa(table).n, gwet_ac1(table).n, krippendorff_alpha(_units(table)).n} == {sum(map(sum, table))}


def test_complete_agreement_has_no_standard_error() -> None:
    """Perfect agreement is no certainty: the interval has a reason instead of zero width."""
    for result in (cohens_kappa([[5, 0], [0, 5]]), gwet_ac1([[5, 0], [0, 5]]), krippendorff_alpha([(0, 0), (1, 1)] * 5)):
        assert result.value == pytest.approx(1)
        assert result.interval.reason


def test_reference_rogan_gladen() -> None:
    """The corrected rate, Lee's interval and the corrected difference of the worked example."""
    corrected = rogan_gladen(21, 24, calibration(TABLE))
    assert corrected.value == pytest.approx(0.904325, abs=1e-6)
    assert corrected.interval.limits == pytest.approx((0.536409, 1), abs=1e-6)
    assert corrected_difference(0.375, calibration(TABLE)) == pytest.approx(0.649585, abs=1e-6)


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    """Dividing by a Youden index at or below zero is refused with a reason."""
    coin = calibration([[20, 20], [20, 20]])
    assert rogan_gladen(21, 24, coin).interval.reason
    assert rogan_gladen(0, 0, calibration(TABLE)).interval.reason
    assert rogan_gladen(1, 2, calibration([[3, 0], [0, 0]])).interval.reason
    assert rogan_gladen(21, 24, calibration([[1, 0], [0, 1]])).interval.reason is None
    assert rogan_gladen(21, 24, calibration([[2, 1], [1, 1]])).interval.low is not None
    assert corrected_difference(0.3, coin) is None


def test_a_table_that_is_not_square_is_refused() -> None:
    """Two raters use the same labels."""
    with pytest.raises(ValueError, match="square"):
        gwet_ac1([[1, 2, 3], [4, 5, 6]])
