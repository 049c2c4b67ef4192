"""How the rules behave where the truth is known: populations of cases, the coverage study, and power.

A population draws the pass probabilities of cases without and with the skill; runs are independent given the case. The seven
settings are invented shapes, from harmless to nasty; after a first real evaluation put measured ones in their place.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtr

from pytest_skilleval.core.statistics.batch import Batch, bbb_covers, sign_flip_p, within_case_p
from pytest_skilleval.core.statistics.paired import FEWEST_CASES

Floats = npt.NDArray[np.float64]
Shape = tuple[int, int]
Population = Callable[[np.random.Generator, Shape], tuple[Floats, Floats]]
"""Draws pass probabilities (without, with) of the given shape (data sets, cases)."""


def beta_population(rate0: float, rate1: float, spread: float, correlation: float = 0.6) -> Population:
    """Beta margins with means `rate0` and `rate1`, tied by a normal copula.

    `spread` is alpha + beta: 2 gives an intraclass correlation of 1/3, .3 one of .77. Rates lie strictly within (0, 1).
    """

    def draw(rng: np.random.Generator, shape: Shape) -> tuple[Floats, Floats]:
        first = rng.standard_normal(shape)
        second = correlation * first + np.sqrt(1 - correlation**2) * rng.standard_normal(shape)
        return _beta_quantile(rate0, spread, ndtr(first)), _beta_quantile(rate1, spread, ndtr(second))

    return draw


def shift(effect: float) -> Population:
    """The same effect in every case, whatever its rate."""

    def draw(rng: np.random.Generator, shape: Shape) -> tuple[Floats, Floats]:
        without = rng.uniform(0.15, 0.85 - effect, shape)
        return without, without + effect

    return draw


def hetero(effect: float) -> Population:
    """Effects that vary over cases (intraclass correlation 1/3)."""
    return beta_population(0.5 - effect / 2, 0.5 + effect / 2, 2)


def bimodal(effect: float) -> Population:
    """Cases that nearly always or nearly never pass (intraclass correlation .77)."""
    return beta_population(0.5 - effect / 2, 0.5 + effect / 2, 0.3)


def ceiling(effect: float) -> Population:
    """With the skill every run passes."""

    def draw(rng: np.random.Generator, shape: Shape) -> tuple[Floats, Floats]:
        without = _beta_quantile(1 - effect, 1, rng.uniform(size=shape)) if effect else np.ones(shape)
        return without, np.ones(shape)

    return draw


def near(effect: float) -> Population:
    """Both arms near the ceiling."""
    return beta_population(0.97 - effect, 0.97, 3)


def rescue(effect: float) -> Population:
    """Few cases go from hardly ever to nearly always passing, the others pass anyway."""

    def draw(rng: np.random.Generator, shape: Shape) -> tuple[Floats, Floats]:
        return np.where(rng.uniform(size=shape) < effect / 0.9, 0.05, 0.95), np.full(shape, 0.95)

    return draw


def harm(effect: float) -> Population:
    """Nine cases in ten gain a little, one loses nearly all: skewed, and at effect 0 a mean of 0 that hides it."""
    gain = (effect + 0.09) / 0.9

    def draw(rng: np.random.Generator, shape: Shape) -> tuple[Floats, Floats]:
        harmed, without = rng.uniform(size=shape) < 0.1, rng.uniform(0.15, 0.85 - gain, shape)
        return np.where(harmed, 0.95, without), np.where(harmed, 0.05, without + gain)

    return draw


SETTINGS: Mapping[str, Callable[[float], Population]] = {
    "shift": shift,
    "hetero": hetero,
    "bimodal": bimodal,
    "ceiling": ceiling,
    "near": near,
    "rescue": rescue,
    "harm": harm,
}
UNTOUCHED = frozenset({"shift", "ceiling", "rescue"})
"""Settings in which effect 0 means that not one case is affected."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Over simulated evaluations: how often the BBB interval covers the effect, and how often each claim is made."""

    covered: float
    shown_for_new_cases: float
    changed_these_cases: float
    too_few_moved: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the coverage study."""

    setting: str
    cases: int
    repeats: int
    effect: float
    rates: Rates


@dataclass(frozen=True, slots=True)
class Summary:
    """The worst cells: lowest coverage, highest rate of false claims of either kind (each must be at most alpha)."""

    cells: int
    least_coverage: float
    mean_coverage: float
    false_shown: float
    false_changed: float

    @property
    def honest(self) -> bool:
        """Whether coverage is at least .93 and false claims at most .05 in every cell."""
        return self.least_coverage >= 0.93 and max(self.false_shown, self.false_changed) <= 0.05


def draw_batch(population: Population, cases: int, repeats: int, datasets: int, rng: np.random.Generator) -> Batch:
    """Simulated outcomes of `datasets` evaluations."""
    without, with_ = population(rng, (datasets, cases))
    return Batch(rng.binomial(repeats, without), rng.binomial(repeats, with_), repeats)


def rates(batch: Batch, effect: float, alpha: float = 0.05) -> Rates:
    """Apply the rules of `verdict` to each data set; `effect` is the truth about the population."""
    few = batch.moved < FEWEST_CASES
    covers_zero = bbb_covers(batch, 0.0, 1 - alpha)
    shown = ~few & ~covers_zero & (sign_flip_p(batch) <= alpha + 1e-12)
    changed = within_case_p(batch) <= alpha + 1e-12
    covered = bbb_covers(batch, effect, 1 - alpha) if effect else covers_zero
    return Rates(float(covered.mean()), float(shown.mean()), float(changed.mean()), float(few.mean()))


def power(
    population: Population, effect: float, *, cases: int, repeats: int, random_seed: int, datasets: int = 2000, alpha: float = 0.05
) -> Rates:
    """Chance of each claim in an evaluation of this size on such cases (Monte-Carlo error at most .011 at 2000)."""
    rng = np.random.default_rng([random_seed, cases, repeats])
    return rates(draw_batch(population, cases, repeats, datasets, rng), effect, alpha)


def coverage_study(
    *,
    settings: Iterable[str] = tuple(SETTINGS),
    cases: Sequence[int] = (5, 8, 12, 20),
    repeats: Sequence[int] = (1, 3, 5),
    effects: Sequence[float] = (0.0, 0.1, 0.3),
    datasets: int = 4000,
    random_seed: int = 1,
) -> tuple[Cell, ...]:
    """Coverage and false claims in every cell; each has its own random numbers, so a part equals the same part of the whole."""
    cells = []
    for setting, k, r, effect in itertools.product(settings, cases, repeats, effects):
        seed = [random_seed, list(SETTINGS).index(setting), k, r, round(effect * 1000)]
        batch = draw_batch(SETTINGS[setting](effect), k, r, datasets, np.random.default_rng(seed))
        cells.append(Cell(setting, k, r, effect, rates(batch, effect)))
    return tuple(cells)


def summary(cells: Sequence[Cell]) -> Summary:
    """The worst of the study; false claims are those at effect 0."""
    null = [cell for cell in cells if cell.effect == 0]
    covered = [cell.rates.covered for cell in cells]
    return Summary(
        len(cells),
        min(covered),
        sum(covered) / len(covered),
        max((cell.rates.shown_for_new_cases for cell in null), default=0.0),
        max((cell.rates.changed_these_cases for cell in null if cell.setting in UNTOUCHED), default=0.0),
    )


def table(cells: Sequence[Cell]) -> str:
    """The study as a Markdown table: one row per number of cases, and one over all."""
    sizes = sorted({cell.cases for cell in cells})
    groups = [(str(k), [cell for cell in cells if cell.cases == k]) for k in sizes] + [("all", list(cells))]
    rows = [f"| {name} | {_row(summary(group))} |" for name, group in groups]
    head = "| cases | cells | least coverage | mean coverage | falsely shown for new cases | falsely changed these cases |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the coverage study; 1 if a cell covers less than .93 or a false claim is more frequent than .05."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--datasets", type=int, default=4000, help="simulated evaluations per cell")
    parser.add_argument("--random-seed", type=int, default=1)
    options = parser.parse_args(arguments)
    cells = coverage_study(datasets=options.datasets, random_seed=options.random_seed)
    sys.stdout.write(table(cells))
    return 0 if summary(cells).honest else 1


def _row(worst: Summary) -> str:
    figures = (worst.least_coverage, worst.mean_coverage, worst.false_shown, worst.false_changed)
    return " | ".join([str(worst.cells), *(f"{figure:.4f}" for figure in figures)])


def _beta_quantile(mean: float, spread: float, probability: Floats) -> Floats:
    return np.asarray(betaincinv(mean * spread, (1 - mean) * spread, probability), dtype=np.float64)


if __name__ == "__main__":
    sys.exit(main())
