"""Lines of ``claude -p --output-format stream-json``, as far as they are needed; everything else in them is skipped unread."""

from __future__ import annotations

import msgspec

SYNTHETIC = "<synthetic>"
"""Model of messages that the CLI itself writes: API errors in the shape of a reply."""


class Block(msgspec.Struct, gc=False):
    """One content block: text, thinking, tool_use or tool_result."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str = ""
    content: msgspec.Raw = msgspec.Raw(b"")
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


class Message(msgspec.Struct, gc=False):
    """A message; several lines share one id."""

    id: str = ""
    model: str = ""
    content: list[Block] | str = ""
    usage: TokenCount | None = None
    stop_reason: str | None = None


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


class Event(msgspec.Struct, gc=False):
    """One line."""

    type: str
    subtype: str = ""
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    message: Message | None = None
    error: str | None = None
    # system/init
    cwd: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    mcp_servers: tuple[Server, ...] | None = None
    skills: tuple[str, ...] | None = None
    permission_mode: str | None = msgspec.field(default=None, name="permissionMode")
    claude_code_version: str | None = None
    memory_paths: dict[str, str] | None = None
    # system/api_retry
    error_status: int | None = None
    # result
    is_error: bool = False
    api_error_status: int | None = None
    result: str = ""
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: TokenCount | None = None
    model_usage: dict[str, ModelUsage] | None = msgspec.field(default=None, name="modelUsage")
    permission_denials: tuple[Denial, ...] = ()
    errors: tuple[str, ...] = ()


KNOWN = frozenset(
    {"system", "assistant", "user", "result", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"}
)

DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
