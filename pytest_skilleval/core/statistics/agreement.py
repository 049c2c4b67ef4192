"""Judge against human: agreement, sensitivity and specificity, and the rate corrected for judge error."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pytest_skilleval.core.statistics.proportions import NO_RUNS, wilson
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval

Table = Sequence[Sequence[int]]
_Hits = tuple[float, float]

NO_LABELS = "no labels"
_CORRECTED = "Rogan-Gladen; n = runs"
ONE_LABEL = "only one label was ever given: chance agreement is complete"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often the judge sees what humans see: of human passes (sensitivity) and of human fails (specificity)."""

    sensitivity: Estimate
    specificity: Estimate

    @property
    def youden(self) -> float | None:
        """Sensitivity + specificity - 1: the factor by which equal judge error shrinks a difference."""
        if self.sensitivity.value is None or self.specificity.value is None:
            return None
        return self.sensitivity.value + self.specificity.value - 1

    def trusted(self, least: float = 0.8) -> bool:
        """Whether both lower limits reach `least`: the gate on a judge."""
        lows = (self.sensitivity.interval.low, self.specificity.interval.low)
        return all(low is not None and low >= least for low in lows)


def calibration(table: Table, level: float = LEVEL) -> Calibration:
    """Sensitivity and specificity with Wilson intervals, from [[a, b], [c, d]]: judge rows, human columns, pass first."""
    (a, b), (c, d) = table
    return Calibration(_share(a, a + c, "human passes", level), _share(d, b + d, "human fails", level))


def cohens_kappa(table: Table, level: float = LEVEL) -> Estimate:
    """Cohen's kappa of two raters, from a square table of counts.

    Notes
    -----
    Collapses when one label is rare (55/3/2/0 gives -.04): report it, never gate on it.
    """
    n = _total(table)
    if n == 0 or _single_label(table):
        return Estimate(None, Interval.unknown(ONE_LABEL if n else NO_LABELS, "normal", level), n, "Cohen's kappa; n = labels")
    from statsmodels.stats.inter_rater import cohens_kappa as kappa

    result = kappa(table)
    return Estimate(float(result.kappa), _normal(result.kappa, result.std_kappa, level), n, "Cohen's kappa; n = labels")


def gwet_ac1(table: Table, level: float = LEVEL) -> Estimate:
    """Gwet's AC1 of two raters, from a square table of counts; its standard error is Gwet's for a sample of subjects.

    Notes
    -----
    Stable when one label is rare, and blind to a judge who never sees it: read it with the specificity.

    References
    ----------
    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29.
    """
    n, q = _total(table), len(table)
    if n == 0:
        return Estimate(None, Interval.unknown(NO_LABELS, "normal", level), 0, "Gwet's AC1; n = labels")
    p = [[cell / n for cell in row] for row in table]
    share = [(sum(p[k]) + sum(row[k] for row in p)) / 2 for k in range(q)]
    agreed = sum(p[k][k] for k in range(q))
    chance = sum(s * (1 - s) for s in share) / (q - 1)
    value = (agreed - chance) / (1 - chance)
    first = sum(p[k][k] * (1 - share[k]) for k in range(q)) / (q - 1) - agreed * chance
    second = sum(p[k][m] * (1 - (share[k] + share[m]) / 2) ** 2 for k in range(q) for m in range(q)) / (q - 1) ** 2 - chance**2
    variance = (agreed * (1 - agreed) - 4 * (1 - agreed) * first + 4 * (1 - agreed) ** 2 * second) / (n * (1 - chance) ** 2)
    return Estimate(value, _normal(value, math.sqrt(max(0.0, variance)), level), n, "Gwet's AC1; n = labels")


def krippendorff_alpha(units: Sequence[Sequence[Hashable | None]], level: float = LEVEL) -> Estimate:
    """Krippendorff's alpha for nominal labels of any number of raters; None is a missing label.

    Parameters
    ----------
    units
        One row of labels per judged thing; rows with fewer than two labels don't enter.

    Notes
    -----
    Interval by jackknife over units with Student's t.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability. Efron and Stein 1981, Annals of Statistics 9:586.
    """
    rows = [counts for unit in units if (counts := Counter(label for label in unit if label is not None)).total() > 1]
    value = _alpha(rows)
    return Estimate(value, _jackknife(value, rows, level), len(rows), "Krippendorff's alpha; n = units")


def rogan_gladen(good: float, n: float, judge: Calibration, level: float = LEVEL) -> Estimate:
    """Pass rate corrected for judge error, with Lee's interval that carries the calibration's own error.

    Parameters
    ----------
    good, n
        Passes by the judge of (effective) runs.
    judge
        From human labels; its ``n`` are the numbers of human passes and fails.

    References
    ----------
    Rogan and Gladen 1978, American Journal of Epidemiology 107:71. Lee et al. 2025, arXiv 2511.21140.
    """
    sens, spec = judge.sensitivity, judge.specificity
    if sens.value is None or spec.value is None or n <= 0:
        return Estimate(None, Interval.unknown(NO_RUNS if n <= 0 else NO_LABELS, "Lee", level), n, _CORRECTED)
    youden = sens.value + spec.value - 1
    if youden <= 0:
        return Estimate(None, Interval.unknown("the judge is no better than chance", "Lee", level), n, _CORRECTED)
    value = min(1.0, max(0.0, (good / n + spec.value - 1) / youden))
    return Estimate(value, _lee((good, n), (sens.value * sens.n, sens.n), (spec.value * spec.n, spec.n), level), n, _CORRECTED)


def corrected_difference(difference: float, judge: Calibration) -> float | None:
    """A difference in pass rate freed of equal judge error in both arms (divided by Youden's J), None when it can't be."""
    youden = judge.youden
    return None if youden is None or youden <= 0 else difference / youden


def _lee(passes: _Hits, seen_passes: _Hits, seen_fails: _Hits, level: float) -> Interval:
    z = _z(level)
    n, m1, m0 = passes[1] + z**2, seen_passes[1] + 2, seen_fails[1] + 2
    p, sens, spec = (passes[0] + z**2 / 2) / n, (seen_passes[0] + 1) / m1, (seen_fails[0] + 1) / m0
    youden = sens + spec - 1
    if youden <= 0:
        return Interval.unknown("the judge is hardly better than chance", "Lee", level)
    theta = (p + spec - 1) / youden
    noise1, noise0 = sens * (1 - sens) / m1, spec * (1 - spec) / m0
    centre = theta + 2 * z**2 * (theta * noise1 - (1 - theta) * noise0)
    radius = z * math.sqrt(p * (1 - p) / n + (1 - theta) ** 2 * noise0 + theta**2 * noise1) / youden
    low, high = (min(1.0, max(0.0, limit)) for limit in (centre - radius, centre + radius))
    if low == high:
        return Interval.unknown("the correction leaves the range of a rate", "Lee", level)
    return Interval(low, high, level, "Lee")


def _alpha(rows: Sequence[Counter[Hashable]]) -> float | None:
    labels = sum(rows, Counter[Hashable]())
    n = labels.total()
    expected = n * n - sum(count * count for count in labels.values())
    if not expected:
        return None
    observed = sum((row.total() ** 2 - sum(count * count for count in row.values())) / (row.total() - 1) for row in rows)
    return 1 - (n - 1) * observed / expected


def _jackknife(value: float | None, rows: Sequence[Counter[Hashable]], level: float) -> Interval:
    if value is None:
        return Interval.unknown(ONE_LABEL if rows else NO_LABELS, "jackknife", level)
    left_out = [_alpha([*rows[:i], *rows[i + 1 :]]) for i in range(len(rows))]
    known = [other for other in left_out if other is not None]
    if len(known) < max(3, len(rows)) or len(set(known)) < 2:
        return Interval.unknown("too few or too equal units for a jackknife", "jackknife", level)
    from scipy.stats import t

    size, centre = len(known), sum(known) / len(known)
    radius = float(t.ppf((1 + level) / 2, size - 1)) * math.sqrt((size - 1) / size * sum((v - centre) ** 2 for v in known))
    return Interval(value - radius, min(1.0, value + radius), level, "jackknife")


def _share(good: int, n: int, of: str, level: float) -> Estimate:
    if n == 0:
        return Estimate(None, Interval.unknown(f"no {of} among the labels", "Wilson", level), 0, f"share; n = {of}")
    return Estimate(good / n, wilson(good, n, level), n, f"share; n = {of}")


def _normal(value: float, error: float, level: float) -> Interval:
    if not error > 0:
        return Interval.unknown("complete agreement leaves no error to estimate", "normal", level)
    radius = _z(level) * error
    return Interval(max(-1.0, float(value - radius)), min(1.0, float(value + radius)), level, "normal")


def _z(level: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf((1 + level) / 2))


def _total(table: Table) -> int:
    if any(len(row) != len(table) for row in table):
        raise ValueError("the table must be square: one rater's labels in rows, the other's in columns")
    return sum(sum(row) for row in table)


def _single_label(table: Table) -> bool:
    used = [k for k in range(len(table)) if sum(table[k]) or sum(row[k] for row in table)]
    return len(used) < 2
