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


class _Shell(msgspec.Struct, gc=False):
    """Arguments of the Bash tool."""

    command: str = ""
    run_in_background: bool = False


class _File(msgspec.Struct, gc=False):
    """Arguments of the Read tool."""

    file_path: str = ""


class _Skill(msgspec.Struct, gc=False):
    """Arguments of the Skill tool."""

    skill: str = ""


SHELL, FILE, SKILL = msgspec.json.Decoder(_Shell), msgspec.json.Decoder(_File), msgspec.json.Decoder(_Skill)
Shape = TypeVar("Shape", _Shell, _File, _Skill)


class _Seen(msgspec.Struct):
    """The events of a turn, sorted in one pass."""

    init: System | None = None
    ending: Ending | None = None
    calls: dict[str, Block] = {}
    """Every tool call in the order sent."""
    subagents: set[str] = set()
    """The calls that sub-agents made."""
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
        denials=done.denials,
        warnings=tuple(_warnings(seen)) if seen.retries else (),
        closing=closing,
        failure=None if refused else _failure(ending, closing, stderr, exit_code),
        events=len(read.lines) + read.unknown,
        unknown_events=read.unknown,
        broken_lines=read.broken,
    )


def _sort(events: Iterable[Event]) -> _Seen:
    seen = _Seen()
    results = seen.results
    for event in events:
        # no isinstance: asked of another struct's instance it takes six times as long
        if type(event) is User:
            content = event.message.content
            if isinstance(content, list):
                for result in content:
                    results[result.tool_use_id] = result
        elif type(event) is Assistant:
            _said(event, seen)
        elif type(event) is Ending:
            seen.ending = event
        elif type(event) is System:
            _told(event, seen)
    return seen


def _said(event: Assistant, seen: _Seen) -> None:
    message, subagent = event.message, event.parent_tool_use_id is not None
    ours = message.model != SYNTHETIC
    if ours and not seen.model:
        seen.model = message.model
    if isinstance(message.content, str):
        return
    for block in message.content:
        if block.type == "tool_use":
            if seen.calls.setdefault(block.id, block) is block and subagent:
                seen.subagents.add(block.id)
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
    denials: int = 0


def _carried_out(seen: _Seen) -> _Done:
    """Every tool call in the order sent, main agent and sub-agents, with its result."""
    done = _Done()
    calls, commands, results, subagents = done.calls, done.commands, seen.results, seen.subagents
    refused = {denial.tool_use_id for denial in seen.ending.permission_denials} if seen.ending else ()
    for call_id, block in seen.calls.items():
        told, text, ended, failed = results.get(call_id), "", False, False
        if told is not None:
            text = told.content if isinstance(told.content, str) else text_of(told.content)
            failed = told.is_error is True
            ended = not failed
        denied = call_id in refused or (failed and DENIED.match(text) is not None)
        subagent = call_id in subagents
        call = ToolCall(
            name=block.name,
            arguments=str(block.input, "utf-8", "replace"),
            call_id=call_id,
            failed=failed,
            denied=denied,
            result=text,
            subagent=subagent,
        )
        calls.append(call)
        if denied:
            done.denials += 1
        if block.name != "Bash":
            _special(call, block, done, ended=ended)
            continue
        asked = _arguments(block.input, SHELL, _Shell)
        background = asked.run_in_background
        code, output = 0 if ended and not background else None, text
        if failed:
            code, output = _failed(text)
        elif text in NO_OUTPUT:
            output = ""
        commands.append(
            ShellCommand(
                line=asked.command,
                executed=not (denied or text.startswith(NEVER_RAN)),
                denied=denied,
                exit_code=code,
                output=output,
                background=background,
                subagent=subagent,
                call_id=call_id,
            )
        )
    return done


def _special(call: ToolCall, block: Block, done: _Done, *, ended: bool) -> None:
    """What a call of another tool than the shell was, where that is of interest."""
    order = len(done.calls) - 1
    if call.name == "Read":
        path = _arguments(block.input, FILE, _File).file_path
        done.reads.append(FileRead(path=path, ok=ended, subagent=call.subagent, order=order))
    elif call.name == "Skill":
        skill = _arguments(block.input, SKILL, _Skill).skill
        done.skills.append(SkillCall(name=skill, ok=ended and not call.denied, order=order))


def _failed(text: str) -> tuple[int | None, str]:
    """Exit code, where it is told, and output of a command that failed."""
    code = EXIT_CODE.match(text)
    return (int(code[1]), text[code.end() :]) if code else (None, "" if text in NO_OUTPUT else text)


def _arguments(given: msgspec.Raw, decoder: msgspec.json.Decoder[Shape], shape: type[Shape]) -> Shape:
    try:
        return decoder.decode(given)
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
        mcp_servers=None if init.mcp_servers is None else tuple([server.name for server in init.mcp_servers]),
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
