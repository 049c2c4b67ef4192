"""One contrast under several models (or agents): their average, and each one's effect drawn towards it.

All models run the same cases, so their effects share the luck of the draw of cases. The average over models is therefore taken
case by case; what sets one model apart is judged by how its case differences depart from those averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

import numpy as np
import numpy.typing as npt

from pytest_skilleval.core.statistics.paired import NO_PAIR, NewCases, from_differences
from pytest_skilleval.core.statistics.values import LEVEL, Estimate, Interval, cluster_means

Floats = npt.NDArray[np.float64]
FEWEST_MODELS = 4
_FEWEST_CASES = 3
_METHOD = "partial pooling over models (REML); n = cases"


@dataclass(frozen=True, slots=True)
class Pooled:
    """Effects of several models on the cases they all ran.

    ``average`` answers whether the skill helps these models on new cases; ``models`` holds each one's effect, drawn towards the
    average; ``between`` is the variance of true effects between models (None: can't be told).
    """

    cases: tuple[str, ...]
    average: NewCases
    models: Mapping[str, Estimate]
    between: float | None


def pool(
    differences: Mapping[str, Mapping[str, Fraction]], families: Mapping[str, str | None] | None = None, level: float = LEVEL
) -> Pooled:
    """Pool the case differences of each model (model -> case -> difference) over the cases common to all.

    Parameters
    ----------
    families
        Family per case, for the average (see `values.cluster_means`).

    Notes
    -----
    Partial pooling needs 4 models (fewer don't tell how much models differ), 3 common cases and some noise to weigh; else each
    Estimate says why not. Its intervals carry the draw of cases, the model's own noise and, by Morris' correction, the error of
    the variance between models. For claims about single models use Holm over their own p values, not these.

    References
    ----------
    Morris 1983, Journal of the American Statistical Association 78:47. Raudenbush 2009, in The Handbook of Research Synthesis.
    """
    common = sorted(set.intersection(*(set(rows) for rows in differences.values()))) if differences else []
    by_case = [sum((rows[case] for rows in differences.values()), Fraction(0)) / len(differences) for case in common]
    names = [(families or {}).get(case) for case in common]
    average = from_differences(cluster_means(zip(names, by_case, strict=True)), level)
    table = np.array([[float(rows[case]) for case in common] for rows in differences.values()])
    models, between = _shrink(list(differences), table, level)
    return Pooled(tuple(common), average, models, between)


def reml(effects: Sequence[float], variances: Sequence[float]) -> float:
    """Variance between true effects by restricted maximum likelihood, for effects with known error variances (all above 0)."""
    from scipy.optimize import minimize_scalar

    observed, noise = np.asarray(effects, dtype=float), np.asarray(variances, dtype=float)

    def deviance(between: float) -> float:
        weights = 1 / (noise + between)
        centre = weights @ observed / weights.sum()
        return float(-np.log(weights).sum() + np.log(weights.sum()) + weights @ (observed - centre) ** 2)

    most = 4 * float(np.var(observed)) + float(noise.max())
    found = minimize_scalar(deviance, bounds=(0.0, most), method="bounded", options={"xatol": 1e-10})
    return 0.0 if deviance(0.0) <= float(found.fun) else float(found.x)


def _shrink(names: list[str], table: Floats, level: float) -> tuple[dict[str, Estimate], float | None]:
    """Morris' empirical Bayes estimates from case differences of shape (models, cases)."""
    reason = _why_not(table)
    if reason:
        return {name: _unpooled(row.tolist(), reason, level) for name, row in zip(names, table, strict=True)}, None
    effects, (models, cases) = table.mean(axis=1), table.shape
    noise, luck = _variances(table)
    between = reml(effects.tolist(), [noise] * models)
    shrinkage = (models - 3) / (models - 1) * noise / (noise + between)
    departures = effects - effects.mean()
    spread = luck + noise * (1 - (models - 1) / models * shrinkage) + 2 / (models - 3) * (shrinkage * departures) ** 2
    values = effects.mean() + (1 - shrinkage) * departures
    radii = _t(level, cases - 1) * np.sqrt(spread)
    rows = zip(names, values.tolist(), radii.tolist(), strict=True)
    return {name: Estimate(value, _within(value, radius, level), cases, _METHOD) for name, value, radius in rows}, between


def _why_not(table: Floats) -> str | None:
    if not table.size:
        return NO_PAIR
    if table.shape[0] < FEWEST_MODELS or table.shape[1] < _FEWEST_CASES:
        return f"partial pooling needs {FEWEST_MODELS} models and {_FEWEST_CASES} common cases"
    return None if _variances(table)[0] > 1e-12 else "models differ alike in every case: no noise to weigh"


def _variances(table: Floats) -> tuple[float, float]:
    """Error variances of a model's departure from the average (noise), and of the average by the draw of cases (luck)."""
    models, cases = table.shape
    residual = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    noise = float(np.sum(residual**2)) / ((models - 1) * (cases - 1) * cases)
    return noise, max(0.0, float(np.var(table.mean(axis=0), ddof=1)) / cases - noise / models)


def _unpooled(row: list[float], reason: str, level: float) -> Estimate:
    return Estimate(fmean(row) if row else None, Interval.unknown(reason, "REML, Morris", level), len(row), "mean of cases; n = cases")


def _within(value: float, radius: float, level: float) -> Interval:
    value = max(-1.0, min(1.0, value))
    return Interval(max(-1.0, value - radius), min(1.0, value + radius), level, "REML, Morris")


def _t(level: float, freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, freedom))
