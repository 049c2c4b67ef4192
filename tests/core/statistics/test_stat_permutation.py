"""Exact tests against enumeration and worked examples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, permutation_test

from pytest_skilleval.core.statistics import permutation
from pytest_skilleval.core.statistics.permutation import sign_flip, within_case
from pytest_skilleval.core.statistics.values import PairedCounts


@st.composite
def _fractions_in_one(draw: st.DrawFn) -> Fraction:
    n = draw(st.integers(1, 7))
    return Fraction(draw(st.integers(-n, n)), n)


@st.composite
def _small_case(draw: st.DrawFn) -> PairedCounts:
    n0, n1 = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return PairedCounts("c", draw(st.integers(0, n0)), n0, draw(st.integers(0, n1)), n1)


def test_sign_flip_reference_values(data_a: tuple[PairedCounts, ...], data_b: tuple[PairedCounts, ...]) -> None:
    """The p values of data A, data B, no case moved, and six cases moved one way."""
    assert sign_flip([case.difference for case in data_a]) == 1 / 8
    assert sign_flip([case.difference for case in data_b]) == 1 / 128
    assert sign_flip([Fraction(0)] * 8) == 1
    assert sign_flip([Fraction(1)] * 6) == 1 / 32
    assert sign_flip([]) == 1


@given(st.lists(_fractions_in_one(), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_sign_flip_equals_enumeration(differences: list[Fraction]) -> None:
    """The convolution counts exactly the sign patterns that are as extreme."""
    observed = abs(sum(differences, Fraction(0)))
    signed = [
        sum((s * d for s, d in zip(signs, differences, strict=True)), Fraction(0)) for signs in product((-1, 1), repeat=len(differences))
    ]
    assert sign_flip(differences) == pytest.approx(sum(abs(x) >= observed for x in signed) / len(signed), abs=1e-12)


def test_sign_flip_equals_scipy() -> None:
    """The exhaustive paired permutation test of scipy gives the same p."""
    differences = [Fraction(x, 6) for x in (5, 2, 2, -1, 4, 3, -2, 6, 1)]
    theirs = permutation_test(
        ([float(d) for d in differences],), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert sign_flip(differences) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_rounding_to_a_grid_errs_upwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where exact convolution would be too large, p is never too small and hardly too large."""
    differences = [Fraction(x, p) for x, p in ((3, 7), (5, 11), (6, 13), (-2, 17), (9, 19), (11, 23), (14, 29), (-3, 31), (20, 37), (4, 5))]
    exact = sign_flip(differences)
    monkeypatch.setattr(permutation, "_BUDGET", 200_000)
    assert exact <= sign_flip(differences) <= exact + 0.01


def test_within_case_reference_values(data_a: tuple[PairedCounts, ...], data_b: tuple[PairedCounts, ...]) -> None:
    """The p values of data A and B and of single cases."""
    assert within_case(data_a) == pytest.approx(347 / 50000, rel=1e-12)
    assert within_case(data_b) == pytest.approx(5.744621e-9, rel=1e-6)
    assert within_case([PairedCounts("c", 0, 3, 3, 3)]) == pytest.approx(1 / 10)
    assert within_case([PairedCounts("c", 1, 5, 4, 5)]) == pytest.approx(fisher_exact([[4, 1], [1, 4]]).pvalue)
    assert within_case([PairedCounts("c", 0, 3, 1, 1)]) == pytest.approx(1 / 4)
    assert within_case([PairedCounts("c", 0, 3, 3, 3), PairedCounts("none", 0, 0, 0, 0)]) == pytest.approx(1 / 10)
    assert within_case([]) == 1


@pytest.mark.parametrize(("repeats", "cases", "p"), [(4, 1, 2 / 70), (3, 2, 0.005)])
def test_smallest_p_of_one_and_two_cases(repeats: int, cases: int, p: float) -> None:
    """How many repeats one or two cases need before anything can be shown about them."""
    moved = [PairedCounts(str(i), 0, repeats, repeats, repeats) for i in range(cases)]
    assert within_case(moved) == pytest.approx(p)


@given(st.lists(_small_case(), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_within_case_equals_enumeration(cases: list[PairedCounts]) -> None:
    """The convolution equals counting all exchanges of runs between arms."""
    per_case = []
    for case in cases:
        runs = [1] * (case.passed0 + case.passed1) + [0] * (case.n0 + case.n1 - case.passed0 - case.passed1)
        per_case.append([sum(chosen) for chosen in combinations(runs, case.n1)])
    totals = [sum(pick) for pick in product(*per_case)]
    expected = Fraction(sum(totals), len(totals))
    observed = abs(sum(case.passed1 for case in cases) - expected)
    assert within_case(cases) == pytest.approx(sum(abs(t - expected) >= observed for t in totals) / len(totals), abs=1e-12)


@given(st.lists(_fractions_in_one(), max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_and_sign_never_matter(differences: list[Fraction], random: object) -> None:
    """Shuffling cases or swapping arms leaves p as it is."""
    shuffled = list(differences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sign_flip(shuffled) == sign_flip(differences) == sign_flip([-d for d in differences])
