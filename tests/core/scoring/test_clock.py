"""When commands were under way, by the times of the stream's lines."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from evidence_made import ran, said

from pytest_skilleval.agents import agent
from pytest_skilleval.core.clock import clocked
from pytest_skilleval.core.transcript import TurnTranscript

RECORDED = Path(__file__).parents[2] / "agents" / "transcripts"


def spans(transcript: TurnTranscript, lines: list[object], times: list[float]) -> list[tuple[float | None, float | None]]:
    """From when to when each command was under way."""
    stdout = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return [(command.at, command.until) for command in clocked(transcript, stdout, times).commands]


ONE_AFTER_THE_OTHER = said(ran("docker ps", call_id="a"), ran("./clean.sh", call_id="b"))
LINES = [{"id": "a"}, {"tool_use_id": "a"}, {"message": {"content": [{"id": "b"}]}}, {"id": "b", "output": '"id":"a"'}]


def test_a_command_is_under_way_from_the_line_before_the_one_that_begins_it_to_the_last_that_names_it() -> None:
    """Wherever its id stands in the line; what a command prints is not read."""
    assert spans(ONE_AFTER_THE_OTHER, LINES, [1.0, 2.0, 3.0, 4.0]) == [(0.0, 2.0), (2.0, 4.0)]


def test_commands_that_are_called_together_begin_together() -> None:
    """Whichever the stream names first may have begun last."""
    lines = [{"type": "turn"}, {"id": "a"}, {"id": "b"}, {"id": "b"}, {"id": "a"}]
    assert spans(ONE_AFTER_THE_OTHER, lines, [1.0, 2.0, 3.0, 4.0, 5.0]) == [(1.0, 5.0), (1.0, 4.0)]


def test_a_command_that_was_cut_or_left_running_has_no_end() -> None:
    """Nobody saw it, so that it may have gone on."""
    left = said(ran("./clean.sh &", call_id="a", background=True), ran("docker rm old", call_id="b"))
    assert spans(left, LINES[:3], [1.0, 2.0, 3.0]) == [(0.0, None), (2.0, None)]


def test_without_times_nothing_is_known() -> None:
    """Runs that were recorded before there were any; and commands of which the stream tells nothing."""
    assert spans(ONE_AFTER_THE_OTHER, LINES, []) == [(None, None)] * 2
    assert spans(said(ran("docker ps", call_id="c")), LINES, [1.0, 2.0, 3.0, 4.0]) == [(None, None)]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_the_streams_of_real_clis_tell_when_each_command_began_and_ended(name: str) -> None:
    """Each command of a recorded stream ends after it began, and when the next may begin; a line's number stands for its time."""
    [path] = RECORDED.glob(f"{name}-*-many.jsonl")
    stream = path.read_bytes()
    times = [float(number) for number in range(stream.count(b"\n"))]
    found = [(command.at, command.until) for command in clocked(agent(name).parse(stream, b"", 0), stream, times).commands]
    assert len(found) > 10
    assert all(at is not None and until is not None and at < until for at, until in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
