"""Measured behaviour of the rules: a slice of the coverage study with tolerance for Monte-Carlo error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pytest_skilleval.core.statistics.batch import Batch, bbb_cdf, bbb_covers, sign_flip_p, within_case_p
from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.permutation import sign_flip, within_case
from pytest_skilleval.core.statistics.sequential import LOOKS
from pytest_skilleval.core.statistics.simulate import SETTINGS, Summary, beta_population, coverage_study, main, power, rates, summary
from pytest_skilleval.core.statistics.values import PairedCounts
from pytest_skilleval.core.statistics.verdict import claims


def _random_batch(cases: int, repeats: int) -> Batch:
    rng = np.random.default_rng([cases, repeats])
    chance = rng.uniform(size=(25, cases))
    return Batch(rng.binomial(repeats, chance), rng.binomial(repeats, np.minimum(1, chance + 0.2)), repeats)


@pytest.mark.parametrize(("cases", "repeats"), [(1, 1), (3, 4), (8, 3), (20, 5)])
def test_the_batch_engine_equals_the_plain_functions(cases: int, repeats: int) -> None:
    """Many data sets at once give the p values and the coverage of one at a time."""
    batch = _random_batch(cases, repeats)
    flips, exchanged, covers = sign_flip_p(batch), within_case_p(batch), bbb_covers(batch, 0.2)
    for i, (row0, row1) in enumerate(zip(batch.passed0.tolist(), batch.passed1.tolist(), strict=True)):
        pairs = [PairedCounts(str(j), a, repeats, b, repeats) for j, (a, b) in enumerate(zip(row0, row1, strict=True))]
        differences = [Fraction(b - a, repeats) for a, b in zip(row0, row1, strict=True)]
        assert flips[i] == pytest.approx(sign_flip(differences), abs=1e-12)
        assert exchanged[i] == pytest.approx(within_case(pairs), abs=1e-12)
        assert covers[i] == (not bbb([float(d) for d in differences]).excludes(0.2))


def test_the_study_applies_the_very_rules_of_the_verdict() -> None:
    """What the study counts as claimed, of these cases and of new ones, is what the verdict claims of each data set."""
    batch = _random_batch(12, 3)
    rows = zip(batch.passed0.tolist(), batch.passed1.tolist(), strict=True)
    made = [claims([PairedCounts(str(j), a, 3, b, 3) for j, (a, b) in enumerate(zip(*row, strict=True))]) for row in rows]
    found = rates(batch, 0.2)
    assert found.changed_these_cases == pytest.approx(sum(one.these != 0 for one in made) / 25)
    assert found.shown_for_new_cases == pytest.approx(sum(one.new != 0 for one in made) / 25)
    assert 0 < found.shown_for_new_cases < found.changed_these_cases < 1


def test_an_all_equal_data_set_at_the_bound_is_covered() -> None:
    """When all cases move all the way, the interval reaches 1."""
    batch = Batch(np.zeros((1, 8), dtype=np.int64), np.full((1, 8), 3), 3)
    assert bbb_covers(batch, 1.0).all()
    assert not bbb_covers(batch, 0.47).any()
    assert bbb_cdf(batch, 0.475566)[0] == pytest.approx(0.025, abs=1e-5)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("effect", [0.0, 0.1, 0.3])
def test_a_population_has_the_effect_it_says(setting: str, effect: float) -> None:
    """Pass probabilities lie in [0, 1] and differ by the effect on average."""
    without, with_ = SETTINGS[setting](effect)(np.random.default_rng(2), (40, 2000))
    assert with_.mean() - without.mean() == pytest.approx(effect, abs=0.01)
    assert min(without.min(), with_.min()) >= 0
    assert max(without.max(), with_.max()) <= 1


def test_spread_two_is_an_intraclass_correlation_of_a_third() -> None:
    """The Beta population's variance between cases is p(1 - p) / (1 + spread)."""
    without, _ = beta_population(0.4, 0.6, 2)(np.random.default_rng(3), (1, 100_000))
    assert without.var() == pytest.approx(0.24 / 3, rel=0.03)


def test_coverage_and_false_claims_of_the_rules() -> None:
    """In every cell BBB covers at least .93 and false claims are at most .05, up to the Monte-Carlo error of 600 data sets."""
    worst = summary(coverage_study(cases=(5, 8, 20), effects=(0.0, 0.3), datasets=600, random_seed=20))
    assert worst.cells == 7 * 3 * 3 * 2
    assert worst.least_coverage >= 0.93 - 0.035
    assert worst.mean_coverage >= 0.96
    assert worst.false_shown <= 0.05 + 0.01
    assert worst.false_changed <= 0.05 + 0.01


@pytest.mark.parametrize(
    ("figures", "honest"),
    [
        ((0.94, 0.97, 0.04, 0.03), True),
        ((0.92, 0.97, 0.04, 0.03), False),
        ((0.94, 0.97, 0.06, 0.03), False),
        ((0.94, 0.97, 0.04, 0.06), False),
    ],
)
def test_what_the_full_study_must_show(figures: tuple[float, float, float, float], honest: bool) -> None:
    """One cell below .93 or one rate of false claims above .05 is a failed study."""
    assert Summary(1, *figures).honest is honest


def test_the_study_prints_a_row_per_number_of_cases(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints the worst figures by number of cases, and fails when far too few data sets make them poor."""
    assert main(["--datasets", "10"]) == 1
    printed = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in printed.splitlines()[2:]] == ["5", "8", "12", "20", "all"]


def test_a_part_of_the_study_equals_the_same_part_of_the_whole() -> None:
    """Each cell has its own random numbers."""
    whole = coverage_study(settings=["shift", "harm"], cases=(5, 8), repeats=(3,), effects=(0.0,), datasets=200)
    part = coverage_study(settings=["harm"], cases=(8,), repeats=(3,), effects=(0.0,), datasets=200)
    assert part == whole[-1:]


def test_cancelling_effects_are_no_change_of_these_cases() -> None:
    """Half the cases gain what the other half loses: the within-case test keeps its level."""
    rng = np.random.default_rng(4)
    without = np.tile(np.where(np.arange(8) % 2, 0.3, 0.7), (4000, 1))
    batch = Batch(rng.binomial(5, without), rng.binomial(5, 1 - without), 5)
    assert rates(batch, 0.0).changed_these_cases <= 0.05


@pytest.mark.parametrize(
    ("setting", "effect", "repeats", "these", "new"),
    [("shift", 0.3, 3, 0.46, 0.23), ("hetero", 0.5, 3, 0.94, 0.68), ("shift", 0.3, 1, 0.04, 0.04), ("ceiling", 0.3, 10, 0.99, 0.18)],
)
def test_power_at_eight_cases(setting: str, effect: float, repeats: int, these: float, new: float) -> None:
    """The measured power of both questions is reproduced."""
    chances = power(SETTINGS[setting](effect), effect, cases=8, repeats=repeats, random_seed=3)
    assert chances.changed_these_cases == pytest.approx(these, abs=0.04)
    assert chances.shown_for_new_cases == pytest.approx(new, abs=0.04)


def test_three_planned_looks_keep_the_level() -> None:
    """Stopping at the first planned look that allows it errs in at most 5 % of evaluations without effect."""
    rng = np.random.default_rng(12)
    rate, stopped = rng.uniform(0.15, 0.85, (2000, 8)), np.zeros(2000, dtype=bool)
    passed0, passed1, done = np.zeros((2000, 8), dtype=np.int64), np.zeros((2000, 8), dtype=np.int64), 0
    for look in LOOKS:
        passed0, passed1 = passed0 + rng.binomial(look.repeats - done, rate), passed1 + rng.binomial(look.repeats - done, rate)
        done = look.repeats
        stopped |= within_case_p(Batch(passed0, passed1, done)) <= look.alpha
    assert stopped.mean() <= 0.05
