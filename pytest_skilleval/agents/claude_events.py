"""Lines of ``claude -p --output-format stream-json``, as far as they are needed; everything else in them is skipped unread."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

SYNTHETIC = "<synthetic>"
"""Model of messages that the CLI itself writes: API errors in the shape of a reply."""


class Block(msgspec.Struct, gc=False):
    """One content block of the agent: text, thinking or tool_use."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class Result(msgspec.Struct, gc=False):
    """One content block of a user line; of interest when it is the result of a tool call."""

    tool_use_id: str = ""
    content: Any = None
    """A text, or a list of blocks with ``text``."""
    is_error: bool | None = None


class CacheCreation(msgspec.Struct, gc=False):
    """Tokens written to the cache, by how long they live."""

    ephemeral_1h_input_tokens: int = 0
    ephemeral_5m_input_tokens: int = 0


class TokenCount(msgspec.Struct, gc=False):
    """Usage as the API reports it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None


class Said(msgspec.Struct, frozen=True, gc=False):
    """A message of the agent, or a part of one; several lines share one id."""

    model: str = ""
    content: list[Block] | str = ""


class Told(msgspec.Struct, frozen=True, gc=False):
    """A message to the agent."""

    content: list[Result] | str = ""


class ModelUsage(msgspec.Struct, rename="camel", gc=False):
    """Totals of one model over the turn, sub-agents included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class Server(msgspec.Struct, gc=False):
    """An MCP server of the init event."""

    name: str = ""


class Denial(msgspec.Struct, gc=False):
    """A tool call that the permission rules denied."""

    tool_use_id: str = ""


class System(msgspec.Struct, tag="system", gc=False):
    """What the CLI tells of itself: ``init`` at the start, ``api_retry`` before it asks again."""

    subtype: str = ""
    session_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    mcp_servers: tuple[Server, ...] | None = None
    skills: tuple[str, ...] | None = None
    permission_mode: str | None = msgspec.field(default=None, name="permissionMode")
    claude_code_version: str | None = None
    memory_paths: dict[str, str] | None = None
    error_status: int | None = None


class Assistant(msgspec.Struct, tag="assistant", gc=False):
    """Something the agent said or asked for, or a sub-agent did."""

    message: Said = Said()
    parent_tool_use_id: str | None = None
    error: str | None = None


class User(msgspec.Struct, tag="user", gc=False):
    """What came of tool calls, and texts that the CLI put in."""

    message: Told = Told()


class Ending(msgspec.Struct, tag="result", gc=False):
    """The closing event."""

    subtype: str = ""
    session_id: str | None = None
    is_error: bool = False
    api_error_status: int | None = None
    result: str = ""
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: TokenCount | None = None
    model_usage: dict[str, ModelUsage] | None = msgspec.field(default=None, name="modelUsage")
    permission_denials: tuple[Denial, ...] = ()
    errors: tuple[str, ...] = ()


class _StreamEvent(msgspec.Struct, tag="stream_event", gc=False):
    """Known and of no interest, as are the next ones."""


class _RateLimit(msgspec.Struct, tag="rate_limit_event", gc=False):
    pass


class _Progress(msgspec.Struct, tag="tool_progress", gc=False):
    pass


class _Summary(msgspec.Struct, tag="tool_use_summary", gc=False):
    pass


class _SignIn(msgspec.Struct, tag="auth_status", gc=False):
    pass


Event: TypeAlias = System | Assistant | User | Ending | _StreamEvent | _RateLimit | _Progress | _Summary | _SignIn

DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Counted(msgspec.Struct, gc=False):
    """The usage of a message."""

    id: str = ""
    model: str = ""
    usage: TokenCount | None = None


class Counting(msgspec.Struct, gc=False):
    """Any line once more, where nothing but each message's usage tells the tokens."""

    type: str
    message: Counted | None = None


COUNTING: msgspec.json.Decoder[Counting] = msgspec.json.Decoder(Counting)
