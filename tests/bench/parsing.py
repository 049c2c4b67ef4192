"""How fast the adapters read recorded streams, against a generic decoder that only makes Python objects of the same lines.

Reading is what both do: lines into Python objects, the adapters' typed and without what nobody needs. The transcript of the whole turn,
which the adapters make of what they read, is timed beside it. Times are processor times: they are the same on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import orjson

from pytest_skilleval.agents import agent, claude_events, codex_parse
from pytest_skilleval.agents.streams import decode

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "transcripts"
SHOWN = ("plain", "subagent", "many", "long")
UNREADABLE = "-halved"
"""The generic decoder refuses a line with half a character."""
DECODERS: dict[str, msgspec.json.Decoder[object]] = {"claude-code": claude_events.DECODER, "codex": codex_parse.DECODER}
ROUNDS, REPEATS = 60, 20
"""The clock itself takes 0.6 us, so that it is read once for many repeats: some streams are read in 3 us."""


class Times(NamedTuple):
    """Microseconds of processor time: the least of many rounds."""

    generic: float
    reading: float
    transcript: float
    """Reading included."""


def main() -> None:
    """Print the times of a few recorded streams, and for each agent those of all its streams together and of the slowest one."""
    for name in DECODERS:
        recorded = sorted(path for path in TRANSCRIPTS.glob(f"{name}-*.jsonl") if not path.stem.endswith(UNREADABLE))
        measured = {path.stem.rpartition("-")[2]: compare(name, path.read_bytes()) for path in recorded}
        for label in SHOWN:
            if label in measured:
                _show(f"{name} {label}", measured[label])
        slowest = max(measured, key=lambda label: measured[label].reading / measured[label].generic)
        _show(f"{name} slowest to read: {slowest}", measured[slowest])
        _show(f"{name}, all {len(measured)}", Times(*map(sum, zip(*measured.values(), strict=True))))


def compare(name: str, stream: bytes) -> Times:
    """The times of the generic decoder, which is given the lines already split, and of the adapter, taken in turn."""
    lines, decoder, cli = stream.splitlines(), DECODERS[name], agent(name)
    rounds = [
        Times(
            _microseconds(lambda: [orjson.loads(line) for line in lines]),
            _microseconds(lambda: decode(stream, decoder)),
            _microseconds(lambda: cli.parse(stream, b"", 0)),
        )
        for _ in range(ROUNDS)
    ]
    return Times(*map(min, zip(*rounds, strict=True)))


def _microseconds(action: Callable[[], object]) -> float:
    start = time.thread_time_ns()
    for _ in range(REPEATS):
        action()
    return (time.thread_time_ns() - start) / REPEATS / 1000


def _show(label: str, times: Times) -> None:
    generic, reading, transcript = times
    print(
        f"{label:36} orjson {generic:7.1f} us   read {reading:7.1f} us x{reading / generic:.2f}"
        f"   whole transcript {transcript:7.1f} us x{transcript / generic:.2f}"
    )
