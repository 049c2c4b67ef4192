"""The two tests and the BBB distribution for many balanced data sets at once: the engine of simulations.

A data set of K cases with R repeats per arm is described by how many cases fall in each class (of difference, of passes in
both arms), so characteristic functions of all data sets are one matrix product. Agrees with `bounded` (to 1e-8, which is
plenty for counting) and `permutation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NODES = np.exp(np.arange(-25.0, 20.0, 0.1))
_STEP = 0.1


@dataclass(frozen=True, slots=True)
class Batch:
    """N data sets of K cases: runs passed of `repeats` in arms 0 and 1, each of shape (N, K)."""

    passed0: Ints
    passed1: Ints
    repeats: int

    @property
    def moved(self) -> Ints:
        """Cases with a difference, shape (N,)."""
        return np.asarray(np.count_nonzero(self.passed0 != self.passed1, axis=1), dtype=np.int64)


def bbb_cdf(batch: Batch, t: float) -> Floats:
    """P(mean <= t) of each data set's BBB distribution on [-1, 1], shape (N,)."""
    weights = _class_counts(batch.passed1 - batch.passed0 + batch.repeats, 2 * batch.repeats + 1)
    weights[:, [0, -1]] += 0.5
    distance = np.arange(-batch.repeats, batch.repeats + 1) / batch.repeats - t
    arguments = np.outer(distance, _NODES)
    phase, log_size = weights @ np.arctan(arguments), weights @ np.log1p(arguments**2)
    return np.asarray(0.5 - _STEP / np.pi * np.sum(np.sin(phase) * np.exp(-0.5 * log_size), axis=1), dtype=np.float64)


def bbb_covers(batch: Batch, t: float, level: float = 0.95) -> npt.NDArray[np.bool_]:
    """Whether each data set's BBB interval contains t, shape (N,)."""
    below, tail = bbb_cdf(batch, t), (1 - level) / 2
    at_top = np.all(batch.passed1 - batch.passed0 == batch.repeats, axis=1)
    at_bottom = np.all(batch.passed0 - batch.passed1 == batch.repeats, axis=1)
    return np.asarray(((below >= tail) | at_bottom) & ((below <= 1 - tail) | at_top), dtype=np.bool_)


def sign_flip_p(batch: Batch) -> Floats:
    """Two-sided sign-flip p of each data set, shape (N,)."""
    differences = batch.passed1 - batch.passed0
    counts = _class_counts(np.abs(differences), batch.repeats + 1)
    size = 2 * batch.repeats * differences.shape[1] + 1
    angles = 2 * np.pi * np.arange(size) / size
    log_waves = np.log(np.cos(np.outer(np.arange(batch.repeats + 1), angles)).astype(complex))
    chance = np.fft.fft(np.exp(counts @ log_waves), axis=1).real / size
    centred = np.minimum(np.arange(size), size - np.arange(size))
    return _tail(chance, centred, np.abs(differences.sum(axis=1)))


def within_case_p(batch: Batch) -> Floats:
    """Two-sided within-case permutation p of each data set, shape (N,)."""
    repeats, both = batch.repeats, batch.passed0 + batch.passed1
    counts = _class_counts(both, 2 * repeats + 1)
    size = 2 * repeats * both.shape[1] + 1
    passes = np.arange(repeats + 1)
    pmf = hypergeom.pmf(passes, 2 * repeats, np.arange(2 * repeats + 1)[:, None], repeats)
    doubled = 2 * passes[None, :] - np.arange(2 * repeats + 1)[:, None]
    angles = 2 * np.pi * np.arange(size) / size
    waves = np.einsum("tx,txk->tk", pmf, np.exp(1j * doubled[:, :, None] * angles))
    chance = np.fft.fft(np.exp(counts @ np.log(waves)), axis=1).real / size
    centred = np.minimum(np.arange(size), size - np.arange(size))
    return _tail(chance, centred, np.abs((batch.passed1 - batch.passed0).sum(axis=1)))


def _tail(chance: Floats, distance: Ints, observed: Ints) -> Floats:
    return np.asarray(np.clip(np.sum(chance * (distance >= observed[:, None]), axis=1), 0, 1), dtype=np.float64)


def _class_counts(classes: Ints, number: int) -> Floats:
    rows = np.arange(len(classes))[:, None] * number
    return np.bincount((classes + rows).ravel(), minlength=len(classes) * number).reshape(len(classes), number).astype(np.float64)
