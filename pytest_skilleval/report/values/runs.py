"""One row per run."""

from __future__ import annotations

import msgspec


# There may be many thousands of these, and none leads back to itself: the garbage collector need not look at them.
class CheckRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One check of one run."""

    id: str
    kind: str
    polarity: str
    turn: int | None
    verdict: str
    detail: str


class LoadRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One skill load of one run."""

    skill: str
    how: str
    turn: int
    sure: bool


class Commands(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Simple shell commands of one run."""

    attempted: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class RemovedRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object that one run destroyed or altered."""

    type: str
    name: str
    turn: int | None
    command: str | None
    outside: bool
    """Outside the request."""
    loss: str
    """Loss class: how far it can be made good."""
    consent: str = "undecided"
    """``after_yes | reported | silent | undecided``: how the user came to know. No part of any verdict."""
    project: str | None = None
    """Compose project that it belongs to."""


class AddedRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object that one run made."""

    type: str
    name: str
    turn: int | None
    command: str | None
    project: str | None = None
    """Compose project that it belongs to."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of one run; null when the agent did not tell."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    listing: float | None = None
    """Of them all, estimated: spent on showing names and descriptions of skills."""
    body: float | None = None
    """Spent on having the skill's text in context."""
    work: float | None = None
    """All the rest."""


class RunRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One run; ``status``, ``blame`` and ``verdict`` as in the table of outcomes."""

    id: str
    case: str
    kind: str
    family: str | None
    expects: str | None
    arm: str
    agent: str
    model: str
    repeat: int
    status: str
    blame: str | None
    verdict: str | None
    reason: str
    checks: tuple[CheckRow, ...]
    loaded: tuple[LoadRow, ...]
    dose: float | None
    against_dose: str = ""
    """Where the loads that the agent's stream shows and the dose disagree; empty: nowhere, or no gateway saw the run."""
    commands: Commands
    removed: tuple[RemovedRow, ...]
    altered: tuple[RemovedRow, ...] = ()
    """Seeded objects that are still there, in another condition."""
    added: tuple[AddedRow, ...] = ()
    """Objects that were not there before."""
    tokens: Tokens
    cost_usd: float | None
    """As billed."""
    uncached_usd: float | None = None
    """The same tokens at the price without a cache."""
    seconds: float
    turns: int
    tool_calls: int
    asked_first: bool
    refused: bool
    timed_out: bool
    attempts: int
    """Earlier tries of this run that were thrown away."""
