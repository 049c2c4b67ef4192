"""Codex CLI, driven head-less: ``codex exec --json``, the prompt on stdin."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from pytest_skilleval.agents import codex_parse, codex_session, failures
from pytest_skilleval.agents.programs import native, on_path
from pytest_skilleval.core.credentials import PLACEHOLDER
from pytest_skilleval.core.ports import AgentSetup, AgentTurn, Command, ModelApi, SandboxFile
from pytest_skilleval.core.transcript import TurnTranscript

FOLDER = "/opt/codex"
VERSION = re.compile(rb'"cli_version":"(\d[\w.+-]*)"')
CONFIG = """\
openai_base_url = {url}
check_for_update_on_startup = false

[features]
enable_request_compression = false
apps = false
plugins = false

[analytics]
enabled = false
"""
"""The CLI's own provider at another address: with a provider of our own it would offer the model other tools than its users have.

The features that are off fetch plugins and settings from the network while a comparison runs; the model is shown the same without them.
"""


class Codex:
    """The agent CLI ``codex``; 0.171.0 is the version its behaviour was last pinned on."""

    name = "codex"
    simulated = False
    api: ModelApi | None = "openai"
    package = "@openai/codex"
    skills_folder = ".agents/skills"
    instructions_file = ".codex/AGENTS.md"
    session_folders: tuple[str, ...] = (".codex/sessions",)

    def files(self, setup: AgentSetup) -> tuple[SandboxFile, ...]:
        """The address of the gateway, and the guard as execution rules; those hold even where nothing is asked."""
        found = []
        if setup.endpoint is not None:
            found.append(SandboxFile(path=".codex/config.toml", content=CONFIG.format(url=json.dumps(f"{setup.endpoint}/v1")).encode()))
        if setup.deny:
            rules = "".join(_rule(prefix) for prefix in setup.deny)
            found.append(SandboxFile(path=".codex/rules/default.rules", content=rules.encode()))
        return tuple(found)

    def command(self, turn: AgentTurn) -> Command:
        """``codex exec`` or ``codex exec resume``; the prompt goes by stdin, so that no byte of it can be taken for an option."""
        setup = turn.setup
        argv = [*on_path("codex", f"{FOLDER}/bin"), "exec", *(("resume",) if turn.session_id is not None else ())]
        argv += ["--json", "--skip-git-repo-check"]
        argv += (
            ["--dangerously-bypass-approvals-and-sandbox"] if setup.permissions == "bypass" else ["-c", 'sandbox_mode="workspace-write"']
        )
        if setup.model is not None:
            argv += ["-m", setup.model]
        argv += [*((turn.session_id,) if turn.session_id is not None else ()), "-"]
        key = {} if setup.endpoint is None else {"CODEX_API_KEY": PLACEHOLDER}
        return Command(
            argv=tuple(argv), env=key | dict(setup.env), env_secret=setup.secrets, stdin=turn.prompt.encode(), cwd=setup.workspace
        )

    def version_command(self) -> Command | None:
        """``codex --version``."""
        return Command(argv=(*on_path("codex", f"{FOLDER}/bin"), "--version"))

    def version_in(self, record: bytes) -> str | None:
        """The record's first line names it."""
        told = VERSION.search(record)
        return told[1].decode() if told else None

    def without_server(self, server: str) -> str:
        """``codex mcp remove``."""
        return f"`codex mcp remove {shlex.quote(server)}`"

    def preview_command(self, setup: AgentSetup) -> Command | None:
        """Prints what the model would be shown, with no model asked; read it with `core.manipulation.read_preview`."""
        return Command(argv=(*on_path("codex", f"{FOLDER}/bin"), "debug", "prompt-input", "-"), env=setup.env, cwd=setup.workspace)

    def parse(self, stdout: bytes, stderr: bytes, exit_code: int | None) -> TurnTranscript:
        """What the turn's raw streams meant; never raises for bad input."""
        transcript = codex_parse.parse(stdout, stderr, exit_code)
        silent = failures.of_silence(transcript)
        return msgspec.structs.replace(transcript, failure=silent) if silent else transcript

    def supplement(self, turns: Sequence[TurnTranscript], records: Iterable[bytes]) -> tuple[TurnTranscript, ...]:
        """The turns with what their sub-agents ran; `records` are the files ``rollout-*.jsonl`` of the session record."""
        return codex_session.supplement(turns, records)

    def host_program(self) -> Mapping[Path, str]:
        """The folder of the native program from npm, its helpers included; UsageProblem with the mend when it is not installed."""
        return {native(self.package, "codex", "vendor/*/bin/codex").parent: FOLDER}


def _rule(prefix: str) -> str:
    words = json.dumps(prefix.split(), ensure_ascii=False)
    return f'prefix_rule(pattern={words}, decision="forbidden", justification="not permitted here")\n'
