"""The scripted agent: an agent like any other to the runner, which plays a case's rehearsals instead of asking a model.

It shows that the instrument works and says nothing about a skill; everything it makes is stamped *simulated*.
Its program runs inside the sandbox (``scripted_program.py``); this module starts it and reads what it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from pytest_skilleval.core.ports import AgentSetup, AgentTurn, Command, ModelApi, SandboxFile
from pytest_skilleval.core.transcript import (
    Closing,
    Failure,
    FileRead,
    Offered,
    ShellCommand,
    ToolCall,
    TurnTranscript,
    Usage,
)

TOKEN_PRICE_USD = 1e-6
"""Price of one token of the scripted agent, in or out: a fixed rule, not anybody's tariff."""


class _Event(msgspec.Struct):
    """One line of the program's output; which fields it has depends on its type."""

    type: str
    session: str | None = None
    model: str | None = None
    cwd: str | None = None
    skills: tuple[str, ...] = ()
    skill: str = ""
    path: str | None = None
    ok: bool = False
    id: str = ""
    line: str = ""
    denied: bool = False
    exit: int | None = None
    output: str = ""
    text: str = ""
    reply: str = ""
    usage: dict[str, int] = {}


class ScriptedAgent:
    """Plays the rehearsal that fits what the arm shows (see :class:`pytest_skilleval.core.spec.Plays`)."""

    name = "scripted"
    simulated = True
    api: ModelApi | None = None
    skills_folder = ".agents/skills"
    instructions_file = ".agent/AGENTS.md"
    session_folders: tuple[str, ...] = (".agent/sessions",)

    def files(self, setup: AgentSetup) -> tuple[SandboxFile, ...]:
        """The guard as this agent's own permission rules."""
        if not setup.deny:
            return ()
        rules = json.dumps({"deny": list(setup.deny)}).encode()
        return (SandboxFile(path=".agent/permissions.json", content=rules),)

    def command(self, turn: AgentTurn) -> Command:
        """The program by ``python3 -c``, the prompt and the script on stdin."""
        script: dict[str, Any] = json.loads(turn.script)
        script |= {"session": turn.session_id, "model": turn.setup.model or "default", "folder": self.skills_folder}
        program = files(__package__).joinpath("scripted_program.py").read_text()
        return Command(
            argv=("python3", "-I", "-S", "-c", program),
            stdin=json.dumps({"prompt": turn.prompt, "script": script}).encode(),
        )

    def version_command(self) -> Command | None:
        """Nothing to ask: the program is part of this package."""
        return None

    def version_in(self, record: bytes) -> str | None:  # noqa: ARG002 - the real CLIs keep records
        """It keeps no record."""
        return None

    def without_server(self, server: str) -> str:
        """It knows no servers."""
        return f"take out {server}"

    def preview_command(self, setup: AgentSetup) -> Command | None:  # noqa: ARG002 - another agent needs it
        """None: it shows no model anything."""
        return None

    def host_program(self) -> Mapping[Path, str]:
        """Nothing to bind: the program runs on the sandbox's own Python."""
        return {}

    def supplement(self, turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:  # noqa: ARG002 - Codex needs both
        """The turns as they are: this agent's stream leaves nothing out."""
        return tuple(turns)

    def parse(self, stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
        """What the turn's raw streams meant."""
        events, broken = _events(stdout)
        done = next((event for event in events if event.type == "done"), None)
        session = next((event for event in events if event.type == "session"), None)
        closing: Closing = "complete" if done else "cut" if events else "none"
        ended = {event.id for event in events if event.type == "command"}
        calls = [event for event in events if event.type in {"command", "load"} or (event.type == "calls" and event.id not in ended)]
        return TurnTranscript(
            agent=self.name,
            session_id=session.session if session else None,
            model=session.model if session else None,
            offered=_offered(session),
            tool_calls=tuple(map(_tool_call, calls)),
            commands=tuple(_command(event) for event in calls if event.type != "load"),
            reads=tuple(_read(event) for event in events if event.type == "load"),
            messages=tuple(event.text for event in events if event.type == "message"),
            reply=done.reply if done else None,
            usage=_usage(done),
            denials=sum(event.denied for event in events),
            closing=closing,
            failure=_failure(closing, stderr, exit_code),
            events=len(events),
            broken_lines=broken,
        )


def _events(stdout: bytes) -> tuple[list[_Event], int]:
    """The lines that can be read, and how many can't."""
    events, broken = [], 0
    for line in stdout.splitlines():
        try:
            events.append(msgspec.json.decode(line, type=_Event))
        except (msgspec.DecodeError, UnicodeDecodeError):
            broken += 1
    return events, broken


def _offered(session: _Event | None) -> Offered:
    if session is None:
        return Offered()
    return Offered(skills=session.skills, mcp_servers=(), cwd=session.cwd)


def _tool_call(event: _Event) -> ToolCall:
    if event.type == "load":
        return ToolCall(name="read_file", arguments=json.dumps({"path": event.path}), failed=not event.ok)
    return ToolCall(
        name="shell",
        arguments=json.dumps({"command": event.line}),
        call_id=event.id,
        failed=event.denied or event.exit != 0,
        denied=event.denied,
        result=event.output,
    )


def _command(event: _Event) -> ShellCommand:
    return ShellCommand(
        line=event.line,
        executed=not event.denied,
        denied=event.denied,
        exit_code=event.exit,
        output=event.output,
        call_id=event.id,
    )


def _read(event: _Event) -> FileRead:
    return FileRead(path=event.path or f"{event.skill}/SKILL.md", ok=event.ok)


def _usage(done: _Event | None) -> Usage:
    if done is None:
        return Usage()
    spent, said = done.usage.get("input", 0), done.usage.get("output", 0)
    return Usage(input=spent, output=said, cost_usd=round((spent + said) * TOKEN_PRICE_USD, 9), known=True)


def _failure(closing: Closing, stderr: bytes, exit_code: int | None) -> Failure | None:
    if closing == "complete" and exit_code == 0:
        return None
    told = stderr.decode("utf-8", "replace").strip().splitlines()
    why = told[-1] if told else f"exit code {exit_code}, no closing event"
    return Failure(blame="agent_crash", reason=f"the scripted agent ended early: {why}")
