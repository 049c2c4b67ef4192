"""Transcripts recorded from the real CLIs, read without them; damaged ones give all the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_driving import SKILL
from agent_scenarios import SCENARIOS, Scenario
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skilleval.agents import agent, codex_record
from pytest_skilleval.core.transcript import TurnTranscript

FOLDER = Path(__file__).parent / "transcripts"
FILES = sorted(FOLDER.glob("*.jsonl"))
by_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def parts(file: Path) -> tuple[str, Scenario]:
    """Agent and scenario of a recorded file; the file name is ``<agent>-<version>-<scenario>``."""
    name = next(name for name in ("claude-code", "codex") if file.stem.startswith(name))
    label = file.stem.removeprefix(f"{name}-").partition("-")[2]
    return name, SCENARIOS[label]


def read(file: Path, stdout: bytes | None = None) -> TurnTranscript:
    """The transcript of a recorded turn, its stdout replaced where one is given."""
    name, _ = parts(file)
    exit_code = int(file.with_suffix(".exit").read_text())
    turn = agent(name).parse(file.read_bytes() if stdout is None else stdout, file.with_suffix(".stderr").read_bytes(), exit_code)
    (whole,) = agent(name).supplement([turn], [path.read_bytes() for path in FOLDER.glob(f"{file.stem}.session")])
    return whole


def test_both_agents_are_recorded() -> None:
    """Every scenario has a recorded transcript of each agent it is meant for."""
    for label, scenario in SCENARIOS.items():
        for name in scenario.agents:
            assert list(FOLDER.glob(f"{name}-*-{label}.jsonl")), f"run tests/agents/regenerate.py: {name} {label} is missing"


@by_file
def test_recorded_turn_means_what_was_played(file: Path) -> None:
    """Commands, reply, load, refusal and blame of a recorded turn are the script's."""
    name, scenario = parts(file)
    seen = read(file)
    loads = [command for command in seen.commands if "SKILL.md" in command.line]
    commands = [command for command in seen.commands if command not in loads]
    told = [(c.line, c.executed, c.denied, c.exit_code) for c in commands]
    in_any_order = scenario.turns[-1].manner == "parallel"
    assert (sorted(told) if in_any_order else told) == list(scenario.commands)
    assert (seen.reply, seen.refused) == (scenario.reply, scenario.refused)
    assert (seen.failure.blame if seen.failure else None) == scenario.blame
    assert all(command.subagent == scenario.subagent and command.background == scenario.background for command in commands)
    assert seen.denials == sum(denied for _, _, denied, _ in scenario.commands) == sum(call.denied for call in seen.tool_calls)
    assert (seen.broken_lines, seen.unknown_events, seen.closing) == (0, 0, "complete")
    assert seen.session_id
    if name == "claude-code":
        assert any(call.ok and call.name == SKILL for call in seen.skill_calls) == scenario.loads
        assert (SKILL in (seen.offered.skills or ())) == scenario.installed
        assert seen.offered.cli_version
    elif scenario.loads:
        assert [command.exit_code for command in loads] == [0]


def test_a_denied_command_stands_where_it_was_asked_for() -> None:
    """Without the session record Codex' stream shows no denial in its place, and none by its own sandbox; with it each is known."""
    stem = next(FOLDER.glob("codex-*-confined.jsonl"))
    alone = agent("codex").parse(stem.read_bytes(), stem.with_suffix(".stderr").read_bytes(), 0)
    whole = read(stem)
    assert [command.denied for command in whole.commands] == [False, True, True, True, True, False]
    assert (alone.denials, [command.denied for command in alone.commands][-1]) == (1, True)
    assert [call.result for call in whole.tool_calls] == [command.output for command in whole.commands]


@by_file
def test_a_broken_line_costs_only_itself(file: Path) -> None:
    """Garbage between the lines is counted and changes nothing else."""
    whole = read(file)
    noise = b'{"type": "assistant", "mess\n\xff\xfe garbage\nnot json\n'
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = read(file, b"".join([lines[0], noise, *lines[1:]]))
    assert damaged.broken_lines == 3
    assert (damaged.commands, damaged.reply, damaged.usage, damaged.failure) == (whole.commands, whole.reply, whole.usage, whole.failure)


@by_file
def test_unknown_events_are_counted_and_ignored(file: Path) -> None:
    """Events of a future version, and such as nest beyond all reason, change nothing but a count."""
    whole = read(file)
    news = b'{"type":"hologram","message":{"content":7},"item":[]}\n{"type":"rate_card"}\n{"type":"system","subtype":"brand_new"}\n'
    deep = b'{"type":"user","deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    changed = read(file, file.read_bytes() + news + deep)
    assert changed.unknown_events >= 3
    assert (changed.commands, changed.reply, changed.usage, changed.failure) == (whole.commands, whole.reply, whole.usage, whole.failure)


@by_file
@settings(max_examples=25, deadline=None)
@given(share=st.floats(0, 1))
def test_a_cut_stream_gives_what_was_there(file: Path, share: float) -> None:
    """However a stream is cut, reading it never raises, keeps a prefix of the commands, and never makes up a reply."""
    whole = file.read_bytes()
    cut = whole[: int(len(whole) * share)]
    seen, all_of_it = read(file, cut), read(file)
    known = [command.line for command in all_of_it.commands if not command.denied]
    lines = [command.line for command in seen.commands if not command.denied or command.line in known]
    assert [line for line in lines if line in known] == known[: len([line for line in lines if line in known])]
    if seen.closing != "complete":
        assert seen.reply is None
        assert seen.failure is not None
        assert seen.failure.blame in {"agent_crash", "agent_api", "sandbox"}


@pytest.mark.parametrize("name", ["claude-code", "codex"])
@settings(max_examples=60, deadline=None)
@given(stdout=st.binary(max_size=400), stderr=st.binary(max_size=100), code=st.none() | st.integers(0, 255))
def test_any_bytes_are_read(name: str, stdout: bytes, stderr: bytes, code: int | None) -> None:
    """No bytes whatever make parsing raise, and nothing is ever taken for a success."""
    seen = agent(name).parse(stdout, stderr, code)
    assert seen.reply is None
    assert seen.failure is not None


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_empty_stream_is_a_crash(name: str) -> None:
    """An agent that wrote nothing has crashed, whatever its exit code: no evidence is never a pass."""
    for code in (0, 1, None):
        failure = agent(name).parse(b"", b"", code).failure
        assert failure is not None
        assert failure.blame == "agent_crash"


def test_a_call_nested_beyond_all_measure_costs_only_itself() -> None:
    """What a model puts into a call is any JSON: where it is too deep to be read, the commands beside it are still known."""
    deep = '{"command": "ls", "more": ' + "[" * 5_000 + "]" * 5_000 + "}"
    calls = [{"type": "function_call", "name": "shell", "arguments": asked} for asked in (deep, '{"command": "pwd"}')]
    record = "".join(json.dumps({"type": "response_item", "payload": call}) + "\n" for call in calls)
    assert [attempt.line for attempt in codex_record.read(record.encode()).attempts] == ["pwd"]


def test_a_turn_whose_only_command_was_forbidden_is_no_fault_of_the_sandbox() -> None:
    """Codex' stream leaves out what a rule forbade: that no command was begun then does not say that none could be."""
    stem = next(FOLDER.glob("codex-*-guarded.jsonl"))
    spoken = b"".join(line for line in stem.read_bytes().splitlines(keepends=True) if b"command_execution" not in line)
    seen = agent("codex").parse(spoken, stem.with_suffix(".stderr").read_bytes(), 0)
    assert [(command.denied, command.executed) for command in seen.commands] == [(True, False)]
    assert (seen.denials, seen.failure) == (1, None)
