"""Intervals for the mean of a bounded quantity over few cases: BBB and Gaffke.

Both are quantiles of a Dirichlet-weighted sum of the observed values and pseudo-values at the bounds, computed exactly:
no random numbers, so the same data always give the same report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_skilleval.core.statistics.values import LEVEL, Interval

Floats = npt.NDArray[np.float64]


def bbb(values: Sequence[float], lower: float = -1.0, upper: float = 1.0, level: float = LEVEL) -> Interval:
    """Bounded Bayesian bootstrap: Dirichlet weight 1 per value, 1/2 on each bound; central quantiles.

    Parameters
    ----------
    values
        One value per case, within [lower, upper]; `ValueError` otherwise, or when empty.

    Notes
    -----
    Simulated coverage of the 95 % interval of the case population's mean (7 settings, K = 3 to 100 cases, 1 to 10 repeats):
    minimum .932; over adversarial 2-4-point distributions minimum .88. Never of zero width. On 0/1 data it is the
    Jeffreys interval, without the pseudo-values it would be Rubin's Bayesian bootstrap. It shrinks the centre by
    K/(K + 1): print the plain mean as the estimate.

    References
    ----------
    Rubin 1981, Annals of Statistics 9:130. Brown, Cai and DasGupta 2001, Statistical Science 16:101 (Jeffreys).
    """
    data = _checked(values, lower, upper)
    tail = (1 - level) / 2
    atoms, weights = _merge(np.append(data, [lower, upper]), np.append(np.ones(len(data)), [0.5, 0.5]))
    low = lower if np.all(data == lower) else quantile(atoms, weights, tail)
    high = upper if np.all(data == upper) else quantile(atoms, weights, 1 - tail)
    return Interval(low, high, level, "BBB")


def gaffke(values: Sequence[float], lower: float = -1.0, upper: float = 1.0, level: float = LEVEL) -> Interval:
    """Gaffke's interval: like `bbb`, with one whole pseudo-value at the bound in question; for release gates.

    Notes
    -----
    Coverage is proven for two-point data and conjectured otherwise (simulated minimum .958). On 0/1 data it is the
    Clopper-Pearson interval. About 38 % wider than BBB at 8 cases.

    References
    ----------
    Learned-Miller and Thomas 2019, arXiv 1905.06208.
    """
    data = _checked(values, lower, upper)
    tail = (1 - level) / 2
    ones = np.ones(len(data) + 1)
    low = quantile(*_merge(np.append(data, lower), ones), tail)
    high = quantile(*_merge(np.append(data, upper), ones), 1 - tail)
    return Interval(low, high, level, "Gaffke")


def cdf(t: float, atoms: Floats, weights: Floats) -> float:
    """P(sum D_j x_j <= t) for D ~ Dirichlet(weights), atoms x of shape (J,), by Gil-Pelaez inversion.

    Notes
    -----
    sum D_j x_j <= t iff sum G_j (x_j - t) <= 0 with independent Gamma(weight_j), whose characteristic function is a
    product; with u = e^w the integrand is analytic in a strip, so the trapezoid rule converges exponentially. Exact to
    1e-11 between the .1 and the 99.9 % quantile; many standard deviations away the integrand oscillates too fast.
    """
    distance = atoms - t
    present = distance != 0
    scale, mass = np.abs(distance[present]), weights[present]
    step = 0.1 if weights.sum() < 50 else 0.05
    nodes = np.exp(_grid(scale, mass, step))
    arguments = np.outer(nodes, scale)
    phase = np.arctan(arguments) @ (mass * np.sign(distance[present]))
    log_size = np.log1p(np.square(arguments, out=arguments), out=arguments) @ mass
    return float(0.5 - step / np.pi * np.sum(np.sin(phase) * np.exp(-0.5 * log_size)))


def quantile(atoms: Floats, weights: Floats, probability: float) -> float:
    """The `probability` quantile of a Dirichlet-weighted sum of atoms (shape (J,)).

    Searched where Cantelli's inequality says it is, so that `cdf` is asked only where it is exact.
    """
    least, most = float(atoms.min()), float(atoms.max())
    if least == most:
        return least
    from scipy.optimize import brentq

    total = float(weights.sum())
    centre = float(weights @ atoms) / total
    spread = math.sqrt(float(weights @ (atoms - centre) ** 2) / (total * (total + 1)))
    odds = math.sqrt(probability / (1 - probability))

    def excess(t: float) -> float:
        return (0.0 if t <= least else 1.0 if t >= most else cdf(t, atoms, weights)) - probability

    low, high = max(least, centre - spread / odds), min(most, centre + spread * odds)
    return float(brentq(excess, low, high, xtol=1e-13 * (most - least), rtol=8.9e-16))


_NEGLIGIBLE = 34.5
_LAST = 45.0


def _grid(scale: Floats, mass: Floats, step: float) -> Floats:
    """The grid outside of which the integrand is below exp(-34.5) = 1e-15."""
    first = -_NEGLIGIBLE - float(np.log(mass @ scale))
    steps: Floats = np.arange(first, _LAST, step)
    decay = np.log1p(np.outer(np.exp(steps[::10]), scale) ** 2) @ mass / 2
    enough = np.flatnonzero(decay > _NEGLIGIBLE)
    kept: Floats = steps[: 10 * int(enough[0]) + 1] if enough.size else steps
    return kept


def _merge(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    atoms, place = np.unique(values, return_inverse=True)
    merged: Floats = np.bincount(place, weights=weights).astype(np.float64)
    return atoms, merged


def _checked(values: Sequence[float], lower: float, upper: float) -> Floats:
    data = np.asarray([float(value) for value in values])
    if not data.size:
        raise ValueError("no values")
    if not np.all((data >= lower) & (data <= upper)):
        raise ValueError(f"values must lie in [{lower}, {upper}]")
    return data
