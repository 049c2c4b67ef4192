"""One file of Codex' own session record (``rollout-*.jsonl``): what a thread asked its shell to do, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from pytest_skilleval.agents.codex_commands import STOPPED, denied, rejected, unwrap_words
from pytest_skilleval.agents.streams import decode, text_of
from pytest_skilleval.core.transcript import ShellCommand

ENDED = re.compile(r"Process exited with code (\d+)\n(?:.*\n)*?Output:\n")
IN_SCRIPT = re.compile(r"""\b(?:cmd|command)["']?\s*:\s*("(?:[^"\\]|\\.)*")""")
SHELL_TOOLS = frozenset({"exec_command", "shell", "shell_command", "container.exec"})
UNCONFINED = frozenset({"danger-full-access", "disabled", "external-sandbox"})


class Item(msgspec.Struct, gc=False):
    """Something done; of interest when it is a command."""

    type: str = ""
    id: str = ""
    command: tuple[str, ...] = ()
    aggregated_output: str | None = None
    exit_code: int | None = None
    status: str = ""


class Policy(msgspec.Struct, gc=False):
    """What commands may touch."""

    type: str = ""


class Payload(msgspec.Struct, gc=False):
    """The inner part of a line."""

    type: str = ""
    parent_thread_id: str | None = None
    turn_id: str | None = None
    root_turn_id: str | None = None
    item: Item | None = None
    sandbox_policy: Policy | None = None
    # tool calls and what came of them
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    input: str = ""
    output: Any = None


class Line(msgspec.Struct, gc=False):
    """One line."""

    type: str
    payload: Payload


class Attempt(msgspec.Struct):
    """One command that the model asked for."""

    line: str
    root: str
    """Id of the main agent's turn."""
    call_id: str
    confined: bool
    """Whether Codex' own sandbox was on."""
    scripted: bool = False
    """Asked for from within a script, whose text need not show the command."""
    shown: bool = False
    """Whether the CLI told of it as a command, so that the stream has it, too."""
    command: ShellCommand | None = None
    """What came of it; None when the record does not tell."""


class Thread(msgspec.Struct):
    """One file: the main agent's thread or a sub-agent's."""

    parent: str | None = None
    turns: list[str] = []
    """Turn ids in the order begun."""
    attempts: list[Attempt] = []
    root: str = ""
    confined: bool = False


class _Asked(msgspec.Struct):
    """Arguments of the shell tools, by their several names."""

    cmd: str | tuple[str, ...] = ""
    command: str | tuple[str, ...] = ""


DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
ASKED: msgspec.json.Decoder[_Asked] = msgspec.json.Decoder(_Asked)


def read(record: bytes) -> Thread:
    """One file of the session record; lines of another shape are left out."""
    thread = Thread()
    for line in decode(record, DECODER).lines:
        told = line.payload
        if line.type == "session_meta":
            thread.parent = told.parent_thread_id
        elif line.type == "turn_context":
            thread.confined = told.sandbox_policy is not None and told.sandbox_policy.type not in UNCONFINED
        elif line.type == "response_item":
            _response(told, thread)
        elif told.type == "task_started":
            thread.turns.append(told.turn_id or "")
            thread.root = told.root_turn_id or thread.root
        elif told.item is not None and told.item.type == "CommandExecution":
            _shown(told.item, thread)
    return thread


def _response(told: Payload, thread: Thread) -> None:
    if told.type == "function_call" and told.name in SHELL_TOOLS:
        thread.attempts.extend(_attempt(line, told, thread, scripted=False) for line in _asked(told.arguments))
    elif told.type == "custom_tool_call":
        thread.attempts.extend(_attempt(line, told, thread, scripted=True) for line in _in_script(told.input))
    elif told.type in {"function_call_output", "custom_tool_call_output"}:
        asked = [attempt for attempt in thread.attempts if attempt.call_id == told.call_id]
        for attempt in asked:
            if not attempt.shown:
                attempt.command = _outcome(attempt, text_of(told.output), alone=len(asked) == 1)


def _attempt(line: str, told: Payload, thread: Thread, *, scripted: bool) -> Attempt:
    return Attempt(line=line, root=thread.root, call_id=told.call_id, confined=thread.confined, scripted=scripted)


def _asked(arguments: str) -> Iterator[str]:
    try:
        asked = ASKED.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return
    line = asked.cmd or asked.command
    if line:
        yield line if isinstance(line, str) else unwrap_words(line)


def _in_script(script: str) -> Iterator[str]:
    """The command lines that stand in a script as they are; those that it puts together are not known."""
    for quoted in IN_SCRIPT.findall(script):
        with suppress(msgspec.DecodeError):
            yield msgspec.json.decode(quoted, type=str)


def _shown(item: Item, thread: Thread) -> None:
    """The CLI tells of a command: the one asked for under this id, or by a script; else one that nothing tells the asking of."""
    line = unwrap_words(item.command)
    waiting = (one for one in thread.attempts if not one.shown and (one.call_id == item.id or (one.scripted and one.line == line)))
    attempt = next(waiting, None)
    if attempt is None:
        attempt = Attempt(line=line, root=thread.root, call_id=item.id, confined=thread.confined)
        thread.attempts.append(attempt)
    attempt.shown = True
    command = ShellCommand(line=line, executed=True, exit_code=item.exit_code, output=item.aggregated_output or "", call_id=item.id)
    attempt.command = denied(command) if item.status == "declined" else command


def _outcome(attempt: Attempt, text: str, *, alone: bool) -> ShellCommand | None:
    """What the tool's reply tells of a command that the CLI did not tell of; None where it leaves that open.

    The reply to a script tells of all its commands: it is that of the one which the script holds.
    """
    for refused in rejected(text):
        if refused.line == attempt.line:
            return msgspec.structs.replace(refused, call_id=attempt.call_id)
    ran = ShellCommand(line=attempt.line, executed=True, output=text, call_id=attempt.call_id)
    if attempt.scripted:
        return denied(ran) if alone and attempt.confined and STOPPED.search(text) else None
    ended = ENDED.search(text)
    return msgspec.structs.replace(ran, exit_code=int(ended[1]), output=text[ended.end() :]) if ended else None
