"""What Codex' own session record adds to its stream: the commands of sub-agents, which the stream does not show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pytest_skilleval.agents.codex_parse import SUBAGENT_WARNING, shell_call, unwrap_words
from pytest_skilleval.agents.streams import decode
from pytest_skilleval.core.transcript import ShellCommand, ToolCall, TurnTranscript


class Item(msgspec.Struct, gc=False):
    """Something done; of interest when it is a command."""

    type: str = ""
    id: str = ""
    command: tuple[str, ...] = ()
    aggregated_output: str | None = None
    exit_code: int | None = None
    status: str = ""


class Payload(msgspec.Struct, gc=False):
    """The inner part of a line."""

    type: str = ""
    id: str = ""
    parent_thread_id: str | None = None
    turn_id: str | None = None
    root_turn_id: str | None = None
    item: Item | None = None


class Line(msgspec.Struct, gc=False):
    """One line of a ``rollout-*.jsonl``."""

    type: str
    payload: Payload


class Thread(msgspec.Struct):
    """One file: the main agent's thread or a sub-agent's."""

    parent: str | None = None
    turns: list[str] = []
    """Turn ids in the order begun."""
    commands: list[tuple[str, ShellCommand]] = []
    """Id of the main agent's turn, and the command."""


DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def read(record: bytes) -> Thread:
    """One file of the session record; lines of another shape are left out."""
    thread, root = Thread(), ""
    for line in decode(record, DECODER).lines:
        told = line.payload
        if line.type == "session_meta":
            thread.parent = told.parent_thread_id
        elif told.type == "task_started":
            thread.turns.append(told.turn_id or "")
            root = told.root_turn_id or root
        elif told.item is not None and told.item.type == "CommandExecution":
            thread.commands.append((root, _command(told.item)))
    return thread


def _command(item: Item) -> ShellCommand:
    denied = item.status == "declined"
    return ShellCommand(
        line=unwrap_words(item.command),
        executed=not denied,
        denied=denied,
        exit_code=item.exit_code,
        output=item.aggregated_output or "",
        subagent=True,
        call_id=item.id,
    )


def supplement(turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:
    """The turns of a run with what their sub-agents ran, from the files of the session record; it stands after the main agent's."""
    threads = [read(record) for record in records]
    order = {turn: number for thread in threads if thread.parent is None for number, turn in enumerate(thread.turns)}
    more: defaultdict[int, list[ShellCommand]] = defaultdict(list)
    for thread in threads:
        if thread.parent is not None:
            for turn, command in thread.commands:
                if turn in order:
                    more[order[turn]].append(command)
    return tuple(_with(turn, more[number]) for number, turn in enumerate(turns))


def _with(turn: TurnTranscript, commands: list[ShellCommand]) -> TurnTranscript:
    if not commands:
        return turn
    return msgspec.structs.replace(
        turn,
        commands=(*turn.commands, *commands),
        tool_calls=(*turn.tool_calls, *map(_call, commands)),
        warnings=tuple(_other(turn.warnings)),
    )


def _call(command: ShellCommand) -> ToolCall:
    return msgspec.structs.replace(shell_call(command, failed=command.denied or bool(command.exit_code)), subagent=True)


def _other(warnings: Iterable[str]) -> Iterator[str]:
    return (warning for warning in warnings if warning != SUBAGENT_WARNING)
