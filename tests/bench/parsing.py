"""How fast the adapters read recorded streams, against a generic decoder that only makes Python objects of the same lines.

Times are processor times: they are the same on a busy machine. The generic decoder is given the lines already split, and makes
nothing of them; an adapter splits them, and ends with the whole transcript of the turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import orjson

from pytest_skilleval.agents import agent

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "transcripts"
SHOWN = ("plain", "subagent", "many", "long")
UNREADABLE = "-halved"
"""The generic decoder refuses a line with half a character."""
ROUNDS, REPEATS = 60, 20
"""The clock itself takes 0.6 us, so that it is read once for many repeats: some streams are read in 3 us."""


def main() -> None:
    """Print the times of a few recorded streams, and for each agent the slowest of all."""
    for name in ("claude-code", "codex"):
        recorded = sorted(path for path in TRANSCRIPTS.glob(f"{name}-*.jsonl") if not path.stem.endswith(UNREADABLE))
        measured = {path.stem.rpartition("-")[2]: compare(name, path.read_bytes()) for path in recorded}
        for label in SHOWN:
            if label in measured:
                _show(f"{name} {label}", *measured[label])
        slowest = max(measured, key=lambda label: measured[label][1] / measured[label][0])
        _show(f"{name} slowest: {slowest}", *measured[slowest])


def compare(name: str, stream: bytes) -> tuple[float, float]:
    """Microseconds of processor time of the generic decoder and of the adapter: the least of many rounds, taken in turn."""
    lines, cli = stream.splitlines(), agent(name)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        times[0].append(_microseconds(lambda: [orjson.loads(line) for line in lines]))
        times[1].append(_microseconds(lambda: cli.parse(stream, b"", 0)))
    return min(times[0]), min(times[1])


def _microseconds(action: Callable[[], object]) -> float:
    start = time.thread_time_ns()
    for _ in range(REPEATS):
        action()
    return (time.thread_time_ns() - start) / REPEATS / 1000


def _show(label: str, generic: float, adapter: float) -> None:
    print(f"{label:34} orjson {generic:8.1f} us   adapter {adapter:8.1f} us   x{adapter / generic:.2f}")
