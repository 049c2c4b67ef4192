"""What the statistics take and give: exact counts in, values that never travel without interval, n and method out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits of an interval, or the reason why there are none (never NaN, never 0 for "can't be estimated").

    ``reason`` beside limits is a caveat to print with them.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    reason: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie in (0, 1), not {self.level}")
        if self.low is None or self.high is None:
            if self.low is not self.high or not self.reason:
                raise ValueError("an interval has both limits, or neither and a reason")
        elif not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"not an interval: [{self.low}, {self.high}]")

    @classmethod
    def unknown(cls, reason: str, method: str, level: float = LEVEL) -> Interval:
        """The interval that can't be estimated, and why."""
        return cls(None, None, level, method, reason)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """Both limits, or (None, None)."""
        return self.low, self.high

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside; an unknown interval excludes nothing."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def mirrored(self) -> Interval:
        """The interval of the negated quantity."""
        if self.low is None or self.high is None:
            return self
        return Interval(-self.high, -self.low, self.level, self.method, self.reason)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, the number of units behind it (cases, runs or labels, as `method` says) and its method."""

    value: float | None
    interval: Interval
    n: float
    method: str

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("an estimate is finite, or None with the reason in its interval")


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Of one case in one arm: `good` of `n` runs with a verdict. `family` names the source shared with other cases."""

    case: str
    good: int
    n: int
    family: str | None = None

    def __post_init__(self) -> None:
        _check(self.case, self.good, self.n)

    @property
    def share(self) -> Fraction:
        """Share of good runs; `ZeroDivisionError` without runs."""
        return _share(self.good, self.n)


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """One case in two arms (0 without, 1 with): passed of n runs with a verdict; undecided and lost runs are in neither."""

    case: str
    passed0: int
    n0: int
    passed1: int
    n1: int
    family: str | None = None
    undecided0: int = 0
    undecided1: int = 0
    lost0: int = 0
    lost1: int = 0

    def __post_init__(self) -> None:
        _check(self.case, self.passed0, self.n0)
        _check(self.case, self.passed1, self.n1)
        if min(self.undecided0, self.undecided1, self.lost0, self.lost1) < 0:
            raise ValueError(f"{self.case}: negative number of undecided or lost runs")

    @property
    def complete(self) -> bool:
        """Whether both arms have a run with a verdict."""
        return self.n0 > 0 and self.n1 > 0

    @property
    def difference(self) -> Fraction:
        """Difference of the two shares (1 minus 0), exact; `ZeroDivisionError` if not `complete`."""
        return _difference(self.passed0, self.n0, self.passed1, self.n1)

    @property
    def unknown(self) -> tuple[int, int]:
        """Runs without a verdict in either arm, undecided or lost: what they would have shown is not known."""
        return self.undecided0 + self.lost0, self.undecided1 + self.lost1

    def arm(self, which: int) -> RunCounts:
        """The counts of arm 0 or 1 alone."""
        passed, n = (self.passed1, self.n1) if which else (self.passed0, self.n0)
        return RunCounts(self.case, passed, n, self.family)


# Cases are many, but few repeats leave few different shares.
@lru_cache(maxsize=1024)
def _share(good: int, n: int) -> Fraction:
    return Fraction(good, n)


@lru_cache(maxsize=4096)
def _difference(passed0: int, n0: int, passed1: int, n1: int) -> Fraction:
    return Fraction(passed1 * n0 - passed0 * n1, n0 * n1)


def _check(case: str, good: int, n: int) -> None:
    if not 0 <= good <= n:
        raise ValueError(f"{case}: {good} of {n} runs is impossible")


def mean(values: Sequence[Fraction]) -> Fraction:
    """Exact mean; `ZeroDivisionError` when empty."""
    if len(values) == 1:
        return values[0]
    common = math.lcm(*(value.denominator for value in values))
    return Fraction(sum(value.numerator * (common // value.denominator) for value in values), common * len(values))


def cluster_means(shares: Iterable[tuple[str | None, Fraction]]) -> list[Fraction]:
    """One mean per family, in order of first appearance; a value without family is a cluster of its own.

    Cases built on one source (several prompts of one runbook entry) are no independent evidence about new cases.
    """
    clusters: dict[object, list[Fraction]] = {}
    for position, (family, value) in enumerate(shares):
        clusters.setdefault(position if family is None else family, []).append(value)
    return [values[0] if len(values) == 1 else mean(values) for values in clusters.values()]
