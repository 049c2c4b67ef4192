"""Credentials that the gateway knows are in nothing that it records, and no error brings them into a sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gateway_helpers import FakeUpstream, ask, reply

from pytest_skilleval.archive import RunFolder
from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.values import Door, RunRequest, from_lines
from pytest_skilleval.running.door import ModelDoor

TOKEN = "a-fetched-token-42"
PRINTS = f'{sys.executable} -c "print({TOKEN!r})"'
CALL = {"model": "claude-opus-4-8", "messages": []}
Opener = Callable[..., GatewayClient]


@pytest.fixture
def opened(upstream: FakeUpstream) -> Iterator[Opener]:
    """Opens a gateway in front of the fake upstream, with credentials as a test wants them."""
    servers: list[GatewayServer] = []

    def open_gateway(**credentials: Any) -> GatewayClient:
        there = Upstream(api="anthropic", base=f"http://127.0.0.1:{upstream.port}", **credentials)
        servers.append(GatewayServer(upstreams={"anthropic": there}).__enter__())
        return GatewayClient(servers[-1].control)

    yield open_gateway
    for server in servers:
        server.__exit__(None, None, None)


def repeat_in_error(handler: Any) -> None:
    """Refuses, and repeats what it was sent for credentials; in two pieces."""
    sent = handler.headers.get("authorization") or handler.headers["x-api-key"]
    body = json.dumps({"type": "error", "error": {"type": "authentication_error", "message": f"{sent} has no access; {sent}"}}).encode()
    handler.send_response(401)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    for piece in (body[:80], body[80:]):
        handler.wfile.write(piece)
        handler.wfile.flush()


def repeat_in_stream(handler: Any) -> None:
    """Begins to answer, and then fails with the credentials in its words."""
    sent = handler.headers["authorization"]
    reply(
        handler,
        f'event: error\ndata: {{"error": {{"type": "x", "message": "{sent}"}}}}\n\n'.encode(),
        200,
        {"content-type": "text/event-stream"},
    )


@pytest.mark.parametrize(
    ("credentials", "secret"),
    [({"token_command": PRINTS}, TOKEN), ({"headers": {"authorization": "Bearer of-this-environment"}}, "of-this-environment")],
)
def test_an_error_brings_no_credential_into_the_sandbox(
    opened: Opener, upstream: FakeUpstream, credentials: dict[str, Any], secret: str
) -> None:
    """What the agent gets, and what is recorded, has a mask in its place, and is whole otherwise; each is counted."""
    upstream.behave = repeat_in_error
    client = opened(**credentials)
    status, body, _ = ask(client.open(RunRequest(run="run")), CALL)
    (record,) = client.close("run")
    assert secret in upstream.seen[0].headers["authorization"]
    assert (status, json.loads(body)["error"]["message"]) == (401, "Bearer [masked] has no access; Bearer [masked]")
    assert record.failure is not None
    assert record.failure.detail == "authentication_error: Bearer [masked] has no access; Bearer [masked]"
    assert (secret in repr(record), record.masked) == (False, 2)


@pytest.mark.parametrize("credentials", [{"headers": {"x-api-key": "of-this-environment"}}, {"token_command": PRINTS}])
def test_further_headers_are_sent_as_without_a_gateway(opened: Opener, upstream: FakeUpstream, credentials: dict[str, Any]) -> None:
    """Beside either kind of credentials; in place of the agent's own of that name, but for what the CLI sets for each call."""

    def repeat(handler: Any) -> None:
        told = [*handler.headers.get_all("x-app"), *handler.headers.get_all("x-gateway-key")]
        reply(handler, json.dumps(told).encode(), 403)

    upstream.behave = repeat
    more = {"x-gateway-key": "Bearer of-the-company", "x-app": "corp", "anthropic-beta": "mine"}
    client = opened(more=more, **credentials)
    _, body, _ = ask(client.open(RunRequest(run="run")), CALL, headers={"x-app": "claude-cli", "Anthropic-Beta": "a,b"})
    seen = upstream.seen[0].headers
    assert {name: seen[name] for name in more} == more | {"anthropic-beta": "a,b"}
    assert {"x-api-key", "authorization"} & seen.keys()
    assert json.loads(body) == ["corp", "Bearer [masked]"]


def test_a_healthy_reply_is_not_counted(opened: Opener) -> None:
    """Where no credential turns up the record says nothing of any."""
    client = opened(token_command=PRINTS)
    ask(client.open(RunRequest(run="run")), CALL)
    (record,) = client.close("run")
    assert (record.failure, record.masked) == (None, 0)


def test_fetched_tokens_are_masked_on_disk_and_counted_for_the_run(opened: Opener, upstream: FakeUpstream, tmp_path: Path) -> None:
    """The run's own mask does not know the token; its count has what the gateway removed, so that the report can warn."""
    upstream.behave = repeat_in_stream
    job: Any = SimpleNamespace(
        mask=Masking(),
        archive=SimpleNamespace(folder=tmp_path),
        row=SimpleNamespace(run_id="r", skill="s", model="claude-opus-4-8", arm="with"),
        loaded=SimpleNamespace(catalogue={}, guards={}),
        case=SimpleNamespace(sandbox=SimpleNamespace(hosts=())),
        script={},
        gateway=None,
    )
    door = ModelDoor(job, RunFolder(path=tmp_path, mask=job.mask), 1, opened(token_command=PRINTS).control)
    ask(Door(socket=door.door.socket), CALL)
    door.close()
    (record,) = from_lines((tmp_path / "requests.jsonl").read_bytes())
    assert record.failure is not None
    assert "Bearer [masked]" in record.failure.detail
    assert TOKEN not in (tmp_path / "requests.jsonl").read_text()
    assert job.mask.count == 1
