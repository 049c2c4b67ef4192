"""The paired difference in pass rate between two arms: two questions, two intervals, two tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from pytest_skilleval.core.statistics.bootstrap import RESAMPLES, Bootstrap, case_bootstrap
from pytest_skilleval.core.statistics.bounded import gaffke
from pytest_skilleval.core.statistics.missing import Bounds, bounds
from pytest_skilleval.core.statistics.permutation import sign_flip, within_case
from pytest_skilleval.core.statistics.proportions import ONE_OR_TWO_CASES, effective_runs, new_cases_interval, newcombe
from pytest_skilleval.core.statistics.values import LEVEL, Interval, PairedCounts, cluster_means, mean

FEWEST_CASES = 6
TOO_FEW = "too few cases for a claim about new cases"
NO_PAIR = "no case has runs in both arms"


@dataclass(frozen=True, slots=True)
class TheseCases:
    """Did the outcome change on exactly these cases? Newcombe interval, exact within-case p."""

    interval: Interval
    p: float | None


@dataclass(frozen=True, slots=True)
class NewCases:
    """Would it on further cases of this kind? Units are families of cases (a case without family is its own).

    ``interval`` is BBB (its reason says when it bears no claim), ``gaffke`` the strict one for release gates.
    """

    clusters: int
    moved: int
    difference: Fraction | None
    interval: Interval
    sign_flip_p: float | None
    gaffke: Interval


@dataclass(frozen=True, slots=True)
class PairedEffect:
    """Difference 1 - 0 of mean case shares over the cases that have runs in both arms; the others are listed as dropped."""

    cases: int
    dropped: tuple[str, ...]
    up: int
    down: int
    same: int
    difference: Fraction | None
    runs0: int
    runs1: int
    these_cases: TheseCases
    new_cases: NewCases
    bootstrap: Bootstrap
    bounds: Bounds


def paired_effect(cases: Sequence[PairedCounts], *, random_seed: int, resamples: int = RESAMPLES, level: float = LEVEL) -> PairedEffect:
    """All figures of one contrast; pure, and the same whatever the order of `cases`.

    Parameters
    ----------
    cases
        One row per case, names unique (`ValueError` otherwise).
    random_seed
        Seeds the secondary bootstrap and nothing else.
    """
    if len({case.case for case in cases}) < len(cases):
        raise ValueError("a case is given twice")
    ordered = sorted(cases, key=lambda case: case.case)
    pairs = [case for case in ordered if case.complete]
    differences = [case.difference for case in pairs]
    return PairedEffect(
        cases=len(pairs),
        dropped=tuple(case.case for case in ordered if not case.complete),
        up=sum(d.numerator > 0 for d in differences),
        down=sum(d.numerator < 0 for d in differences),
        same=sum(d.numerator == 0 for d in differences),
        difference=mean(differences) if differences else None,
        runs0=sum(case.n0 for case in pairs),
        runs1=sum(case.n1 for case in pairs),
        these_cases=these_cases(pairs, level),
        new_cases=new_cases(pairs, level),
        bootstrap=case_bootstrap([float(d) for d in differences], random_seed, resamples, level),
        bounds=bounds(ordered),
    )


def these_cases(pairs: Sequence[PairedCounts], level: float = LEVEL) -> TheseCases:
    """Newcombe on the unweighted means of case shares with effective numbers of runs, and the within-case test."""
    if not pairs:
        return TheseCases(Interval.unknown(NO_PAIR, "Newcombe", level), None)
    arms = [[case.arm(which) for case in pairs] for which in (0, 1)]
    (rate0, runs0), (rate1, runs1) = ((float(mean([case.share for case in arm])), effective_runs(arm)) for arm in arms)
    return TheseCases(newcombe(rate1 * runs1, runs1, rate0 * runs0, runs0, level), within_case(pairs))


def new_cases(pairs: Sequence[PairedCounts], level: float = LEVEL) -> NewCases:
    """BBB and Gaffke intervals and the sign-flip test on one difference per family."""
    return from_differences(cluster_means((case.family, case.difference) for case in pairs), level)


def from_differences(clusters: Sequence[Fraction], level: float = LEVEL) -> NewCases:
    """`NewCases` of one difference in [-1, 1] per cluster, in any order."""
    return _from_sorted(tuple(sorted(clusters, key=float)), level)


# Report, verdict and gate ask for the same contrast.
@lru_cache(maxsize=64)
def _from_sorted(ordered: tuple[Fraction, ...], level: float) -> NewCases:
    values, moved = [float(d) for d in ordered], sum(d.numerator != 0 for d in ordered)
    if len(values) < 3:
        nothing = Interval.unknown(ONE_OR_TWO_CASES if values else NO_PAIR, "BBB", level)
        return NewCases(len(values), moved, mean(ordered) if ordered else None, nothing, None, nothing)
    caveat = TOO_FEW if min(len(values), moved) < FEWEST_CASES else None
    interval, strict = new_cases_interval(values, -1, 1, level), gaffke(values, -1, 1, level)
    return NewCases(len(values), moved, mean(ordered), _noted(interval, caveat), sign_flip(ordered), _noted(strict, caveat))


def _noted(interval: Interval, caveat: str | None) -> Interval:
    return Interval(interval.low, interval.high, interval.level, interval.method, caveat)
