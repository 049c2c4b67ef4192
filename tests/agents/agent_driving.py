"""Runs a real agent CLI against the scripted model, without a sandbox: a HOME and a workspace of its own, loopback only."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_skilleval.agents import agent
from pytest_skilleval.core.ports import AgentSetup, AgentTurn
from pytest_skilleval.core.transcript import TurnTranscript
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import Fault, Plays, Rehearsal, Script, ScriptTurn
from pytest_skilleval.gateway.values import Door, RequestRecord, RunRequest

SKILL = "careful-removal"
DESCRIPTION = "House rules for removing things. Use before anything is deleted."
BODY = (
    "# Careful removal\n\nName exactly what is lost before anything is deleted.\nAsk first when more than one thing goes.\nNever sweep.\n"
)
TIMEOUT = 60.0

FEW_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "1"}
FEW_RETRIES_OF_CODEX = """
[model_providers.few]
name = "few"
base_url = "URL/v1"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""
"""The CLI's own provider can't be told to try less often."""


def script(*turns: ScriptTurn) -> Script:
    """A script that plays these turns whatever the arm shows."""
    return Script(skill=SKILL, rehearsals=(Rehearsal(id="only", plays=Plays(), turns=turns),))


@dataclass
class Turn:
    """One turn as it went: the raw streams and what they meant."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    transcript: TurnTranscript


@dataclass
class Bench:
    """One agent in its own HOME and workspace, and its door to the scripted model."""

    name: str
    program: Path
    client: GatewayClient
    folder: Path
    run: str = "run"
    model: str | None = "scripted"
    deny: tuple[str, ...] = ()
    permissions: str = "bypass"
    few_retries: bool = False
    prefix: tuple[str, ...] = ()
    """What the CLI is started by."""
    environ: dict[str, str] = field(default_factory=dict)
    session: str | None = None
    number: int = 0

    def __post_init__(self) -> None:
        self.agent = agent(self.name)
        self.home, self.workspace = self.folder / "home", self.folder / "code"
        self.home.mkdir(parents=True)
        self.workspace.mkdir()
        self.scratch = self.folder / "tmp"
        self.scratch.mkdir()

    def install(self, name: str = SKILL, *, description: str = DESCRIPTION, body: str = BODY) -> None:
        """Put a skill where this agent looks for it."""
        folder = self.home / self.agent.skills_folder / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}")

    def instruct(self, text: str) -> None:
        """Write the stock instructions file."""
        path = self.home / self.agent.instructions_file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def open(self, playing: Script, *, faults: tuple[Fault, ...] = (), **more: Any) -> Door:
        """Register with the gateway and write the agent's files."""
        guard = bool(self.deny)
        self.door = self.client.open(
            RunRequest(run=self.run, models="scripted", skill_body=BODY, script=playing, faults=faults, guard=guard, tcp=True, **more)
        )
        for file in self.agent.files(self.setup):
            path = self.home / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        config = self.home / ".codex/config.toml"
        if self.few_retries and config.exists():
            config.write_text('model_provider = "few"\n' + config.read_text() + FEW_RETRIES_OF_CODEX.replace("URL", self.door.url))
        return self.door

    @property
    def setup(self) -> AgentSetup:
        """What the adapter is told."""
        return AgentSetup(
            deny=self.deny,
            permissions=self.permissions,
            model=self.model,
            endpoint=self.door.url,
            workspace=str(self.workspace),
            home=str(self.home),
            env=self.door.env,
        )

    def turn(
        self, prompt: str, *, timeout: float = TIMEOUT, extra: tuple[str, ...] = (), kill_when: Callable[[], bool] | None = None
    ) -> Turn:
        """Drive one turn to its end, or kill it once `kill_when` says so."""
        self.number += 1
        self.client.turn(self.run, self.number)
        command = self.agent.command(AgentTurn(prompt=prompt, setup=self.setup, session_id=self.session, number=self.number))
        environ = {
            "PATH": f"{self.program.parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "CLAUDE_CODE_TMPDIR": str(self.scratch),
            "IS_SANDBOX": "1",  # Claude Code refuses to skip permissions for root elsewhere
            **(FEW_RETRIES if self.few_retries else {}),
            **self.environ,
            **command.env,
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(
            [*self.prefix, *command.argv, *extra], env=environ, cwd=self.workspace, start_new_session=True, **pipes
        ) as process:
            code: int | None = None
            try:
                stdout, stderr = _talk(process, command.stdin, timeout, kill_when)
                code = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                stdout, stderr = process.communicate()
        transcript = self.agent.parse(stdout, stderr, code)
        self.session = transcript.session_id or self.session
        return Turn(stdout, stderr, code, transcript)

    def requests(self) -> tuple[RequestRecord, ...]:
        """The model calls so far."""
        return tuple(record for record in self.client.records(self.run) if record.method == "POST")

    def records(self) -> list[bytes]:
        """The files of the CLI's own session record."""
        folders = [self.home / folder for folder in self.agent.session_folders]
        return [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.jsonl"))]


def other(bench: Bench, run: str, **changes: Any) -> Bench:
    """A second bench like `bench`, with a HOME and a workspace of its own."""
    return replace(bench, run=run, folder=bench.folder.parent / run, session=None, number=0, **changes)


def _talk(process: subprocess.Popen[bytes], stdin: bytes, timeout: float, kill_when: Callable[[], bool] | None) -> tuple[bytes, bytes]:
    """Both streams to their end; TimeoutExpired when it takes too long, or `kill_when` has been true for a moment."""
    if kill_when is None:
        return process.communicate(stdin, timeout=timeout)
    ends, due = time.monotonic() + timeout, None
    while True:
        try:
            return process.communicate(stdin, timeout=0.1)
        except subprocess.TimeoutExpired:
            stdin = b""  # handed over already
            due = due or (time.monotonic() + 0.5 if kill_when() else None)
            if time.monotonic() > min(ends, due or ends):
                raise
