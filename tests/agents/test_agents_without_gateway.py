"""What a CLI sends through the gateway against what it sends on its own."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_driving import Bench, script
from agent_interception import intercepting

from pytest_skilleval.core import first_requests
from pytest_skilleval.core.ports import AgentTurn
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.scripted.script import ScriptTurn

pytestmark = [pytest.mark.npm, pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl: apt-get install openssl")]

HOSTS = {"claude-code": "api.anthropic.com", "codex": "api.openai.com"}
KEYS = {"claude-code": {"ANTHROPIC_API_KEY": "sk-none"}, "codex": {"CODEX_API_KEY": "sk-none"}}
CACHE_ONLY = re.compile(r"system\[\](\.cache_control.*|\.type)|.*x-codex-turn-metadata|client_metadata\..*")
"""Where caching and bookkeeping may differ; none of it is text that a model reads."""


def direct(bench: Bench, prompt: str, folder: Path) -> bytes:
    """The body of the first model request that the CLI sends to the vendor's own host."""
    folder.mkdir()
    setup = dataclasses.replace(bench.setup, endpoint=None, env={}, secrets=KEYS[bench.name])
    command = bench.agent.command(AgentTurn(prompt=prompt, setup=setup))
    with intercepting(folder, HOSTS[bench.name]) as host:
        environ = {
            "PATH": f"{bench.program.parent}:/usr/bin:/bin",
            "HOME": str(bench.home),
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        done = subprocess.run(
            command.argv,
            input=command.stdin,
            env={**environ, **command.env, **command.env_secret, **host.environ},
            cwd=bench.workspace,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert host.bodies, done.stdout + done.stderr
        return host.bodies[0]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_gateway_changes_nothing_that_a_model_reads(bench: Callable[..., Bench], tmp_path: Path, name: str) -> None:
    """The first request of each CLI version is, in all that a model reads, the same with and without the gateway."""
    one = bench(name, model=None)
    one.install()
    one.open(script(ScriptTurn(reply="Yes.")))
    one.turn("Hello there.")
    for file in ("config.toml", "installation_id"):
        (one.home / ".codex" / file).unlink(missing_ok=True)
    found = first_requests.differences(json.loads(direct(one, "Hello there.", tmp_path / "tls")), reading.first_request(one.requests()))
    told = [
        one for one in found if not CACHE_ONLY.fullmatch(one.where) and "x-anthropic-billing-header" not in one.line and one.line.strip()
    ]
    assert told == []
