"""What planned looks save and cost: the rule by which sessions end early, where the truth is known.

Run it with ``python -m pytest_skilleval.core.statistics.simulate_looks``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.special import ndtri

from pytest_skilleval.core.statistics.batch import Batch, bbb_covers, sign_flip_p, within_case_p
from pytest_skilleval.core.statistics.paired import FEWEST_CASES
from pytest_skilleval.core.statistics.sequential import LOOKS, Look
from pytest_skilleval.core.statistics.simulate import SETTINGS, UNTOUCHED, Floats, Population

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class LooksRates:
    """Over simulated sessions that stop at the first look which shows a change on these cases, or gives up.

    ``changed`` and ``shown`` are the shares that by each look have claimed a change on these cases, or an effect for new
    cases (claims are made where a session ends, at that look's level); ``covered`` of the 95 % BBB intervals there contain
    the effect. ``by_repeats`` is the share of sessions without looks that claim a change at .05 after 1, 2, ... repeats.
    """

    changed: tuple[float, ...]
    shown: tuple[float, ...]
    mean_repeats: float
    covered: float
    by_repeats: tuple[float, ...]

    @property
    def fixed(self) -> float:
        """The power of all repeats without looks."""
        return self.by_repeats[-1]


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
    alone: list[float] = []
    batch = Batch(np.zeros((datasets, cases), dtype=np.int64), np.zeros((datasets, cases), dtype=np.int64), 0)
    for look in looks:
        while batch.repeats < look.repeats:
            batch = _more(batch, (without, with_), rng)
            alone.append(float((within_case_p(batch) <= 0.05 + _EQUAL).mean()))
        p = within_case_p(batch)
        claims = p <= look.alpha + _EQUAL
        ends = going & (claims | (p > look.futile) | (look is looks[-1]))
        changed[ends], ended[ends] = claims[ends], look.repeats
        shown[ends] = _shown(batch, look.alpha)[ends]
        covered[ends] = bbb_covers(batch, effect)[ends]
        going &= ~ends
        by_look.append((float(changed.mean()), float(shown.mean())))
    these, new = zip(*by_look, strict=True)
    return LooksRates(these, new, float(ended.mean()), float(covered.mean()), tuple(alone))


def repeats_for(power: float, by_repeats: Sequence[float]) -> float:
    """Repeats, between whole ones by interpolation, with which a session without looks has this power; all where none has."""
    below = 0.0
    for repeats, reached in enumerate(by_repeats, start=1):
        if reached >= power:
            return repeats - (reached - power) / (reached - below) if reached > below else float(repeats)
        below = reached
    return float(len(by_repeats))


def least_share(power: float, alpha: float = 0.05) -> float:
    """The least share of a fixed test's runs that any sequential test of the same power can take on average, by Wald's bound.

    Of the means of normal observations with one-sided error alpha / 2, where the effect is as large as the fixed test was sized for.

    References
    ----------
    Wald 1945, Annals of Mathematical Statistics 16:117.
    """
    error, miss = alpha / 2, 1 - power
    needed = power * np.log(power / error) + miss * np.log(miss / (1 - error))
    return float(2 * needed / (ndtri(1 - error) + ndtri(power)) ** 2)


def _more(batch: Batch, rates: tuple[Floats, Floats], rng: np.random.Generator) -> Batch:
    """The same sessions, one repeat later."""
    return Batch(batch.passed0 + rng.binomial(1, rates[0]), batch.passed1 + rng.binomial(1, rates[1]), batch.repeats + 1)


def _shown(batch: Batch, alpha: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which sessions claim an effect for new cases, by the rule of the verdict."""
    enough = batch.moved >= FEWEST_CASES
    return np.asarray(enough & ~bbb_covers(batch, 0.0, 1 - alpha) & (sign_flip_p(batch) <= alpha + _EQUAL), dtype=np.bool_)


CASES = (5, 8, 12, 20)
EFFECTS = (0.0, 0.2, 0.3, 0.4, 0.5)
Cells = Mapping[tuple[float, int], Mapping[str, LooksRates]]
"""Effect and cases -> setting -> rates."""


def study(datasets: int = 4000, random_seed: int = 1, cases: Sequence[int] = CASES, effects: Sequence[float] = EFFECTS) -> Cells:
    """Every cell; each has its own random numbers, so that a part of the study equals the same part of the whole."""
    return {
        (effect, size): {
            name: looks_rates(
                setting(effect),
                effect,
                cases=size,
                rng=np.random.default_rng([random_seed, place, size, round(effect * 1000)]),
                datasets=datasets,
            )
            for place, (name, setting) in enumerate(SETTINGS.items())
        }
        for effect in effects
        for size in cases
    }


def false_claims(cells: Cells) -> tuple[float, float]:
    """The most frequent false claims by the last look where the effect is 0: on these cases where none is affected, for new cases."""
    nulls = [found for (effect, _), by_setting in cells.items() if effect == 0 for found in by_setting.items()]
    return max(one.changed[-1] for name, one in nulls if name in UNTOUCHED), max(one.shown[-1] for _, one in nulls)


def table(cells: Cells) -> str:
    """One row per effect and number of cases, over all settings, as Markdown."""
    head = "| effect | cases | mean repeats (worst) | of fixed 10 | power looks / fixed 10 | most lost | of equal power | least possible |"
    rows = [_row(effect, cases, list(by_setting.values())) for (effect, cases), by_setting in cells.items()]
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *rows]) + "\n"


def _row(effect: float, cases: int, found: Sequence[LooksRates]) -> str:
    spent, fixed, power = (fmean(values) for values in zip(*((one.mean_repeats, one.fixed, one.changed[-1]) for one in found), strict=True))
    worst, share = max(one.mean_repeats for one in found), spent / len(found[0].by_repeats)
    start = f"| {effect:g} | {cases} | {spent:.1f} ({worst:.1f}) | {100 * share:.0f} % "
    if not effect:
        return f"{start}| | | | |"
    lost = max(one.fixed - one.changed[-1] for one in found)
    alone = repeats_for(power, [fmean(values) for values in zip(*(one.by_repeats for one in found), strict=True)])
    least = f"{100 * least_share(power):.0f} %" if power < 1 else ""
    return f"{start}| {power:.2f} / {fixed:.2f} | {lost:.2f} | {100 * spent / alone:.0f} % of {alone:.1f} | {least} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the study as a Markdown table; 1 if a false claim is more frequent than .05 at any stop."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--datasets", type=int, default=4000, help="simulated sessions per cell")
    parser.add_argument("--random-seed", type=int, default=1)
    options = parser.parse_args(arguments)
    cells = study(options.datasets, options.random_seed)
    these, new = false_claims(cells)
    covered = min(one.covered for by_setting in cells.values() for one in by_setting.values())
    sys.stdout.write(f"{table(cells)}\nfalse claims by the last look, at most: {these:.4f} on these cases, {new:.4f} for new ones; ")
    sys.stdout.write(f"BBB covers at least {covered:.3f}\n")
    return 0 if max(these, new) <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
