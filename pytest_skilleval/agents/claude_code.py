"""Claude Code, driven head-less: ``claude -p`` with a stream of JSON lines, the prompt on stdin."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from pytest_skilleval.agents import claude_parse, failures
from pytest_skilleval.agents.programs import native, on_path
from pytest_skilleval.core.credentials import PLACEHOLDER
from pytest_skilleval.core.ports import AgentSetup, AgentTurn, Command, ModelApi, SandboxFile
from pytest_skilleval.core.transcript import TurnTranscript

FOLDER = "/opt/claude-code"
RULES = ".claude/rules.json"
VERSION = re.compile(rb'"version":"(\d[\w.+-]*)"')

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
}
"""No telemetry, no update in the middle of a comparison, no MCP servers of somebody's account."""

CONNECTOR = "claude.ai "
"""What the names of an account's MCP servers begin with."""

BEHIND_GATEWAY = {"ENABLE_TOOL_SEARCH": "true"}
"""Behind a base URL the CLI sends every tool inline unless told: another request than its users' agents send."""

CLOUDS = {"CLAUDE_CODE_USE_BEDROCK": "ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_USE_VERTEX": "ANTHROPIC_VERTEX_BASE_URL"}
"""Where the address goes for a switch to a cloud. There the CLI sends the same tools whatever the address is."""


class ClaudeCode:
    """The agent CLI ``claude``; 2.1.197 is the version its behaviour was last pinned on."""

    name = "claude-code"
    simulated = False
    api: ModelApi | None = "anthropic"
    package = "@anthropic-ai/claude-code"
    skills_folder = ".claude/skills"
    instructions_file = ".claude/CLAUDE.md"
    session_folders: tuple[str, ...] = (".claude/projects",)

    def files(self, setup: AgentSetup) -> tuple[SandboxFile, ...]:
        """The guard as deny permissions; they hold even where nothing is asked."""
        if not setup.deny:
            return ()
        rules = {"permissions": {"deny": [f"Bash({prefix}:*)" for prefix in setup.deny]}}
        return (SandboxFile(path=RULES, content=json.dumps(rules, indent=2).encode()),)

    def command(self, turn: AgentTurn) -> Command:
        """``claude -p``; the prompt goes by stdin, so that no byte of it can be taken for an option."""
        setup = turn.setup
        argv = [*on_path("claude", FOLDER), "-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config"]
        if setup.permissions == "bypass":
            argv.append("--dangerously-skip-permissions")
        if setup.deny:
            argv += ["--settings", f"{setup.home}/{RULES}"]
        if setup.model is not None:
            argv += ["--model", setup.model]
        if turn.session_id is not None:
            argv += ["--resume", turn.session_id]
        return Command(
            argv=tuple(argv), env=self._environment(setup), env_secret=setup.secrets, stdin=turn.prompt.encode(), cwd=setup.workspace
        )

    def _environment(self, setup: AgentSetup) -> dict[str, str]:
        if setup.endpoint is None:
            return QUIET | dict(setup.env)
        for switch, address in CLOUDS.items():
            if switch in setup.env:
                return QUIET | dict(setup.env) | {address: setup.endpoint}
        key = (
            {}
            if setup.env.keys() & {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}
            else {"ANTHROPIC_API_KEY": PLACEHOLDER}
        )
        return QUIET | BEHIND_GATEWAY | key | dict(setup.env) | {"ANTHROPIC_BASE_URL": setup.endpoint}

    def version_command(self) -> Command | None:
        """``claude --version``."""
        return Command(argv=(*on_path("claude", FOLDER), "--version"), env=QUIET)

    def version_in(self, record: bytes) -> str | None:
        """Each message of the record names it."""
        told = VERSION.search(record)
        return told[1].decode() if told else None

    def without_server(self, server: str) -> str:
        """``claude mcp remove``; connectors of an account are disconnected there."""
        return f"disconnect {server} in the account" if server.startswith(CONNECTOR) else f"`claude mcp remove {shlex.quote(server)}`"

    def preview_command(self, setup: AgentSetup) -> Command | None:  # noqa: ARG002 - the other agent needs it
        """None: this CLI can't tell without a model; a turn against the scripted model shows the same in about a second."""
        return None

    def parse(self, stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
        """What the turn's raw streams meant; never raises for bad input."""
        transcript = claude_parse.parse(stdout, stderr, exit_code)
        silent = failures.of_silence(transcript)
        return msgspec.structs.replace(transcript, failure=silent) if silent else transcript

    def supplement(self, turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:  # noqa: ARG002 - Codex needs both
        """The turns as they are: this CLI's stream leaves nothing out."""
        return tuple(turns)

    def host_program(self) -> Mapping[Path, str]:
        """The folder of the native program from npm; UsageProblem with the mend when it is not installed."""
        return {native(self.package, "claude", "claude"): FOLDER}
