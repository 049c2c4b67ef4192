"""What a ``codex exec --json`` stream meant."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pytest_skilleval.agents import failures
from pytest_skilleval.agents.codex_commands import never_begun, rejected, shell_call, unwrap
from pytest_skilleval.agents.streams import decode
from pytest_skilleval.core.transcript import Closing, Failure, ShellCommand, ToolCall, TurnTranscript, Usage

SUBAGENT_WARNING = "a sub-agent ran; this CLI's stream does not show what it did (its session record does)"
RETRYING = "Reconnecting..."


class Item(msgspec.Struct, gc=False):
    """One thing the agent did."""

    id: str = ""
    type: str = ""
    text: str = ""
    command: str = ""
    aggregated_output: str = ""
    exit_code: int | None = None
    status: str = ""
    message: str = ""
    tool: str = ""
    server: str = ""
    prompt: str | None = None
    query: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"")
    changes: msgspec.Raw = msgspec.Raw(b"")


class TokenCount(msgspec.Struct, gc=False):
    """Usage of the thread so far; cached tokens are part of the input."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class Told(msgspec.Struct, gc=False):
    """An error."""

    message: str = ""


class Event(msgspec.Struct, gc=False):
    """One line."""

    type: str
    thread_id: str | None = None
    item: Item | None = None
    usage: TokenCount | None = None
    error: Told | None = None
    message: str = ""


KNOWN = frozenset(
    {"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed", "error"}
)
FAILED = frozenset({"failed", "declined"})
RUNNING = "in_progress"
"""Of a command when the turn was over: the agent had not waited for it."""
ENDINGS = frozenset({"turn.completed", "turn.failed"})
TOOLS = frozenset({"file_change", "mcp_tool_call", "web_search", "collab_tool_call"})

DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class _Seen(msgspec.Struct):
    """The events of a turn, sorted in one pass."""

    items: dict[str, Item] = {}
    """Each item once, in the order begun, in its last state."""
    done: Event | None = None
    session_id: str | None = None
    errors: list[str] = []
    retries: list[str] = []
    unknown: int = 0


def parse(stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
    """What the turn's raw streams meant; never raises for bad input."""
    read = decode(stdout, DECODER)
    seen = _sort(read.lines)
    ending = seen.done
    closing: Closing = "complete" if ending else "cut" if read.lines else "none"
    done = _carried_out(seen)
    denied = tuple(rejected(stderr.decode("utf-8", "replace"))) if stderr else ()
    trouble = _trouble(seen)
    refused = trouble is not None and failures.is_policy(trouble)
    return TurnTranscript(
        agent="codex",
        session_id=seen.session_id,
        tool_calls=(*done.calls, *[shell_call(command, failed=True) for command in denied]),
        commands=(*done.commands, *denied),
        messages=tuple(done.messages),
        reply=done.messages[-1] if done.messages and ending and ending.type == "turn.completed" else None,
        usage=_usage(ending),
        refused=refused,
        denials=len(denied),
        warnings=tuple(done.warnings),
        closing=closing,
        failure=None if refused else _unconfined(done) or _failure(trouble, closing, stderr, exit_code),
        events=len(read.lines) + read.unknown,
        unknown_events=read.unknown + seen.unknown,
        broken_lines=read.broken,
    )


def _sort(events: Iterable[Event]) -> _Seen:
    seen = _Seen()
    items = seen.items
    for event in events:
        item = event.item
        if item is not None:
            items[item.id] = item
        elif event.type in ENDINGS:
            seen.done = event
        elif event.type == "thread.started":
            seen.session_id = seen.session_id or event.thread_id
        elif event.type == "error":
            (seen.retries if event.message.startswith(RETRYING) else seen.errors).append(event.message)
        elif event.type not in KNOWN:
            seen.unknown += 1
    return seen


class _Done(msgspec.Struct):
    """What the agent did and said."""

    calls: list[ToolCall] = []
    commands: list[ShellCommand] = []
    messages: list[str] = []
    warnings: list[str] = []
    unbegun: int = 0
    """Of the commands, those that Codex could make no sandbox for."""


def _carried_out(seen: _Seen) -> _Done:
    done = _Done()
    calls, commands = done.calls, done.commands
    subagents = False
    completed = seen.done is not None and seen.done.type == "turn.completed"
    for item in seen.items.values():
        kind = item.type
        if kind == "command_execution":
            status = item.status
            declined = status == "declined"
            command = ShellCommand(
                line=unwrap(item.command),
                executed=not declined,
                denied=declined,
                exit_code=item.exit_code,
                output=item.aggregated_output,
                background=completed and status == RUNNING,
                call_id=item.id,
            )
            if item.exit_code and never_begun(command):
                command = msgspec.structs.replace(command, executed=False)
                done.unbegun += 1
            commands.append(command)
            calls.append(shell_call(command, failed=status in FAILED))
        elif kind == "agent_message":
            if item.text:
                done.messages.append(item.text)
        elif kind in TOOLS:
            calls.append(_tool_call(item))
            subagents = subagents or kind == "collab_tool_call"
        elif kind == "error" and item.message:
            done.warnings.append(item.message)
    if seen.retries:
        done.warnings.append(f"the model's API was asked again {len(seen.retries)} time(s): {seen.retries[-1]}")
    if subagents:
        done.warnings.append(SUBAGENT_WARNING)
    return done


def _tool_call(item: Item) -> ToolCall:
    name = f"mcp__{item.server}__{item.tool}" if item.type == "mcp_tool_call" else item.tool or item.type
    return ToolCall(name=name, arguments=_arguments(item), call_id=item.id, failed=item.status in FAILED, denied=item.status == "declined")


def _arguments(item: Item) -> str:
    """What the tool was asked, as JSON text."""
    if raw := bytes(item.arguments) or bytes(item.changes):
        return raw.decode("utf-8", "replace")
    return msgspec.json.encode({"prompt": item.prompt} if item.prompt else {"query": item.query}).decode()


def _usage(done: Event | None) -> Usage:
    """The thread's usage so far: a resumed turn's holds the turns before it."""
    if done is None or done.usage is None:
        return Usage()
    told = done.usage
    return Usage(
        input=told.input_tokens - told.cached_input_tokens - told.cache_write_input_tokens,
        output=told.output_tokens,
        cache_read=told.cached_input_tokens,
        cache_write_5m=told.cache_write_input_tokens,
        reasoning=told.reasoning_output_tokens,
        known=True,
        whole_session=True,
    )


def _trouble(seen: _Seen) -> str | None:
    """Why the turn failed, in the CLI's words; None when it did not say so."""
    if seen.done is not None:
        return None if seen.done.type == "turn.completed" else (seen.done.error.message if seen.done.error else "turn failed")
    return seen.errors[-1] if seen.errors else None


def _unconfined(done: _Done) -> Failure | None:
    """Where Codex can't make its own sandbox not one command runs: the fault of the machine, not of the agent."""
    if not done.unbegun or done.unbegun < len(done.commands):
        return None
    return Failure(
        blame="sandbox",
        reason="Codex can't make its own sandbox here, which `permissions: default` asks for, so that no command ran"
        f" (allow user namespaces, or take another backend): {failures.short(done.commands[-1].output)}",
    )


def _failure(trouble: str | None, closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    return failures.of_text(trouble) if trouble is not None else failures.of_ending(closing, stderr, exit_code)
