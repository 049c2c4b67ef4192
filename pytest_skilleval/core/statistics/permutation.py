"""Exact permutation tests by convolution: deterministic, ties counted, any number of cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pytest_skilleval.core.statistics.values import PairedCounts

_BUDGET = 300_000_000


def sign_flip(differences: Sequence[Fraction]) -> float:
    """Two-sided p of the mean of `differences` (one per case) under random signs: the test about new cases.

    #{s in {-1, 1}^K : |sum s_i d_i| >= |sum d_i|} / 2^K.

    Notes
    -----
    With m differences other than 0 the smallest possible p is 2 / 2^m: below 6 moved cases nothing reaches .05. When
    the common denominator is so large that exact convolution would take seconds, differences are rounded to a grid and
    the threshold is lowered by all that rounding can do, so p errs upwards only.

    References
    ----------
    Canay, Romano and Shaikh 2017, Econometrica 85:1013.
    """
    moved = sorted((abs(d) for d in differences if d), key=float)
    if not moved:
        return 1.0
    sizes, unit, slack = _on_grid(moved)
    total, excess = sum(sizes), abs(sum(differences, Fraction(0))) * unit
    chance = np.ones(1)
    for size in sizes:
        chance = np.concatenate([chance, np.zeros(size)]) / 2
        chance[size:] += chance[: len(chance) - size].copy()
    return _both_tails(chance, (total - excess + slack) / 2, (total + excess - slack) / 2)


def within_case(cases: Sequence[PairedCounts]) -> float:
    """Two-sided p of the passes in arm 1 when runs are exchanged between arms within each case: the test about these cases.

    Given t_i passes of case i in both arms, those in arm 1 are hypergeometric; T is their sum and
    p = P(|T - E T| >= |t - E T|).

    Notes
    -----
    Valid for any number of cases and unequal repeats; for one case it is Fisher's exact test when balanced. Rests on run
    order being random within a case. It is no test about new cases.
    """
    chance, expected, observed = np.ones(1), Fraction(0), 0
    for case in cases:
        both, passed = case.n0 + case.n1, case.passed0 + case.passed1
        chance = np.convolve(chance, _hypergeometric(case.n0, case.n1, passed))
        expected += Fraction(case.n1 * passed, both) if both else 0
        observed += case.passed1
    excess = abs(observed - expected)
    return _both_tails(chance, expected - excess, expected + excess)


def _hypergeometric(n0: int, n1: int, passed: int) -> npt.NDArray[np.float64]:
    ways = math.comb(n0 + n1, passed)
    return np.array([math.comb(n1, x) * (math.comb(n0, passed - x) if passed >= x else 0) / ways for x in range(n1 + 1)])


def _both_tails(chance: npt.NDArray[np.float64], low: Fraction, high: Fraction) -> float:
    """P(X <= low or X >= high) for X with probabilities `chance` on 0, 1, ..."""
    if high - low <= 0:
        return 1.0
    below = chance[: max(0, math.floor(low) + 1)].sum()
    return min(1.0, float(below + chance[max(0, math.ceil(high)) :].sum()))


def _on_grid(moved: list[Fraction]) -> tuple[list[int], Fraction, Fraction]:
    """Sizes as whole numbers of grid steps, steps per 1, and by how many steps rounding can shift a signed sum."""
    denominator = math.lcm(*(d.denominator for d in moved))
    steps = Fraction(denominator, math.gcd(*(int(d * denominator) for d in moved)))
    if sum(moved) * steps * len(moved) <= _BUDGET:
        return [int(d * steps) for d in moved], steps, Fraction(0)
    steps = Fraction(math.floor(_BUDGET / (len(moved) * sum(moved))))
    return [round(d * steps) for d in moved], steps, Fraction(len(moved), 2)
