"""What a Claude Code stream meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from pytest_skilleval.agents import claude_usage, failures
from pytest_skilleval.agents.claude_events import DECODER, SYNTHETIC, Assistant, Block, Ending, Event, Result, System, User
from pytest_skilleval.agents.streams import decode, text_of
from pytest_skilleval.core.transcript import (
    Closing,
    Failure,
    FileRead,
    Offered,
    ShellCommand,
    SkillCall,
    ToolCall,
    TurnTranscript,
)

EXIT_CODE = re.compile(r"^(?:Error: )?Exit code (\d+)\n?")
DENIED = re.compile(
    r"^(?:Error: )?(?:Permission to use \S+|Claude requested permissions|This command requires approval|The user doesn't want to)"
)
NO_OUTPUT = ("(Bash completed with no output)", "Tool ran without output or errors")
"""What the CLI says in place of an empty output; no set, for that would hash every long output."""
NEVER_RAN = "<tool_use_error>"
SESSION = re.compile(rb'"session_id":"([^"\\]+)"')


class _Shell(msgspec.Struct):
    """Arguments of the Bash tool."""

    command: str = ""
    run_in_background: bool = False


class _File(msgspec.Struct):
    """Arguments of the Read tool."""

    file_path: str = ""


class _Skill(msgspec.Struct):
    """Arguments of the Skill tool."""

    skill: str = ""


SHELL, FILE, SKILL = msgspec.json.Decoder(_Shell), msgspec.json.Decoder(_File), msgspec.json.Decoder(_Skill)
Shape = TypeVar("Shape", _Shell, _File, _Skill)


class _Seen(msgspec.Struct):
    """The events of a turn, sorted in one pass."""

    init: System | None = None
    ending: Ending | None = None
    calls: dict[str, tuple[Block, bool]] = {}
    """Every tool call in the order sent, and whether it was a sub-agent's."""
    results: dict[str, Result] = {}
    messages: list[str] = []
    """What the main agent said; API errors in the shape of a reply are none of it."""
    model: str = ""
    """The one that answered."""
    retries: dict[int | None, int] = {}
    """Status of the API -> how often it was asked again."""


def parse(stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
    """What the turn's raw streams meant; never raises for bad input."""
    read = decode(stdout, DECODER)
    seen = _sort(read.lines)
    ending = seen.ending
    closing: Closing = "complete" if ending else "cut" if read.lines else "none"
    refused = ending is not None and ending.is_error and ending.stop_reason == "refusal"
    done = _carried_out(seen)
    return TurnTranscript(
        agent="claude-code",
        session_id=_session(seen, stdout),
        model=seen.model or (seen.init.model if seen.init else None),
        offered=_offered(seen.init),
        tool_calls=tuple(done.calls),
        commands=tuple(done.commands),
        reads=tuple(done.reads),
        skill_calls=tuple(done.skills),
        messages=tuple(seen.messages),
        reply=_reply(seen),
        usage=claude_usage.of_turn(stdout, ending),
        refused=refused,
        denials=sum(call.denied for call in done.calls),
        warnings=tuple(_warnings(seen)),
        closing=closing,
        failure=None if refused else _failure(ending, closing, stderr, exit_code),
        events=len(read.lines) + read.unknown,
        unknown_events=read.unknown,
        broken_lines=read.broken,
    )


def _sort(events: Iterable[Event]) -> _Seen:
    seen = _Seen()
    for event in events:
        if isinstance(event, User):
            for result in event.message.content:
                if isinstance(result, Result):
                    seen.results[result.tool_use_id] = result
        elif isinstance(event, Assistant):
            _said(event, seen)
        elif isinstance(event, Ending):
            seen.ending = event
        elif isinstance(event, System):
            _told(event, seen)
    return seen


def _said(event: Assistant, seen: _Seen) -> None:
    message, subagent = event.message, event.parent_tool_use_id is not None
    ours = message.model != SYNTHETIC
    if ours and not seen.model:
        seen.model = message.model
    for block in message.content:
        if isinstance(block, str):
            continue
        if block.type == "tool_use":
            seen.calls.setdefault(block.id, (block, subagent))
        elif block.text and block.type == "text" and ours and not (subagent or event.error):
            seen.messages.append(block.text)


def _told(event: System, seen: _Seen) -> None:
    if event.subtype == "init":
        seen.init = seen.init or event
    elif event.subtype == "api_retry":
        seen.retries[event.error_status] = seen.retries.get(event.error_status, 0) + 1


class _Done(msgspec.Struct):
    """The tool calls of a turn with what came of them."""

    calls: list[ToolCall] = []
    commands: list[ShellCommand] = []
    reads: list[FileRead] = []
    skills: list[SkillCall] = []


def _carried_out(seen: _Seen) -> _Done:
    """Every tool call in the order sent, main agent and sub-agents, with its result."""
    done = _Done()
    refused = {denial.tool_use_id for denial in seen.ending.permission_denials} if seen.ending else set()
    for name, (block, subagent) in seen.calls.items():
        told = seen.results.get(name)
        text = "" if told is None else told.content if isinstance(told.content, str) else text_of(told.content)
        failed = told is not None and told.is_error is True
        call = ToolCall(
            name=block.name,
            arguments=bytes(block.input).decode("utf-8", "replace"),
            call_id=name,
            failed=failed,
            denied=name in refused or (failed and DENIED.match(text) is not None),
            result=text,
            subagent=subagent,
        )
        done.calls.append(call)
        if call.name == "Bash":
            done.commands.append(_command(call, block, told))
        elif call.name == "Read":
            path = _arguments(block, FILE, _File).file_path
            done.reads.append(FileRead(path=path, ok=told is not None and not failed, subagent=subagent, order=len(done.calls) - 1))
        elif call.name == "Skill":
            ok = told is not None and not failed and not call.denied
            done.skills.append(SkillCall(name=_arguments(block, SKILL, _Skill).skill, ok=ok, order=len(done.calls) - 1))
    return done


def _command(call: ToolCall, block: Block, told: Result | None) -> ShellCommand:
    asked, text = _arguments(block, SHELL, _Shell), call.result
    code = EXIT_CODE.match(text) if call.failed else None
    ended = told is not None and not call.failed and not asked.run_in_background
    return ShellCommand(
        line=asked.command,
        executed=not (call.denied or text.startswith(NEVER_RAN)),
        denied=call.denied,
        exit_code=int(code[1]) if code else 0 if ended else None,
        output=text[code.end() :] if code else "" if text in NO_OUTPUT else text,
        background=asked.run_in_background,
        subagent=call.subagent,
        call_id=call.call_id,
    )


def _arguments(block: Block, decoder: msgspec.json.Decoder[Shape], shape: type[Shape]) -> Shape:
    try:
        return decoder.decode(block.input)
    except msgspec.MsgspecError:
        return shape()


def _session(seen: _Seen, stdout: bytes) -> str | None:
    """The session's id; every line holds it, so that it is known even where the first and the last are lost."""
    told = (seen.init and seen.init.session_id) or (seen.ending and seen.ending.session_id)
    if told:
        return told
    found = SESSION.search(stdout)
    return found[1].decode("utf-8", "replace") if found else None


def _reply(seen: _Seen) -> str | None:
    """The final reply: none after an error, whatever its text says."""
    if seen.ending is None or seen.ending.is_error:
        return None
    return seen.ending.result or (seen.messages[-1] if seen.messages else None)


def _offered(init: System | None) -> Offered:
    if init is None:
        return Offered()
    return Offered(
        skills=init.skills,
        mcp_servers=None if init.mcp_servers is None else tuple(server.name for server in init.mcp_servers),
        tools=init.tools,
        memory_paths=None if init.memory_paths is None else tuple(init.memory_paths.values()),
        permission_mode=init.permission_mode,
        cli_version=init.claude_code_version,
        cwd=init.cwd,
    )


def _warnings(seen: _Seen) -> Iterator[str]:
    for status, times in seen.retries.items():
        yield f"the model's API was asked again {times} time(s) after {f'status {status}' if status else 'no answer'}"


def _failure(ending: Ending | None, closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    if ending is None or not ending.is_error:
        return failures.of_ending(closing, stderr, exit_code)
    text = ending.result or "; ".join(ending.errors) or ending.subtype
    if ending.api_error_status is not None:
        return failures.of_status(ending.api_error_status, text)
    return failures.of_text(text)
