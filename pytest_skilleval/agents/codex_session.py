"""What Codex' own session record adds to its stream.

The stream does not show what sub-agents ran, nor a command that a rule forbade, nor, now and then, one that Codex' own sandbox
stopped: whether it shows that one is a race within Codex. The record holds what the model asked for, in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pytest_skilleval.agents.codex_commands import denied, shell_call, stopped
from pytest_skilleval.agents.codex_parse import SUBAGENT_WARNING
from pytest_skilleval.agents.codex_record import Attempt, read
from pytest_skilleval.core.transcript import ShellCommand, ToolCall, TurnTranscript


def supplement(turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:
    """The turns of a run with what the files of the session record add to them.

    Commands that the stream left out stand where they were asked for, those of sub-agents after the main agent's. What Codex'
    own sandbox stopped is denied: attempted, not executed.
    """
    threads = [read(record) for record in records]
    main = [thread for thread in threads if thread.parent is None]
    order = {turn: number for thread in main for number, turn in enumerate(thread.turns)}
    own: defaultdict[int, list[Attempt]] = defaultdict(list)
    others: defaultdict[int, list[ShellCommand]] = defaultdict(list)
    for thread in threads:
        for attempt in thread.attempts:
            number = order.get(attempt.root)
            if number is None:
                continue
            if thread.parent is None:
                own[number].append(attempt)
            elif (command := _judged(attempt.command, attempt)) is not None:
                others[number].append(msgspec.structs.replace(command, subagent=True))
    return tuple(_with(turn, own[number], others[number]) for number, turn in enumerate(turns))


def _judged(command: ShellCommand | None, attempt: Attempt) -> ShellCommand | None:
    return denied(command) if command is not None and attempt.confined and stopped(command) else command


def _with(turn: TurnTranscript, attempts: list[Attempt], others: list[ShellCommand]) -> TurnTranscript:
    if not attempts and not others:
        return turn
    commands = tuple(_merged(turn.commands, attempts)) if attempts else turn.commands
    told = turn.warnings if not others else tuple(warning for warning in turn.warnings if warning != SUBAGENT_WARNING)
    everything = (*commands, *others)
    return msgspec.structs.replace(
        turn,
        commands=everything,
        tool_calls=(*_calls(turn.tool_calls, commands), *map(_call, others)),
        denials=sum(command.denied for command in everything),
        warnings=told,
    )


def _merged(streamed: Sequence[ShellCommand], attempts: Iterable[Attempt]) -> Iterator[ShellCommand]:
    """The commands of the main agent in the order asked for, each as the stream tells it, else as the record does."""
    left = list(streamed)
    for attempt in attempts:
        found = next((command for command in left if command.line == attempt.line), None)
        if found is not None and (attempt.shown or attempt.command is None or found.denied):
            left.remove(found)
        else:
            found = attempt.command
        if (command := _judged(found, attempt)) is not None:
            yield command
    yield from left


def _calls(streamed: Iterable[ToolCall], commands: Iterable[ShellCommand]) -> Iterator[ToolCall]:
    """The tool calls with `commands` for those of the shell; any other stays behind the one that it followed."""
    behind: defaultdict[str, list[ToolCall]] = defaultdict(list)
    last = ""
    for call in streamed:
        if call.name == "shell":
            last = call.call_id
        else:
            behind[last].append(call)
    yield from behind.pop("", ())
    for command in commands:
        yield _call(command)
        yield from behind.pop(command.call_id, ())
    for others in behind.values():
        yield from others


def _call(command: ShellCommand) -> ToolCall:
    return shell_call(command, failed=command.denied or bool(command.exit_code))
