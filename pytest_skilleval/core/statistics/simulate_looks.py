"""What planned looks save and cost: the rule by which sessions end early, where the truth is known.

Run it with ``python -m pytest_skilleval.core.statistics.simulate_looks``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_skilleval.core.statistics.batch import Batch, bbb_covers, sign_flip_p, within_case_p
from pytest_skilleval.core.statistics.paired import FEWEST_CASES
from pytest_skilleval.core.statistics.sequential import LOOKS, Look
from pytest_skilleval.core.statistics.simulate import SETTINGS, UNTOUCHED, Floats, Population

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class LooksRates:
    """Over simulated sessions that stop at the first look which shows a change on these cases.

    ``changed`` and ``shown`` are the shares that by each look have claimed a change on these cases, or an effect for new
    cases (claims are made where a session ends, at that look's level); ``covered`` of the 95 % BBB intervals there contain
    the effect. ``fixed`` is the share of sessions of all repeats that claim a change at .05.
    """

    changed: tuple[float, ...]
    shown: tuple[float, ...]
    mean_repeats: float
    covered: float
    fixed: float


def looks_rates(
    population: Population,
    effect: float,
    *,
    cases: int,
    rng: np.random.Generator,
    datasets: int = 4000,
    looks: Sequence[Look] = LOOKS,
) -> LooksRates:
    """Simulate `datasets` sessions; `effect` is the truth about the population."""
    without, with_ = population(rng, (datasets, cases))
    going = np.ones(datasets, dtype=bool)
    changed, shown, ended = (np.zeros(datasets) for _ in range(3))
    covered = np.zeros(datasets, dtype=bool)
    by_look: list[tuple[float, float]] = []
    batch = Batch(np.zeros((datasets, cases), dtype=np.int64), np.zeros((datasets, cases), dtype=np.int64), 0)
    for look in looks:
        batch = _more(batch, look.repeats, (without, with_), rng)
        claims = within_case_p(batch) <= look.alpha + _EQUAL
        ends = going & (claims | (look is looks[-1]))
        changed[ends], ended[ends] = claims[ends], look.repeats
        shown[ends] = _shown(batch, look.alpha)[ends]
        covered[ends] = bbb_covers(batch, effect)[ends]
        going &= ~ends
        by_look.append((float(changed.mean()), float(shown.mean())))
    fixed = float((within_case_p(batch) <= 0.05 + _EQUAL).mean())
    these, new = zip(*by_look, strict=True)
    return LooksRates(these, new, float(ended.mean()), float(covered.mean()), fixed)


def _more(batch: Batch, repeats: int, rates: tuple[Floats, Floats], rng: np.random.Generator) -> Batch:
    """The same sessions, carried on to so many repeats."""
    added = repeats - batch.repeats
    return Batch(batch.passed0 + rng.binomial(added, rates[0]), batch.passed1 + rng.binomial(added, rates[1]), repeats)


def _shown(batch: Batch, alpha: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which sessions claim an effect for new cases, by the rule of the verdict."""
    enough = batch.moved >= FEWEST_CASES
    return np.asarray(enough & ~bbb_covers(batch, 0.0, 1 - alpha) & (sign_flip_p(batch) <= alpha + _EQUAL), dtype=np.bool_)


def study(datasets: int = 4000, random_seed: int = 1) -> Iterator[tuple[str, float, int, LooksRates]]:
    """Setting, effect, cases and rates of every cell; each has its own random numbers."""
    for place, (name, setting) in enumerate(SETTINGS.items()):
        for effect in (0.0, 0.2, 0.3, 0.4):
            for cases in (8, 12, 20):
                rng = np.random.default_rng([random_seed, place, cases, round(effect * 1000)])
                yield name, effect, cases, looks_rates(setting(effect), effect, cases=cases, rng=rng, datasets=datasets)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the study as a Markdown table; 1 if a false claim is more frequent than .05 at any stop."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--datasets", type=int, default=4000, help="simulated sessions per cell")
    parser.add_argument("--random-seed", type=int, default=1)
    options = parser.parse_args(arguments)
    sys.stdout.write("| setting | effect | cases | changed by look | shown by look | mean repeats | fixed 10 | covered |\n")
    sys.stdout.write("|---|---|---|---|---|---|---|---|\n")
    honest = True
    for name, effect, cases, found in study(options.datasets, options.random_seed):
        by_look = (" / ".join(f"{share:.3f}" for share in shares) for shares in (found.changed, found.shown))
        figures = f"{found.mean_repeats:.2f} | {found.fixed:.3f} | {found.covered:.3f}"
        sys.stdout.write(f"| {name} | {effect:g} | {cases} | {' | '.join(by_look)} | {figures} |\n")
        if effect == 0:
            honest &= found.shown[-1] <= 0.05 and (name not in UNTOUCHED or found.changed[-1] <= 0.05)
    return 0 if honest else 1


if __name__ == "__main__":
    sys.exit(main())
