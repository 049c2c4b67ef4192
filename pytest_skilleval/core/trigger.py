"""Trigger cases: whether the skill was loaded before the agent began to act."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_skilleval.core.acting import acted
from pytest_skilleval.core.checks import missing_evidence
from pytest_skilleval.core.evidence import Evidence, Loaded, TurnEvidence, Verdict
from pytest_skilleval.core.shell import Simple, simple_commands
from pytest_skilleval.core.transcript import TurnTranscript

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case

_MANAGED = frozenset(
    {
        "container",
        "image",
        "volume",
        "network",
        "system",
        "builder",
        "buildx",
        "context",
        "compose",
        "manifest",
        "plugin",
        "service",
        "stack",
    }
)
_READING = frozenset(
    {"ps", "ls", "list", "images", "inspect", "logs", "info", "version", "top", "stats", "events", "diff", "port", "search", "history"}
    | {"help", "df", "du", "config", "show", "exec", "wait"}
)


def changes_state(line: str) -> bool:
    """Whether a command line holds a Docker command that is not known to be a mere look: where a trigger case is cut."""
    return any(_changes(simple) for simple in simple_commands(line))


def _changes(simple: Simple) -> bool:
    if simple.inside or simple.program not in ("docker", "docker-compose"):
        return False
    words = simple.words[1:]
    if simple.program == "docker" and words[:1] and words[0] in _MANAGED:
        words = words[1:]
    return bool(words) and not words[0].startswith("-") and words[0] not in _READING


def cut_evidence(evidence: Evidence) -> Evidence:
    """What was seen up to the first state-changing command, that one included: what came later does not count."""
    for number, turn in enumerate(evidence.turns):
        if any(changes_state(command.line) for command in turn.transcript.commands):
            return msgspec.structs.replace(evidence, turns=(*evidence.turns[:number], _cut(turn)))
    return evidence


def _cut(turn: TurnEvidence) -> TurnEvidence:
    transcript = turn.transcript
    last = next(number for number, command in enumerate(transcript.commands) if changes_state(command.line))
    end = _order(transcript, transcript.commands[last].call_id)
    kept = msgspec.structs.replace(
        transcript,
        commands=transcript.commands[: last + 1],
        reads=tuple(read for read in transcript.reads if end is None or read.order < end),
        skill_calls=tuple(call for call in transcript.skill_calls if end is None or call.order < end),
    )
    return msgspec.structs.replace(turn, transcript=kept, dose=None)


def _order(transcript: TurnTranscript, call_id: str) -> int | None:
    """The place of a call among all tool calls of the turn; None where the stream does not tell."""
    places = (number for number, call in enumerate(transcript.tool_calls) if call_id and call.call_id == call_id)
    return next(places, None)


def trigger_verdict(case: Case, cut: Evidence, loads: tuple[Loaded, ...]) -> tuple[Verdict, str]:
    """Verdict and reason: a trigger case passes when the skill was loaded exactly if it should be.

    `loads` are those of the skill under test within the `cut` evidence. That it was not loaded is known when the agent
    acted without it, or when its whole turn is there to see.
    """
    wanted = "should" if case.should_load else "should not"
    if loads:
        if not any(load.sure for load in loads):
            return "undecided", "whether the skill was loaded can't be told for sure"
        return ("pass" if case.should_load else "fail"), f"loaded, and {wanted} be"
    missing = None if _acted(cut) or _was_heard_to_act(cut) else _missing(cut)
    if missing:
        return "undecided", f"no evidence: {missing}"
    return ("fail" if case.should_load else "pass"), f"not loaded, and {wanted} be"


def _acted(cut: Evidence) -> bool:
    return any(
        turn.transcript.broken_lines == 0 and changes_state(command.line) for turn in cut.turns for command in turn.transcript.commands
    )


def _was_heard_to_act(cut: Evidence) -> bool:
    """Whether the engine told of a deed, and all of the stream up to its end is there to see."""
    baseline = cut.baseline
    whole = all(turn.transcript.active and turn.transcript.broken_lines == 0 for turn in cut.turns)
    return whole and baseline is not None and any(acted(event, baseline) for event in cut.events)


def _missing(cut: Evidence) -> str | None:
    if not any(turn.transcript.active for turn in cut.turns):
        return "the agent did nothing"
    return next(filter(None, map(missing_evidence, cut.turns)), None)
