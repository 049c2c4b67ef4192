"""The paired effect: reference data, rules about few cases, invariances."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stat_writing import written

from pytest_skilleval.core.statistics.paired import TOO_FEW, PairedEffect, paired_effect
from pytest_skilleval.core.statistics.values import PairedCounts

Pairs = tuple[PairedCounts, ...]


def _effect(cases: list[PairedCounts] | Pairs, level: float = 0.95) -> PairedEffect:
    return paired_effect(cases, random_seed=12345, resamples=400, level=level)


@st.composite
def _pairs(draw: st.DrawFn, fewest: int = 1, most: int = 9) -> list[PairedCounts]:
    def one(name: int) -> PairedCounts:
        n0, n1 = draw(st.integers(0, 4)), draw(st.integers(0, 4))
        passed0, passed1 = draw(st.integers(0, n0)), draw(st.integers(0, n1))
        family = draw(st.sampled_from([None, None, "x", "y"]))
        return PairedCounts(f"c{name}", passed0, n0, passed1, n1, family, draw(st.integers(0, 2)), draw(st.integers(0, 2)))

    return [one(name) for name in range(draw(st.integers(fewest, most)))]


def _swapped(case: PairedCounts) -> PairedCounts:
    return PairedCounts(case.case, case.passed1, case.n1, case.passed0, case.n0, case.family, case.undecided1, case.undecided0)


def test_data_a_changed_these_cases_and_shows_nothing_new(data_a: Pairs) -> None:
    """All figures of data A equal the worked examples, the legacy bootstrap included."""
    result = paired_effect(data_a, random_seed=12345)
    assert (result.cases, result.up, result.down, result.same) == (8, 4, 0, 4)
    assert result.difference == Fraction(3, 8)
    assert result.these_cases.p == pytest.approx(0.006940)
    assert result.these_cases.interval.limits == pytest.approx((0.112829, 0.577844), abs=1e-6)
    assert result.new_cases.interval.limits == pytest.approx((-0.013688, 0.652011), abs=1e-6)
    assert result.new_cases.gaffke.limits == pytest.approx((-0.171393, 0.723985), abs=1e-6)
    assert result.new_cases.sign_flip_p == 0.125
    assert result.bootstrap.interval.limits == pytest.approx((0.083333, 0.666667), abs=1e-6)


def test_data_b_shows_an_effect_for_new_cases(data_b: Pairs) -> None:
    """All figures of data B equal the worked examples."""
    result = paired_effect(data_b, random_seed=12345)
    assert result.difference == Fraction(3, 5)
    assert result.new_cases.sign_flip_p == 1 / 128
    assert result.new_cases.interval.excludes(0)
    assert result.new_cases.interval.reason is None
    assert result.bootstrap.interval.limits == pytest.approx((0.425, 0.775), abs=1e-6)


def test_four_moved_cases_are_too_few_for_a_claim(data_a: Pairs) -> None:
    """Below six moved cases every interval about new cases carries the caveat."""
    assert _effect(data_a).new_cases.interval.reason == TOO_FEW
    assert _effect(data_a).new_cases.gaffke.reason == TOO_FEW


@pytest.mark.parametrize(("cases", "moved", "caveat"), [(3, 3, TOO_FEW), (5, 5, TOO_FEW), (9, 5, TOO_FEW), (6, 6, None), (9, 6, None)])
def test_six_moved_cases_bear_a_claim(cases: int, moved: int, caveat: str | None) -> None:
    """From three cases on there is an interval, from six moved ones on it may bear a claim."""
    result = _effect([PairedCounts(str(i), 1, 3, 3 if i < moved else 1, 3) for i in range(cases)])
    assert result.new_cases.interval.low is not None
    assert result.new_cases.interval.reason == result.new_cases.gaffke.reason == caveat


@pytest.mark.parametrize("size", [1, 2])
def test_one_or_two_cases_get_no_interval_for_new_cases(size: int) -> None:
    """However clear the change, one or two cases say nothing about others."""
    result = _effect([PairedCounts(str(i), 0, 5, 5, 5) for i in range(size)])
    assert result.new_cases.interval.limits == (None, None)
    assert result.new_cases.sign_flip_p is None
    assert result.these_cases.p is not None
    assert result.these_cases.p < 0.05


def test_prompts_of_one_source_are_one_cluster() -> None:
    """Eight prompts built on two runbook entries are two units for new cases, eight for these."""
    result = _effect([PairedCounts(str(i), 0, 3, 3, 3, family="ab"[i % 2]) for i in range(8)])
    assert result.cases == 8
    assert result.new_cases.clusters == 2
    assert result.new_cases.interval.limits == (None, None)


def test_a_case_without_runs_in_one_arm_is_dropped_by_name() -> None:
    """What can't be paired does not count and is listed."""
    result = _effect([PairedCounts("kept", 0, 2, 2, 2), PairedCounts("lost", 2, 2, 0, 0)])
    assert (result.cases, result.dropped, result.difference) == (1, ("lost",), Fraction(1))


def test_no_cases_at_all_have_reasons_everywhere() -> None:
    """An empty contrast is written without a single number that means nothing."""
    nothing = _effect([])
    assert nothing.difference is None
    for part in (nothing.these_cases.interval, nothing.new_cases.interval, nothing.bootstrap.interval, nothing.bounds):
        assert part.low is None
        assert part.reason


def test_a_case_given_twice_is_refused(data_a: Pairs) -> None:
    """Two rows of one name would count it double."""
    with pytest.raises(ValueError, match="twice"):
        _effect([*data_a, data_a[0]])


@given(_pairs(), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_order_never_matters(cases: list[PairedCounts], random: object) -> None:
    """The order in which cases come changes no digit of the report."""
    shuffled = list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert _effect(shuffled) == _effect(cases)


@given(_pairs())
@settings(max_examples=25, deadline=None)
def test_swapping_the_arms_mirrors_everything(cases: list[PairedCounts]) -> None:
    """With arms swapped, differences and intervals change sign and p values stay."""
    one, other = _effect(cases), _effect([_swapped(case) for case in cases])
    assert (one.up, one.down, one.same) == (other.down, other.up, other.same)
    assert one.difference is None or other.difference == -one.difference
    assert one.these_cases.p == pytest.approx(other.these_cases.p)
    assert one.new_cases.sign_flip_p == other.new_cases.sign_flip_p
    assert one.these_cases.interval.mirrored().limits == pytest.approx(other.these_cases.interval.limits, abs=1e-9)
    assert one.new_cases.interval.mirrored().limits == pytest.approx(other.new_cases.interval.limits, abs=1e-9)
    assert one.bounds.low is None or other.bounds.high == -one.bounds.low


@given(_pairs())
@settings(max_examples=25, deadline=None)
def test_the_headline_is_the_mean_of_the_rows(cases: list[PairedCounts]) -> None:
    """The printed difference is the mean of the printed case differences, whatever the repeats; it lies within the bounds."""
    result, rows = _effect(cases), [case.difference for case in cases if case.complete]
    assert result.difference == (sum(rows, Fraction(0)) / len(rows) if rows else None)
    assert result.up + result.down + result.same == len(rows)
    if result.difference is not None and len(rows) == len(cases):
        assert result.bounds.low is not None
        assert result.bounds.high is not None
        assert result.bounds.low <= result.difference <= result.bounds.high


@given(_pairs(fewest=3))
@settings(max_examples=25, deadline=None)
def test_intervals_nest_by_level_and_have_width(cases: list[PairedCounts]) -> None:
    """A higher level contains a lower one, and no interval has zero width."""
    inner, outer = _effect(cases, 0.8), _effect(cases, 0.95)
    for narrow, wide in ((inner.these_cases, outer.these_cases), (inner.new_cases, outer.new_cases)):
        if narrow.interval.low is not None:
            assert wide.interval.low <= narrow.interval.low + 1e-9 < narrow.interval.high <= wide.interval.high + 1e-9  # type: ignore[operator]


@given(_pairs())
@settings(max_examples=25, deadline=None)
def test_the_written_form_is_strict_json(cases: list[PairedCounts]) -> None:
    """No NaN and no infinity ever reaches the report."""
    written(_effect(cases))


def test_unequal_repeats_never_flip_the_sign_of_the_rows() -> None:
    """Every row better or equal with the skill gives a difference above zero, however the repeats are spread."""
    cases = [PairedCounts("easy", 1, 1, 10, 10), PairedCounts("hard", 0, 10, 1, 10), PairedCounts("mid", 5, 10, 1, 1)]
    result = _effect(cases)
    assert result.down == 0
    assert result.difference is not None
    assert result.difference > 0
