"""What a Claude Code stream meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from pytest_skilleval.agents import failures
from pytest_skilleval.agents.claude_events import DECODER, KNOWN, SYNTHETIC, Block, Event, TokenCount
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
    Usage,
)

EXIT_CODE = re.compile(r"^(?:Error: )?Exit code (\d+)\n?")
DENIED = re.compile(
    r"^(?:Error: )?(?:Permission to use \S+|Claude requested permissions|This command requires approval|The user doesn't want to)"
)
NO_OUTPUT = frozenset({"(Bash completed with no output)", "Tool ran without output or errors"})
"""What the CLI says in place of an empty output."""
NEVER_RAN = "<tool_use_error>"


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


Shape = TypeVar("Shape", _Shell, _File, _Skill)


@dataclass(frozen=True, slots=True)
class _Use:
    """A tool call with what came of it."""

    order: int
    block: Block
    subagent: bool
    result: str | None
    failed: bool
    denied: bool


def parse(stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
    """What the turn's raw streams meant; never raises for bad input."""
    read = decode(stdout, DECODER)
    events = read.lines
    init = next((event for event in events if event.type == "system" and event.subtype == "init"), None)
    result = next((event for event in reversed(events) if event.type == "result"), None)
    closing: Closing = "complete" if result else "cut" if events else "none"
    refused = bool(result and result.is_error and result.stop_reason == "refusal")
    uses = tuple(_uses(events, {denial.tool_use_id for denial in result.permission_denials} if result else set()))
    messages = tuple(_messages(events))
    return TurnTranscript(
        agent="claude-code",
        session_id=next((event.session_id for event in events if event.session_id), None),
        model=_model(events, init),
        offered=_offered(init),
        tool_calls=tuple(map(_tool_call, uses)),
        commands=tuple(_command(use) for use in uses if use.block.name == "Bash"),
        reads=tuple(_read(use) for use in uses if use.block.name == "Read"),
        skill_calls=tuple(_skill_call(use) for use in uses if use.block.name == "Skill"),
        messages=messages,
        reply=_reply(result, messages),
        usage=_usage(events, result),
        refused=refused,
        denials=sum(use.denied for use in uses),
        warnings=tuple(_warnings(events)),
        closing=closing,
        failure=None if refused else _failure(result, closing, stderr, exit_code),
        events=len(events) + read.unknown,
        unknown_events=read.unknown + sum(event.type not in KNOWN for event in events),
        broken_lines=read.broken,
    )


def _uses(events: Iterable[Event], denied: set[str]) -> Iterator[_Use]:
    """Every tool call in the order sent, main agent and sub-agents, with its result."""
    results: dict[str, Block] = {}
    calls: dict[str, tuple[Block, bool]] = {}
    for event in events:
        for block in _blocks(event):
            if block.type == "tool_use":
                calls.setdefault(block.id, (block, event.parent_tool_use_id is not None))
            elif block.type == "tool_result":
                results[block.tool_use_id] = block
    for order, (name, (block, subagent)) in enumerate(calls.items()):
        told = results.get(name)
        text = text_of(bytes(told.content)) if told else None
        failed = bool(told and told.is_error)
        yield _Use(order, block, subagent, text, failed, name in denied or (failed and bool(DENIED.match(text or ""))))


def _blocks(event: Event) -> list[Block]:
    if event.message is None or isinstance(event.message.content, str):
        return []
    return event.message.content


def _tool_call(use: _Use) -> ToolCall:
    return ToolCall(
        name=use.block.name,
        arguments=bytes(use.block.input).decode("utf-8", "replace"),
        call_id=use.block.id,
        failed=use.failed,
        denied=use.denied,
        result=use.result or "",
        subagent=use.subagent,
    )


def _command(use: _Use) -> ShellCommand:
    asked = _arguments(use.block, _Shell)
    text = use.result or ""
    code = EXIT_CODE.match(text) if use.failed else None
    ran = not use.denied and not text.startswith(NEVER_RAN)
    return ShellCommand(
        line=asked.command,
        executed=ran,
        denied=use.denied,
        exit_code=int(code[1]) if code else 0 if use.result is not None and not use.failed and not asked.run_in_background else None,
        output=text[code.end() :] if code else "" if text in NO_OUTPUT else text,
        background=asked.run_in_background,
        subagent=use.subagent,
        call_id=use.block.id,
    )


def _read(use: _Use) -> FileRead:
    path = _arguments(use.block, _File).file_path
    return FileRead(path=path, ok=use.result is not None and not use.failed, subagent=use.subagent, order=use.order)


def _skill_call(use: _Use) -> SkillCall:
    ok = use.result is not None and not use.failed and not use.denied
    return SkillCall(name=_arguments(use.block, _Skill).skill, ok=ok, order=use.order)


def _arguments(block: Block, shape: type[Shape]) -> Shape:
    try:
        return msgspec.json.decode(block.input, type=shape)
    except msgspec.MsgspecError:
        return shape()


def _messages(events: Iterable[Event]) -> Iterator[str]:
    """What the main agent said; API errors in the shape of a reply are none of it."""
    for event in events:
        if (
            event.type == "assistant"
            and event.parent_tool_use_id is None
            and event.message
            and event.message.model != SYNTHETIC
            and not event.error
        ):
            yield from (block.text for block in _blocks(event) if block.type == "text" and block.text)


def _reply(result: Event | None, messages: tuple[str, ...]) -> str | None:
    """The final reply: none after an error, whatever its text says."""
    if result is None or result.is_error:
        return None
    return result.result or (messages[-1] if messages else None)


def _model(events: Iterable[Event], init: Event | None) -> str | None:
    """The model that answered; else the one that was asked."""
    answered = (event.message.model for event in events if event.type == "assistant" and event.message and event.message.model != SYNTHETIC)
    return next(filter(None, answered), init.model if init else None)


def _offered(init: Event | None) -> Offered:
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


def _usage(events: Iterable[Event], result: Event | None) -> Usage:
    """Per-model totals of the result (sub-agents in them, once), else the last word of each message id."""
    if result is not None and result.usage is not None:
        hour = result.usage.cache_creation.ephemeral_1h_input_tokens if result.usage.cache_creation else 0
        totals = list((result.model_usage or {}).values())
        if totals:
            written = sum(one.cache_creation_input_tokens for one in totals)
            return Usage(
                input=sum(one.input_tokens for one in totals),
                output=sum(one.output_tokens for one in totals),
                cache_read=sum(one.cache_read_input_tokens for one in totals),
                cache_write_5m=max(0, written - hour),
                cache_write_1h=hour,
                cost_usd=result.total_cost_usd,
                known=True,
            )
        return msgspec.structs.replace(_sum([result.usage]), cost_usd=result.total_cost_usd)
    said: Mapping[str, TokenCount] = {
        event.message.id: event.message.usage
        for event in events
        if event.type == "assistant" and event.message and event.message.usage and event.message.model != SYNTHETIC
    }
    return _sum(said.values())


def _sum(counts: Iterable[TokenCount]) -> Usage:
    counted = list(counts)
    hour = sum(count.cache_creation.ephemeral_1h_input_tokens if count.cache_creation else 0 for count in counted)
    return Usage(
        input=sum(count.input_tokens for count in counted),
        output=sum(count.output_tokens for count in counted),
        cache_read=sum(count.cache_read_input_tokens for count in counted),
        cache_write_5m=sum(count.cache_creation_input_tokens for count in counted) - hour,
        cache_write_1h=hour,
        known=bool(counted),
    )


def _warnings(events: Iterable[Event]) -> Iterator[str]:
    retries = Counter(event.error_status for event in events if event.subtype == "api_retry")
    for status, times in retries.items():
        yield f"the model's API was asked again {times} time(s) after {f'status {status}' if status else 'no answer'}"


def _failure(result: Event | None, closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    if result is None or not result.is_error:
        return failures.of_ending(closing, stderr, exit_code)
    text = result.result or "; ".join(result.errors) or result.subtype
    if result.api_error_status is not None:
        return failures.of_status(result.api_error_status, text)
    return failures.of_text(text)
