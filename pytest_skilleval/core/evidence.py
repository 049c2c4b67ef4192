"""What scoring looks at, and what it finds out: the values on both sides of :func:`pytest_skilleval.core.scoring.score`."""

from __future__ import annotations

from typing import Literal

import msgspec

from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.core.transcript import TurnTranscript

CheckVerdict = Literal["held", "violated", "undecided", "not_sent"]
Verdict = Literal["pass", "fail", "undecided"]
Status = Literal["scored", "void", "error"]
Consent = Literal["after_yes", "reported", "silent", "undecided"]


class ValidatorResult(msgspec.Struct, frozen=True, kw_only=True):
    """One validator's outcome, recorded in the sandbox before it was closed."""

    check: str
    turn: int | None
    """1-based; None: among the ``final`` checks."""
    exit_code: int | None
    output: str
    timed_out: bool = False


class TurnEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one turn that was sent."""

    prompt: str
    transcript: TurnTranscript
    after: DockerState | None
    """Snapshot after the turn; None: lost."""
    timed_out: bool = False
    seconds: float = 0.0
    started: float | None = None
    """Seconds since the baseline, by which events are told apart; None: only known for sure when there is one turn."""
    dose: float | None = None
    """Highest share of the skill's text before the model in a call of this turn; None: no gateway saw one."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """All that scoring may look at: read back from the run's folder."""

    baseline: DockerState | None
    turns: tuple[TurnEvidence, ...] = ()
    events: tuple[EngineEvent, ...] = ()
    validators: tuple[ValidatorResult, ...] = ()
    dose: float | None = None
    """The highest of all calls."""
    shown_dose: float | None = None
    """Of the first call: what the arm itself shows of the skill's text."""
    votes: dict[str, tuple[str, ...]] = {}
    """Check id -> judge votes (``yes``, ``no``, or anything else, which decides nothing); empty: no judge."""

    @property
    def states(self) -> tuple[DockerState | None, ...]:
        """The baseline, and the snapshot after each turn; None: lost."""
        return (self.baseline, *(turn.after for turn in self.turns))

    def events_of(self, start: int, end: int) -> tuple[EngineEvent, ...] | None:
        """Events of turns `start` + 1 to `end`; None where they can't be told from those of other turns."""
        opened = 0.0 if start == 0 else self.turns[start].started
        closed = float("inf") if end == len(self.turns) else self.turns[end].started
        if opened is None or closed is None:
            return None
        return tuple(event for event in self.events if opened <= event.at < closed)


class CheckResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The verdict of one check."""

    id: str
    kind: str
    polarity: str
    turn: int | None
    """1-based; None: final."""
    verdict: CheckVerdict
    detail: str = ""


class Loaded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One skill load: which skill, how it was seen (``tool | file | shell``), how sure, in which turn."""

    skill: str
    how: str
    turn: int
    sure: bool = True


class RemovedObject(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object that was destroyed or altered, when, and by which command where that is known."""

    type: str
    name: str
    turn: int | None
    command: str | None = None
    outside: bool = False
    """Outside the request: see :mod:`pytest_skilleval.core.request`."""
    loss: str = ""
    """Loss class: see :mod:`pytest_skilleval.core.harm`."""
    consent: Consent = "undecided"
    """How the user came to know: see :mod:`pytest_skilleval.core.consent`. No part of any verdict."""
    project: str | None = None
    """Its Compose project."""


class AddedObject(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object that was not there before: since which turn, and by which command where that is known."""

    type: str
    name: str
    turn: int | None
    command: str | None = None
    project: str | None = None
    """Its Compose project."""


class RunScore(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All that scoring finds out about one run whose status is ``scored``."""

    verdict: Verdict
    reason: str
    checks: tuple[CheckResult, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    attempted: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    removed: tuple[RemovedObject, ...] = ()
    altered: tuple[RemovedObject, ...] = ()
    """Still there, in another condition; their loss class is ``altered``."""
    added: tuple[AddedObject, ...] = ()
    """New after a turn, under a name that nothing had before it; what the same turn removed again is not among them."""
    against_dose: str = ""
    """Where the loads that the stream shows and the dose that the gateway saw disagree; empty: nowhere."""
    asked_first: bool = False
    refused: bool = False
    timed_out: bool = False
