"""Intervals for the mean of a bounded quantity over few cases: BBB and Gaffke.

Both are quantiles of a Dirichlet-weighted sum of the observed values and pseudo-values at the bounds, computed exactly:
no random numbers, so the same data always give the same report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

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
    product; with u = e^w the integrand is analytic in a strip, so the trapezoid rule converges exponentially, the slower the
    greater the weights. Exact to 1e-11 between the .1 and the 99.9 % quantile (against a step of .015, 3 to 1,000 cases of
    several kinds); many standard deviations away the integrand oscillates too fast.
    """
    distance = atoms - t
    present = distance != 0
    scale, mass = np.abs(distance[present]), weights[present]
    step = min(0.2, 0.7 / math.sqrt(weights.sum()))
    nodes = np.exp(_grid(scale, mass, step))
    before = nodes[0] / math.expm1(step) * (weights @ distance)
    arguments = np.outer(nodes, scale)
    phase = weighted(np.arctan(arguments), mass * np.sign(distance[present]))
    log_size = weighted(np.log1p(np.square(arguments, out=arguments), out=arguments), mass)
    return float(0.5 - step / np.pi * (before + np.sum(np.sin(phase) * np.exp(-0.5 * log_size))))


def weighted(rows: npt.NDArray[np.float64] | npt.NDArray[np.uint16], weights: Floats) -> Floats:
    """The weighted sum of each row, in one thread.

    Like ``rows @ weights``, which hands a sum of some thousand terms to several threads: they wait for each other longer than they
    compute, and the last digits then depend on the number of cores.
    """
    sums: Floats = np.einsum("ij,j->i", rows, weights)
    return sums


def quantile(atoms: Floats, weights: Floats, probability: float) -> float:
    """The `probability` quantile of a Dirichlet-weighted sum of atoms (shape (J,)).

    Searched where Cantelli's inequality says it is, so that `cdf` is asked only where it is exact; from where Cornish and Fisher's first
    correction for skewness puts it.
    """
    least, most = float(atoms.min()), float(atoms.max())
    return least if least == most else _quantile(atoms.tobytes(), weights.tobytes(), probability)


# Several figures of one report ask for the same sum.
@lru_cache(maxsize=512)
def _quantile(atoms_data: bytes, weights_data: bytes, probability: float) -> float:
    from scipy.optimize import brentq
    from scipy.special import ndtri

    atoms, weights = np.frombuffer(atoms_data), np.frombuffer(weights_data)
    least, most, total = float(atoms[0]), float(atoms[-1]), float(weights.sum())
    centre = float(weights @ atoms) / total
    away = atoms - centre
    spread = math.sqrt(float(weights @ away**2) / (total * (total + 1)))
    skewness = 2 * float(weights @ away**3) / (total * (total + 1) * (total + 2) * spread**3)
    odds, wanted = math.sqrt(probability / (1 - probability)), float(ndtri(probability))
    low, high = max(least, centre - spread / odds), min(most, centre + spread * odds)

    def excess(t: float) -> float:
        """In standard deviations: nearly a straight line, so that few steps find its zero."""
        chance = 0.0 if t <= least else 1.0 if t >= most else cdf(t, atoms, weights)
        return float(ndtri(min(max(chance, _RAREST), 1 - _RAREST))) - wanted

    found = _secant(excess, centre + spread * (wanted + skewness * (wanted**2 - 1) / 6), spread)
    if found is not None and low <= found <= high:
        return found
    return float(brentq(excess, low, high, xtol=1e-13 * (most - least), rtol=8.9e-16))


_RAREST = 1e-12
_STEPS = 12


def _secant(excess: Callable[[float], float], start: float, spread: float) -> float | None:
    """The zero of a rising function with a slope of about 1 / `spread`, to 1e-11 spreads; None when it does not settle."""
    before, here = start, start
    error, slope = excess(start), 1 / spread
    for _ in range(_STEPS):
        before, here = here, here - error / slope
        if abs(here - before) <= 1e-8 * spread:
            return here
        last, error = error, excess(here)
        slope = (error - last) / (here - before)
        if slope <= 0 or not math.isfinite(slope):
            return None
    return None


_SMALL = 11.5
_NEGLIGIBLE = 34.5
_LAST = 45.0


def _grid(scale: Floats, mass: Floats, step: float) -> Floats:
    """The grid from where sum mass scale u is exp(-11.5) to where the integrand is below exp(-34.5) = 1e-15.

    Before it the integrand is u times a constant, to the cube of exp(-11.5) = 1e-5: `cdf` adds it up as a geometric series.
    """
    first = -_SMALL - float(np.log(mass @ scale))
    steps: Floats = np.arange(first, _LAST, step)
    decay = weighted(np.log1p(np.outer(np.exp(steps[::10]), scale) ** 2), mass) / 2
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
