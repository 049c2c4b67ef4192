"""What a session with looks would save if it also ended as soon as no outcome of its remaining runs could be claimed.

Sessions don't end so: beside the look that gives up it saves next to nothing, and this is how that was measured. Run it with
``python -m pytest_skilleval.core.statistics.simulate_curtailed``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from pytest_skilleval.core.statistics.batch import Batch, Ints, within_case_p
from pytest_skilleval.core.statistics.sequential import LOOKS, Look
from pytest_skilleval.core.statistics.simulate import SETTINGS, Population

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Repeats:
    """Mean repeats that are made: with looks; and if sessions also ended after a look, repeat or run from which nothing can be claimed."""

    plain: float
    by_look: float
    by_repeat: float
    by_run: float


def claimable(passed: Ints, left: Ints, look: Look) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which sessions could yet claim a change on these cases at `look`.

    Parameters
    ----------
    passed, left
        Runs passed and runs yet to be made until the look, of shape (sessions, 2, cases): without and with.

    Notes
    -----
    No outcome has a lower p than that all further runs pass in one arm and fail in the other. A further pass with the skill adds 1 to
    the passes with it, and at most 1 to what exchanging runs makes of them (the coupling of the two hypergeometric distributions);
    a further pass without it can only raise the latter. Both arms have as many runs, so that twice one tail is p.
    """
    better = Batch(passed[:, 0], passed[:, 1] + left[:, 1], look.repeats)
    worse = Batch(passed[:, 0] + left[:, 0], passed[:, 1], look.repeats)
    return np.asarray(np.minimum(within_case_p(better), within_case_p(worse)) <= look.alpha + _EQUAL, dtype=np.bool_)


def repeats_made(
    population: Population, *, cases: int, rng: np.random.Generator, sessions: int = 200, looks: Sequence[Look] = LOOKS
) -> Repeats:
    """Simulate sessions that start their runs look by look, in random order within one."""
    rates = np.stack(population(rng, (sessions, cases)), axis=1).reshape(sessions, -1)
    passed, every, a_repeat = np.zeros(rates.shape, dtype=np.int64), np.arange(sessions), 2 * cases
    ended, hopeless = np.full(sessions, np.inf), np.full(sessions, np.inf)
    runs = 0
    for place, look in enumerate(looks):
        left = np.full(rates.shape, look.repeats - runs // a_repeat)
        for run in rng.permuted(np.repeat(np.tile(np.arange(a_repeat), (sessions, 1)), left[0, 0], axis=1), axis=1).T:
            passed[every, run] += rng.random(sessions) < rates[every, run]
            left[every, run] -= 1
            runs += 1
            going = np.flatnonzero(np.isinf(ended) & np.isinf(hopeless))
            hopeless[going[~_open(passed[going], left[going], looks[place:])]] = runs
        p = within_case_p(Batch(passed[:, :cases], passed[:, cases:], look.repeats))
        ended[np.isinf(ended) & ((p <= look.alpha + _EQUAL) | (p > look.futile) | (look is looks[-1]))] = runs
    stops = np.array([look.repeats for look in looks] + [np.inf])
    hopeless /= a_repeat
    ended /= a_repeat
    found = (ended, stops[np.searchsorted(stops, hopeless)], np.ceil(hopeless), hopeless)
    return Repeats(*(float(np.minimum(ended, one).mean()) for one in found))


def _open(passed: Ints, left: Ints, looks: Sequence[Look]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which sessions could yet claim something at any of these looks, the first of which `left` leads to."""
    by_arm = (-1, 2, passed.shape[1] // 2)
    found = np.zeros(len(passed), dtype=bool)
    for look in reversed(looks):  # nearly all are open at the last one
        rest = np.flatnonzero(~found)
        further = left[rest] + look.repeats - looks[0].repeats
        found[rest] = claimable(passed[rest].reshape(by_arm), further.reshape(by_arm), look)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how much is saved, on average over the settings and in the best one, with and without the look that gives up."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sessions", type=int, default=200, help="simulated sessions per cell")
    parser.add_argument("--random-seed", type=int, default=1)
    options = parser.parse_args(arguments)
    head = "| gives up | effect | cases | mean repeats | saved by look | by repeat | by run | in the best setting |"
    sys.stdout.write(f"{head}\n|---|---|---|---|---|---|---|---|\n")
    for gives_up in (True, False):
        looks = LOOKS if gives_up else tuple(replace(look, futile=1.0) for look in LOOKS)
        for effect in (0.0, 0.2, 0.3, 0.4):
            for cases in (8, 12):
                sys.stdout.write(_row(gives_up, effect, cases, looks, options))
    return 0


def _row(gives_up: bool, effect: float, cases: int, looks: Sequence[Look], options: argparse.Namespace) -> str:
    found = [
        repeats_made(
            setting(effect),
            cases=cases,
            rng=np.random.default_rng([options.random_seed, place, cases, round(effect * 1000)]),
            sessions=options.sessions,
            looks=looks,
        )
        for place, setting in enumerate(SETTINGS.values())
    ]
    plain = fmean(one.plain for one in found)
    saved = [
        f"{100 * (1 - fmean(kind) / plain):.1f} %"
        for kind in zip(*((one.by_look, one.by_repeat, one.by_run) for one in found), strict=True)
    ]
    best = max(1 - one.by_run / one.plain for one in found)
    return f"| {'yes' if gives_up else 'no'} | {effect:g} | {cases} | {plain:.1f} | {' | '.join(saved)} | {100 * best:.1f} % |\n"


if __name__ == "__main__":
    sys.exit(main())
