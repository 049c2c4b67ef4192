"""What an agent did in one turn, in one form for every agent. Values only; adapters in ``agents/`` make them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

Closing = Literal["complete", "cut", "none"]
"""``complete``: the closing event was seen. ``cut``: some events but no closing one. ``none``: not a single event."""


class ShellCommand(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One shell command line that the agent sent to its shell tool."""

    line: str
    """As the agent wrote it, CLI wrappers such as ``/bin/bash -lc`` removed."""
    executed: bool
    """False when it was denied or never ran: attempted only."""
    denied: bool = False
    exit_code: int | None = None
    output: str = ""
    background: bool = False
    subagent: bool = False
    call_id: str = ""
    at: float | None = None
    """Seconds since the run's baseline before which it was not begun; None: not known."""
    until: float | None = None
    """The same of what it was over by; None: not known, or not waited for."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call of any kind, shell ones included, in the order sent."""

    name: str
    arguments: str
    """JSON text."""
    call_id: str = ""
    failed: bool = False
    denied: bool = False
    result: str = ""
    subagent: bool = False


class FileRead(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file read by a file tool (shell readers are found in the commands)."""

    path: str
    ok: bool = True
    subagent: bool = False
    order: int = 0
    """Index of the tool call among all tool calls of the turn."""


class SkillCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call of the agent's own skill tool."""

    name: str
    ok: bool
    order: int = 0


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of one turn, sub-agents counted once; money as the CLI tells it, else None."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    cost_usd: float | None = None
    known: bool = False
    """Whether the stream told usage at all."""
    whole_session: bool = False
    """Whether earlier turns of the session are counted in (Codex); see :func:`usage_of_run`."""

    @property
    def cache_write(self) -> int:
        """Both kinds of cache write together."""
        return self.cache_write_5m + self.cache_write_1h


def usage_of_run(turns: Iterable[Usage]) -> Usage:
    """Tokens and money of all turns of a run, each counted once. Turns that told nothing are left out."""
    known = [usage for usage in turns if usage.known]
    if not known:
        return Usage()
    if known[-1].whole_session:
        return known[-1]
    costs = [usage.cost_usd for usage in known]
    return Usage(
        input=sum(usage.input for usage in known),
        output=sum(usage.output for usage in known),
        cache_read=sum(usage.cache_read for usage in known),
        cache_write_5m=sum(usage.cache_write_5m for usage in known),
        cache_write_1h=sum(usage.cache_write_1h for usage in known),
        reasoning=sum(usage.reasoning for usage in known),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        known=True,
    )


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """What the CLI's first event says the model is shown; None: the stream does not tell."""

    skills: tuple[str, ...] | None = None
    mcp_servers: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    memory_paths: tuple[str, ...] | None = None
    permission_mode: str | None = None
    cli_version: str | None = None
    cwd: str | None = None


def may_pass(status: int) -> bool:
    """Whether an error status of a model's API may be gone at another try: time-out, conflict, rate limit, and any fault of the server."""
    return status in {408, 409, 429} or 500 <= status < 600


class Failure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a turn could not be measured, as the stream, stderr and exit code tell it, or the gateway."""

    blame: Literal["agent_api", "agent_crash", "sandbox", "harness"]
    reason: str
    retryable: bool = False


class TurnTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: everything the stream said, and how it ended."""

    agent: str
    session_id: str | None = None
    model: str | None = None
    offered: Offered = Offered()
    tool_calls: tuple[ToolCall, ...] = ()
    commands: tuple[ShellCommand, ...] = ()
    reads: tuple[FileRead, ...] = ()
    skill_calls: tuple[SkillCall, ...] = ()
    messages: tuple[str, ...] = ()
    """Texts the agent said, in order."""
    reply: str | None = None
    """The final reply; None when there was none. Never an API error's text."""
    usage: Usage = Usage()
    refused: bool = False
    denials: int = 0
    warnings: tuple[str, ...] = ()
    closing: Closing = "none"
    failure: Failure | None = None
    events: int = 0
    unknown_events: int = 0
    broken_lines: int = 0

    @property
    def active(self) -> bool:
        """Whether the agent did anything at all: said something or called a tool."""
        return bool(self.tool_calls or self.messages or self.reply)
