"""What a ``codex exec --json`` stream meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

import msgspec

from pytest_skilleval.agents import failures
from pytest_skilleval.agents.streams import decode
from pytest_skilleval.core.transcript import Closing, Failure, ShellCommand, ToolCall, TurnTranscript, Usage

REJECTED = re.compile(r'message: ("Rejected\(.*"\)") \}')
REJECTED_COMMAND = re.compile(r"`(.*)` rejected: (.*)", re.DOTALL)
SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
RETRYING = "Reconnecting..."


class Item(msgspec.Struct):
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


class TokenCount(msgspec.Struct):
    """Usage of the thread so far; cached tokens are part of the input."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class Told(msgspec.Struct):
    """An error."""

    message: str = ""


class Event(msgspec.Struct):
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
TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"})

DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def parse(stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
    """What the turn's raw streams meant; never raises for bad input."""
    read = decode(stdout, DECODER)
    events = read.lines
    done = next((event for event in reversed(events) if event.type in {"turn.completed", "turn.failed"}), None)
    closing: Closing = "complete" if done else "cut" if events else "none"
    items = _items(events)
    denied = tuple(_rejected(stderr))
    commands = (*(_command(item) for item in items if item.type == "command_execution"), *denied)
    messages = tuple(item.text for item in items if item.type == "agent_message" and item.text)
    trouble = _trouble(events, done)
    refused = trouble is not None and failures.is_policy(trouble)
    return TurnTranscript(
        agent="codex",
        session_id=next((event.thread_id for event in events if event.thread_id), None),
        tool_calls=(*(_tool_call(item) for item in items if item.type in TOOLS), *map(_denied_call, denied)),
        commands=commands,
        messages=messages,
        reply=messages[-1] if messages and done and done.type == "turn.completed" else None,
        usage=_usage(done),
        refused=refused,
        denials=len(denied),
        warnings=tuple(_warnings(events, items)),
        closing=closing,
        failure=None if refused else _failure(trouble, closing, stderr, exit_code),
        events=len(events) + read.unknown,
        unknown_events=read.unknown + sum(event.type not in KNOWN for event in events),
        broken_lines=read.broken,
    )


def _items(events: Iterable[Event]) -> list[Item]:
    """Each item once, in the order begun, in its last state."""
    found: dict[str, Item] = {}
    for event in events:
        if event.item is not None:
            found[event.item.id] = event.item
    return list(found.values())


def unwrap(command: str) -> str:
    """The command line inside ``/bin/bash -lc '...'``; any other is returned as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    wrapped = len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in {"-c", "-lc"}
    return words[2] if wrapped else command


def _command(item: Item) -> ShellCommand:
    return ShellCommand(
        line=unwrap(item.command),
        executed=item.status != "declined",
        denied=item.status == "declined",
        exit_code=item.exit_code,
        output=item.aggregated_output,
        call_id=item.id,
    )


def _rejected(stderr: bytes) -> Iterator[ShellCommand]:
    """Commands that a rule forbade. Only stderr tells of them: the stream has no event for a command that never ran."""
    for number, found in enumerate(REJECTED.finditer(stderr.decode("utf-8", "replace"))):
        told = REJECTED_COMMAND.search(_unquote(_unquote(found[1]).removeprefix("Rejected(").removesuffix(")")))
        if told:
            yield ShellCommand(line=unwrap(told[1]), executed=False, denied=True, output=told[2], call_id=f"rejected_{number}")


def _unquote(text: str) -> str:
    """A quoted string as Rust prints it for debugging; its escapes are JSON's but for a few rare ones, which stay as they are."""
    try:
        return str(msgspec.json.decode(text.replace("\\'", "'")))
    except msgspec.DecodeError:
        return text.strip('"').replace('\\"', '"')


def _denied_call(command: ShellCommand) -> ToolCall:
    asked = msgspec.json.encode({"command": command.line}).decode()
    return ToolCall(name="shell", arguments=asked, call_id=command.call_id, failed=True, denied=True, result=command.output)


def _tool_call(item: Item) -> ToolCall:
    return ToolCall(
        name={"command_execution": "shell", "mcp_tool_call": f"mcp__{item.server}__{item.tool}", "collab_tool_call": item.tool}.get(
            item.type, item.type
        ),
        arguments=_arguments(item),
        call_id=item.id,
        failed=item.status in {"failed", "declined"},
        denied=item.status == "declined",
        result=item.aggregated_output,
    )


def _arguments(item: Item) -> str:
    """What the tool was asked, as JSON text."""
    if raw := bytes(item.arguments) or bytes(item.changes):
        return raw.decode("utf-8", "replace")
    asked = {"command": unwrap(item.command)} if item.command else {"prompt": item.prompt} if item.prompt else {"query": item.query}
    return msgspec.json.encode(asked).decode()


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


def _trouble(events: Iterable[Event], done: Event | None) -> str | None:
    """Why the turn failed, in the CLI's words; None when it did not say so."""
    if done is not None:
        return None if done.type == "turn.completed" else (done.error.message if done.error else "turn failed")
    said = [event.message for event in events if event.type == "error" and not event.message.startswith(RETRYING)]
    return said[-1] if said else None


def _failure(trouble: str | None, closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    return failures.of_text(trouble) if trouble is not None else failures.of_ending(closing, stderr, exit_code)


def _warnings(events: Iterable[Event], items: Iterable[Item]) -> Iterator[str]:
    yield from (item.message for item in items if item.type == "error" and item.message)
    retries = [event.message for event in events if event.type == "error" and event.message.startswith(RETRYING)]
    if retries:
        yield f"the model's API was asked again {len(retries)} time(s): {retries[-1]}"
    if any(item.type == "collab_tool_call" and item.tool == "spawn_agent" for item in items):
        yield "a sub-agent ran; this CLI's stream does not show what it did (its session record does)"
