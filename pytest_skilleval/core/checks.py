"""Checks: each claim of a case, judged on the evidence of the run, and turned into a verdict by its polarity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_skilleval.core.claims import LOST, Finding, Scene, holds, judge_claim, turn_is_sent
from pytest_skilleval.core.evidence import CheckResult, CheckVerdict, TurnEvidence, ValidatorResult
from pytest_skilleval.core.patterns import compile_pattern
from pytest_skilleval.core.shell import simple_commands
from pytest_skilleval.core.transcript import ShellCommand

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Check, Polarity

__all__ = ["Scope", "evaluate", "holds", "judge_votes", "missing_evidence", "not_sent", "turn_is_sent"]

_NO_EVIDENCE = "no evidence"
_SHOWN = 160


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the checks of one turn, or of ``final``, look at."""

    turn: int | None
    """1-based; None: final."""
    scene: Scene
    turns: tuple[TurnEvidence, ...]
    """The turn itself; for ``final`` all turns that were sent."""
    validators: tuple[ValidatorResult, ...] = ()
    votes: dict[str, tuple[str, ...]]
    """Check id -> votes."""
    votes_wanted: int = 1


def evaluate(check: Check, polarity: Polarity, scope: Scope) -> CheckResult:
    """The verdict of `check`: a ``must`` holds when its claim is true, a ``must_not`` when it is false.

    A claim that can't be told is undecided for both: missing evidence never counts as good news.
    """
    finding = _JUDGES[check.kind](check, scope)
    decided: CheckVerdict = "held" if finding.true == (polarity == "must") else "violated"
    verdict: CheckVerdict = "undecided" if finding.true is None else decided
    return CheckResult(id=check.id, kind=check.kind, polarity=polarity, turn=scope.turn, verdict=verdict, detail=finding.detail)


def not_sent(check: Check, polarity: Polarity, turn: int | None) -> CheckResult:
    """The result of a check whose turn was not sent."""
    return CheckResult(id=check.id, kind=check.kind, polarity=polarity, turn=turn, verdict="not_sent")


def missing_evidence(turn: TurnEvidence) -> str | None:
    """Why the turn's transcript may not show all the agent did; None when it does.

    A turn that ran out of time has no closing event and may end in a half line: what it shows until then counts.
    """
    transcript = turn.transcript
    if transcript.events > 0 and transcript.unknown_events >= transcript.events:
        return "no event of the stream is known"
    if transcript.failure is not None:
        return transcript.failure.reason
    if transcript.closing == "none" or (transcript.closing == "cut" and not turn.timed_out):
        return "the stream has no closing event"
    if transcript.broken_lines > (1 if turn.timed_out else 0):
        return f"{transcript.broken_lines} lines of the stream can't be read"
    return None


def _state(check: Check, scope: Scope) -> Finding:
    return judge_claim(check.state, scope.scene) if check.state else LOST


def _commands(check: Check, scope: Scope) -> Finding:
    pattern = compile_pattern(check.commands or "")
    for turn in scope.turns:
        for command in turn.transcript.commands:
            if check.of == "attempted" or was_executed(command):
                for simple in simple_commands(command.line):
                    if pattern.search(simple.text):
                        return Finding(True, _short(f"{check.of}: {simple.text}"))
    missing = next(filter(None, map(missing_evidence, scope.turns)), None)
    if missing or not scope.turns:
        return Finding(None, f"{_NO_EVIDENCE}: {missing or 'no turn'}")
    return Finding(False, f"no such command {check.of}")


def was_executed(command: ShellCommand) -> bool:
    """Whether a command really ran: it was neither denied nor only attempted."""
    return command.executed and not command.denied


def _validator(check: Check, scope: Scope) -> Finding:
    result = next((one for one in scope.validators if one.check == check.id and one.turn == scope.turn), None)
    if result is None or check.validator is None:
        return Finding(None, f"{_NO_EVIDENCE}: the validator did not run")
    if result.timed_out or result.exit_code is None:
        return Finding(None, f"{_NO_EVIDENCE}: the validator {'timed out' if result.timed_out else 'has no exit code'}")
    pattern, output = check.validator.output, result.output.removesuffix("\n")  # so that `$` means what its author thinks
    matches = pattern is None or compile_pattern(pattern).search(output)
    return Finding(result.exit_code == check.validator.exit and matches, _short(f"exit {result.exit_code}: {result.output.strip()}"))


def _reply(check: Check, scope: Scope) -> Finding:
    reply = scope.turns[-1].transcript.reply if scope.turns else None
    if reply is None:
        return Finding(None, f"{_NO_EVIDENCE}: no reply")
    found = compile_pattern(check.reply or "").search(reply)
    return Finding(found, "the reply matches" if found else "the reply does not match")


def _judge(check: Check, scope: Scope) -> Finding:
    return judge_votes(scope.votes.get(check.id), scope.votes_wanted)


def judge_votes(votes: tuple[str, ...] | None, wanted: int = 1) -> Finding:
    """The majority of `votes` (``yes`` or ``no``; anything else decides nothing) over all that were wanted or given.

    Undecided without a judge, on a tie, and where too few clear votes came in.
    """
    if votes is None:
        return Finding(None, "no judge")
    clear = [vote.strip().lower() for vote in votes]
    yes, no, needed = clear.count("yes"), clear.count("no"), max(len(votes), wanted)
    told = f"{yes} yes, {no} no of {needed} votes"
    return Finding(yes > no if max(yes, no) * 2 > needed else None, told)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"


_JUDGES: dict[str, Callable[[Check, Scope], Finding]] = {
    "state": _state,
    "commands": _commands,
    "validator": _validator,
    "reply": _reply,
    "judge": _judge,
}
