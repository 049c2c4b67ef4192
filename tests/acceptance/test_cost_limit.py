"""The cost limit within a run: a live model behind loopback, real sandboxes, the gateway's ledger."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance_project import Project

from pytest_skilleval.agents.programs import ARCHITECTURES, PREFIX
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import Plays, Rehearsal, Script, ScriptTurn
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import RunRequest
from tests import required

pytestmark = pytest.mark.engine

PRICED = {"claude-code": "claude-opus-4-8", "codex": "gpt-5.5"}
"""Models whose prices are shipped."""
LIMIT = "the cost limit of $0.01 is reached"

OWN_RUNNER = """
def pytest_skilleval_runner(config):
    from pytest_skilleval.running import run_one

    return run_one
"""

CLI = '''\
#!/usr/bin/env python3
"""Asks the model three times, whatever it says, and tells of a turn that went well."""
import json, os, sys, urllib.error, urllib.request

if "--version" in sys.argv:
    print("2.1.197 (Claude Code)")
    raise SystemExit
for _ in range(3):
    body = json.dumps({"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "word " * 40000}]})
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    ask = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body.encode(), headers)
    try:
        urllib.request.urlopen(ask).read()
    except urllib.error.HTTPError:
        pass
usage = {"input_tokens": 9, "output_tokens": 9}
print(json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-8", "tools": [], "mcp_servers": []}))
said = {"role": "assistant", "content": [{"type": "text", "text": "All is tidy."}], "usage": usage}
print(json.dumps({"type": "assistant", "session_id": "s", "message": said}))
ended = {"type": "result", "subtype": "success", "is_error": False, "result": "All is tidy.", "session_id": "s", "usage": usage}
print(json.dumps(ended | {"total_cost_usd": 0.0, "num_turns": 1}))
'''


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A live model as far as the session can tell: it stands behind an address of loopback and tells its usage."""
    turns = tuple(ScriptTurn(run=("docker ps", "docker volume ls", "docker images"), reply="Done.") for _ in range(2))
    play = Script(skill="careful-cleanup", rehearsals=(Rehearsal(id="looks", plays=Plays(), turns=turns),))
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CODEX_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with GatewayServer() as server:
        door = GatewayClient(server.control).open(RunRequest(run="model", models="scripted", tcp=True, script=play))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", door.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{door.url}/v1")
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, "a-key-for-loopback-only")
        yield


def spent_in_its_middle(project: Project, name: str = "claude-code") -> list[bool]:
    """A session of two runs whose money is gone in the middle of the first; which of its model calls failed."""
    done = project.run("--skill-case=tidy", f"--skill-model={PRICED[name]}", "--skill-max-cost=0.01", agent=name)

    assert done.returncode == 1, done.stdout + done.stderr
    [record] = project.records().values()
    assert (record["status"], record["blame"], record["attempts"]) == ("error", "agent_api", [])
    assert f"stopped in its middle: {LIMIT}" in record["detail"]
    assert "go on with --skill-resume and a higher --skill-max-cost" in record["detail"]
    rows = json.loads((project.session / "plan.json").read_bytes())["rows"]
    [left] = [row["reason"] for row in rows if not row["selected"]]
    assert f"not reached: {LIMIT}" in left
    [lost] = [run for run in project.report()["runs"] if run["status"] != "scored" and run["blame"] == "agent_api"]
    assert lost["verdict"] is None
    requests = next(project.session.glob("runs/*/requests.jsonl")).read_text().splitlines()
    assert project.left() == []
    return ["failure" in json.loads(line) for line in requests if '"model":' in line]


def test_a_run_whose_money_is_spent_is_not_measured_however_well_it_looks(
    project: Project, model: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway refuses further calls; a CLI that carries on as if nothing were gets no verdict, and the session ends with the reason."""
    kind = ARCHITECTURES.get(platform.machine().lower(), platform.machine())
    program = tmp_path / f"prefix/node_modules/@anthropic-ai/claude-code-linux-{kind}/claude"
    program.parent.mkdir(parents=True)
    program.write_text(CLI)
    program.chmod(0o755)
    monkeypatch.setenv(PREFIX, str(tmp_path / "prefix"))
    conftest = project.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + OWN_RUNNER)

    assert spent_in_its_middle(project) == [False, True, True] + [True] * 3


@pytest.mark.parametrize("name", list(PRICED))
def test_the_real_cli_is_stopped_in_its_middle(project: Project, model: None, name: str) -> None:
    """Each CLI takes the refusal for final and tries no more; its run is lost to money, not to the agent."""
    required.program(name)

    assert spent_in_its_middle(project, name) == [False, True]
