"""Timing by alternation: baseline and candidate take turns, so that a busy minute hits both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def milliseconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def alternate(rounds: int, **actions: Callable[[], object]) -> dict[str, list[float]]:
    """Milliseconds of `rounds` calls of each action, in turn, after one call of each that does not count."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for action in actions.values():
        action()
    for _ in range(rounds):
        for name, action in actions.items():
            times[name].append(milliseconds(action))
    return times


def show(times: dict[str, list[float]], baseline: str) -> None:
    """One line an action: median, extremes, ratio to the baseline's median."""
    base = statistics.median(times[baseline])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:34} median {median:9.1f} ms  (min {min(values):.1f}, max {max(values):.1f}, n {len(values)})  x{median / base:.2f}")
