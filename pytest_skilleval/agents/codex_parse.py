"""What a ``codex exec --json`` stream meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from pytest_skilleval.agents import failures
from pytest_skilleval.agents.streams import decode
from pytest_skilleval.core.transcript import Closing, Failure, ShellCommand, ToolCall, TurnTranscript, Usage

REJECTED = re.compile(r'message: ("Rejected\(.*"\)") \}')
REJECTED_COMMAND = re.compile(r"`(.*)` rejected: (.*)", re.DOTALL)
SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
SUBAGENT_WARNING = "a sub-agent ran; this CLI's stream does not show what it did (its session record does)"
PLAINLY_WRAPPED = re.compile(r"""/(?:usr/)?bin/(?:ba|z|da)?sh -l?c (?:'([^']+)'|"([^"\\$`!]+)")""")
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
TOOLS = frozenset({"file_change", "mcp_tool_call", "web_search", "collab_tool_call"})

DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
ENCODER = msgspec.json.Encoder()


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
    closing: Closing = "complete" if seen.done else "cut" if read.lines else "none"
    done = _carried_out(seen.items)
    denied = tuple(_rejected(stderr)) if stderr else ()
    trouble = _trouble(seen)
    refused = trouble is not None and failures.is_policy(trouble)
    return TurnTranscript(
        agent="codex",
        session_id=seen.session_id,
        tool_calls=(*done.calls, *(shell_call(command, failed=True) for command in denied)),
        commands=(*done.commands, *denied),
        messages=tuple(done.messages),
        reply=done.messages[-1] if done.messages and seen.done and seen.done.type == "turn.completed" else None,
        usage=_usage(seen.done),
        refused=refused,
        denials=len(denied),
        warnings=tuple(_warnings(seen, done)),
        closing=closing,
        failure=None if refused else _failure(trouble, closing, stderr, exit_code),
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
        elif event.type in {"turn.completed", "turn.failed"}:
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


def _carried_out(items: Mapping[str, Item]) -> _Done:
    done = _Done()
    for item in items.values():
        if item.type == "command_execution":
            command = _command(item)
            done.commands.append(command)
            done.calls.append(shell_call(command, failed=item.status in FAILED))
        elif item.type == "agent_message":
            if item.text:
                done.messages.append(item.text)
        elif item.type in TOOLS:
            done.calls.append(_tool_call(item))
        elif item.type == "error" and item.message:
            done.warnings.append(item.message)
    return done


def unwrap(command: str) -> str:
    """The command line inside ``/bin/bash -lc '...'``; any other is returned as it is."""
    if (plain := PLAINLY_WRAPPED.fullmatch(command)) is not None:
        return plain[1] or plain[2]
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        return command
    return words[2] if _is_wrapper(words) else command


def unwrap_words(words: tuple[str, ...]) -> str:
    """The same for a command that is told as a list of words."""
    return words[2] if _is_wrapper(words) else shlex.join(words)


def _is_wrapper(words: tuple[str, ...]) -> bool:
    return len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in {"-c", "-lc"}


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


def shell_call(command: ShellCommand, *, failed: bool) -> ToolCall:
    """The command as a tool call."""
    asked = ENCODER.encode({"command": command.line}).decode()
    return ToolCall(name="shell", arguments=asked, call_id=command.call_id, failed=failed, denied=command.denied, result=command.output)


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


def _failure(trouble: str | None, closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    return failures.of_text(trouble) if trouble is not None else failures.of_ending(closing, stderr, exit_code)


def _warnings(seen: _Seen, done: _Done) -> Iterator[str]:
    yield from done.warnings
    if seen.retries:
        yield f"the model's API was asked again {len(seen.retries)} time(s): {seen.retries[-1]}"
    if any(item.type == "collab_tool_call" for item in seen.items.values()):
        yield SUBAGENT_WARNING
