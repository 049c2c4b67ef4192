"""The real Claude Code at Bedrock and Vertex: through the gateway to an upstream that speaks their paths and framing."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent_clouds import Cloud, cloud
from agent_driving import SKILL, Bench, script
from agent_interception import intercepting

from pytest_skilleval.core import first_requests
from pytest_skilleval.core.ports import AgentSetup, AgentTurn
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import ScriptTurn
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.upstreams import from_environment
from pytest_skilleval.gateway.values import RequestRecord, RunRequest

pytestmark = pytest.mark.npm

SECRET = "the-real-cloud-secret"
PROJECT = {"ANTHROPIC_VERTEX_PROJECT_ID": "some-project"}
BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": SECRET}
VERTEX = {"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "us-east5", "GOOGLE_OAUTH_ACCESS_TOKEN": SECRET} | PROJECT
WAYS = {
    "bedrock, key": (BEDROCK, "ANTHROPIC_BEDROCK_BASE_URL"),
    "bedrock, company gateway": (
        {"CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1", "ANTHROPIC_AUTH_TOKEN": SECRET},
        "ANTHROPIC_BEDROCK_BASE_URL",
    ),
    "vertex, token": (VERTEX, "ANTHROPIC_VERTEX_BASE_URL"),
    "vertex, company gateway": (
        {"CLAUDE_CODE_USE_VERTEX": "1", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1", "ANTHROPIC_AUTH_TOKEN": SECRET} | PROJECT,
        "ANTHROPIC_VERTEX_BASE_URL",
    ),
}


@dataclasses.dataclass
class Through:
    """A turn that went through the gateway: what the CLI was given, and what was recorded."""

    bench: Bench
    given: str
    reply: str | None
    records: tuple[RequestRecord, ...]

    @property
    def calls(self) -> tuple[RequestRecord, ...]:
        """The model calls."""
        return reading.model_calls(self.records)


def drive(one: Bench, environ: dict[str, str], prompt: str) -> Through:
    """One turn of the real CLI through a gateway that has the upstreams of `environ`."""
    with GatewayServer(upstreams=from_environment(environ)) as server:
        client = GatewayClient(server.control)
        door = client.open(RunRequest(run="cloud", skill_body="# Careful removal\n", tcp=True))
        setup = AgentSetup(endpoint=door.url, env=door.env, home=str(one.home), workspace=str(one.workspace))
        command = one.agent.command(AgentTurn(prompt=prompt, setup=setup))
        home = {"PATH": f"{one.program.parent}:/usr/bin:/bin", "HOME": str(one.home), "TMPDIR": str(one.scratch), "IS_SANDBOX": "1"}
        done = subprocess.run(
            command.argv, input=command.stdin, env=home | dict(command.env), cwd=one.workspace, capture_output=True, timeout=60, check=False
        )
        transcript = one.agent.parse(done.stdout, done.stderr, done.returncode)
        assert transcript.failure is None, done.stdout
        return Through(one, repr((command, one.agent.files(setup))), transcript.reply, client.close("cloud"))


@contextmanager
def clouds(one: Bench, *turns: ScriptTurn) -> Iterator[Cloud]:
    """Both clouds, playing these turns."""
    one.install()
    port = one.open(script(*turns)).port
    assert port is not None
    with cloud(port) as found:
        yield found


@pytest.mark.parametrize("way", list(WAYS))
def test_claude_code_reaches_its_cloud_through_the_gateway(bench: Callable[..., Bench], way: str) -> None:
    """A turn with a command goes through whole: bodies unchanged, the credential added outside only, usage, model and skills recorded."""
    environ, address = WAYS[way]
    one = bench("claude-code", model=None)
    with clouds(one, ScriptTurn(run=("echo one > file",), reply="Both done.")) as far:
        went = drive(one, environ | {address: far.url}, "Do it.")
    assert went.reply == "Both done."
    assert (one.workspace / "file").read_text() == "one\n"
    asked = [(path, headers, body) for path, headers, body in far.asked if "model" in path and "profiles" not in path]
    assert {headers.get("authorization") for _, headers, _ in asked} == {f"Bearer {SECRET}"}
    assert SECRET not in went.given
    assert SECRET not in repr(went.records)
    assert [call.path for call in went.calls] == [path for path, _, _ in asked]
    first = went.calls[0]
    assert (first.body or "").encode() == asked[0][2]
    assert {(call.api, call.status, call.failure) for call in went.calls} == {(way.partition(",")[0], 200, None)}
    assert "claude-sonnet-4-5" in first.model
    assert first.stream
    assert SKILL in first.listed
    assert first.request_id == "req-cloud"
    told = [_usage(answer) for answer in far.answered if b"message_start" in answer or answer[:1] == b"\0"]
    assert [(call.usage.input, call.usage.output) for call in went.calls] == told
    assert all(call.cost_usd for call in went.calls)


def _usage(answer: bytes) -> tuple[int, int]:
    """Tokens of a reply, read apart from the product's own way: the last that each name was given."""
    text = answer.decode("latin-1")
    if answer[:1] == b"\0":
        text = "".join(base64.b64decode(found).decode() for found in re.findall(r'"bytes": "([^"]+)"', text))
    return tuple(int(re.findall(rf'"{name}": ?(\d+)', text)[-1]) for name in ("input_tokens", "output_tokens"))  # type: ignore[return-value]


STREAMING = "tools[].eager_input_streaming"
"""How a tool's input is streamed: asked for at Vertex' own host only; nothing that the model reads."""
HOSTS = {
    "bedrock": ("bedrock-runtime.eu-west-1.amazonaws.com", BEDROCK, "CLAUDE_CODE_SKIP_BEDROCK_AUTH"),
    "vertex": ("us-east5-aiplatform.googleapis.com", VERTEX, "CLAUDE_CODE_SKIP_VERTEX_AUTH"),
}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl: apt-get install openssl")
@pytest.mark.parametrize("name", list(HOSTS))
def test_the_gateway_changes_nothing_that_a_clouds_model_reads(bench: Callable[..., Bench], tmp_path: Path, name: str) -> None:
    """At each cloud the first request, tools included, is the same with and without the gateway."""
    host, environ, skip = HOSTS[name]
    one = bench("claude-code", model=None)
    with clouds(one, ScriptTurn(reply="Yes.")) as far:
        address = "ANTHROPIC_BEDROCK_BASE_URL" if name == "bedrock" else "ANTHROPIC_VERTEX_BASE_URL"
        through = reading.first_request(drive(one, environ | {address: far.url}, "Hello there.").records)
    (tmp_path / "tls").mkdir()
    command = one.agent.command(AgentTurn(prompt="Hello there.", setup=AgentSetup(home=str(one.home), workspace=str(one.workspace))))
    with intercepting(tmp_path / "tls", host) as real:
        home = {"PATH": f"{one.program.parent}:/usr/bin:/bin", "HOME": str(one.home), "IS_SANDBOX": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}
        native = home | dict(command.env) | {key: value for key, value in environ.items() if value != SECRET} | {skip: "1"}
        subprocess.run(
            command.argv,
            input=command.stdin,
            env=native | real.environ,
            cwd=one.workspace,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert real.bodies
    found = first_requests.differences(json.loads(real.bodies[0]), through)
    assert [one for one in found if one.where != STREAMING and "x-anthropic-billing-header" not in one.line] == []
