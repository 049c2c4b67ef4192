"""When commands were under way, by the times at which the lines of the agent's stream came."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from pytest_skilleval.core.transcript import ShellCommand, TurnTranscript

CALL = re.compile(rb'"(?:id|tool_use_id)"\s*:\s*"([^"\\]+)"')
"""The id of a tool call, in the line that makes it and in those that tell of it. Inside of texts quotation marks are escaped."""


def clocked(transcript: TurnTranscript, stdout: bytes, times: Sequence[float]) -> TurnTranscript:
    """The transcript, its commands with the times between which they ran, as far as the stream tells.

    A command is over when the stream last speaks of it. It was begun when the stream first does, or earlier: Codex speaks of one when
    it has run for some time. So it is taken to have begun after whatever the stream told before, but for other commands' beginnings.

    Parameters
    ----------
    times
        Seconds since the run's baseline at which each line of `stdout` came; empty: not known.
    """
    if not times or not transcript.commands:
        return transcript
    calls = {command.call_id for command in transcript.commands}
    spans: dict[str, tuple[float, float | None]] = {}
    told = 0.0
    for line, at in zip(stdout.split(b"\n"), times, strict=False):  # a stream that was cut ends in a piece of a line
        named = {found.decode("utf-8", "replace") for found in CALL.findall(line)} & calls
        spans |= {call: (spans[call][0], at) if call in spans else (told, None) for call in named}
        if all(spans[call][1] is not None for call in named):
            told = at
    return replace(transcript, commands=tuple(_clocked(command, spans) for command in transcript.commands))


def _clocked(command: ShellCommand, spans: Mapping[str, tuple[float, float | None]]) -> ShellCommand:
    at, until = spans.get(command.call_id, (None, None))
    return replace(command, at=at, until=None if command.background else until)
