"""Bedrock, Vertex and company gateways: what may be named, what is refused, what their replies say."""

from __future__ import annotations

import base64
import itertools
import json
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from gateway_helpers import FakeUpstream, ask, reply
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.gateway import tokens
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.eventstream import CONTENT_TYPE
from pytest_skilleval.gateway.observer import Observer
from pytest_skilleval.gateway.paths import api_of, asks_model, model_in
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.upstreams import from_environment, need
from pytest_skilleval.gateway.values import Door, RunRequest

BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1"}
VERTEX = {"CLAUDE_CODE_USE_VERTEX": "true", "ANTHROPIC_VERTEX_PROJECT_ID": "some-project"}
KEY = {"AWS_BEARER_TOKEN_BEDROCK": "the-secret"}
BEARER = {"authorization": "Bearer the-secret"}


@pytest.mark.parametrize(
    ("environ", "base", "headers"),
    [
        (BEDROCK | KEY, "https://bedrock-runtime.us-east-1.amazonaws.com", BEARER),
        (BEDROCK | KEY | {"AWS_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com", BEARER),
        (
            BEDROCK | KEY | {"ANTHROPIC_API_KEY": "other", "ANTHROPIC_BEDROCK_BASE_URL": "https://gw.example/b"},
            "https://gw.example/b",
            BEARER,
        ),
        (
            BEDROCK | {"ANTHROPIC_BEDROCK_BASE_URL": "http://localhost:4000", "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1"},
            "http://localhost:4000",
            {},
        ),
        (VERTEX | {"GOOGLE_OAUTH_ACCESS_TOKEN": "the-secret"}, "https://us-east5-aiplatform.googleapis.com/v1", BEARER),
        (
            VERTEX | {"GOOGLE_OAUTH_ACCESS_TOKEN": "the-secret", "CLOUD_ML_REGION": "global"},
            "https://aiplatform.googleapis.com/v1",
            BEARER,
        ),
        (
            VERTEX
            | {
                "ANTHROPIC_VERTEX_BASE_URL": "https://gw.example",
                "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1",
                "ANTHROPIC_AUTH_TOKEN": "the-secret",
            },
            "https://gw.example",
            BEARER,
        ),
    ],
)
def test_clouds_are_found_in_the_environment(environ: dict[str, str], base: str, headers: dict[str, str]) -> None:
    """The switch decides, before any key of Anthropic's own; the agent gets switch and place and no secret."""
    found = need(from_environment(environ), "anthropic")
    assert (found.base, found.headers) == (base, headers)
    assert found.api == ("bedrock" if "CLAUDE_CODE_USE_BEDROCK" in environ else "vertex")
    assert "the-secret" not in repr(found)
    assert "the-secret" not in found.env.values()
    assert found.env.keys() & {"CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH"}


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        (BEDROCK | {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s"}, "set AWS_BEARER_TOKEN_BEDROCK"),
        (BEDROCK | {"AWS_PROFILE": "work"}, "CLAUDE_CODE_SKIP_BEDROCK_AUTH=1"),
        (BEDROCK | {"CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1"}, "ANTHROPIC_BEDROCK_BASE_URL"),
        (VERTEX, "SKILLEVAL_TOKEN_COMMAND='gcloud auth print-access-token'"),
        ({"CLAUDE_CODE_USE_VERTEX": "1", "GOOGLE_OAUTH_ACCESS_TOKEN": "t"}, "set ANTHROPIC_VERTEX_PROJECT_ID"),
        (BEDROCK | KEY | {"AWS_REGION": "eu.example.org/x"}, "AWS_REGION"),
        (BEDROCK | KEY | {"ANTHROPIC_BEDROCK_BASE_URL": "http://gw.example"}, "plain http"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_API_KEY": "k"}, "CLAUDE_CODE_USE_FOUNDRY"),
    ],
)
def test_what_is_not_possible_is_refused_with_the_mend(environ: dict[str, str], word: str) -> None:
    """Requests that would have to be signed, and whatever else can't be reached, are refused by name, with what to do."""
    with pytest.raises(UsageProblem, match=word.replace("(", r"\(")):
        from_environment(environ)


def test_agents_that_use_no_cloud_do_not_mind_one() -> None:
    """A cloud of Claude's that can't be reached keeps nobody from driving Codex."""
    assert list(from_environment(BEDROCK | {"OPENAI_API_KEY": "k"}, ("openai",))) == ["openai"]


@pytest.mark.parametrize(
    ("path", "api", "model"),
    [
        ("/model/eu.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke", "bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("/model/us.anthropic.claude-x/invoke-with-response-stream", "bedrock", "us.anthropic.claude-x"),
        ("/model/arn%3Aaws%3Abedrock%3Aus%3A1%3Ap%2Fabc/invoke", "bedrock", "arn:aws:bedrock:us:1:p/abc"),
        ("/projects/p/locations/us-east5/publishers/anthropic/models/claude-x@20250929:streamRawPredict", "vertex", "claude-x@20250929"),
        ("/v1/messages?beta=true", "anthropic", ""),
    ],
)
def test_paths_name_api_and_model(path: str, api: str, model: str) -> None:
    """Which API is asked, and for which model, is read from the path; all of these ask a model."""
    assert (api_of(path), model_in(path), asks_model("POST", path)) == (api, model, True)


@pytest.mark.parametrize(
    "path",
    [
        "/inference-profiles?type=SYSTEM_DEFINED",
        "/model/x/count-tokens",
        "/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
    ],
)
def test_listings_and_counts_ask_no_model(path: str) -> None:
    """Listings and counts lead outside, and are no model calls."""
    assert (api_of(path) == "other", asks_model("POST", path)) == (False, False)


@pytest.mark.parametrize(
    "path",
    [
        "/model/../x/invoke",
        "/model/a..b/invoke",
        "/model/a/b/invoke",
        "/model/x/converse",
        "/guardrail/x/apply",
        "/projects/p/locations/l/publishers/google/models/g:rawPredict",
        "/projects/p/locations/l/publishers/anthropic/models/x:rawPredict/y",
    ],
)
def test_other_paths_of_clouds_lead_nowhere(path: str) -> None:
    """Nothing but Claude's models is reached in a cloud."""
    assert api_of(path) == "other"


def test_listings_of_bedrock_have_their_own_host() -> None:
    """At Amazon's own address listings go to the host that has them, at a company gateway to that."""
    own = from_environment(BEDROCK | KEY)["bedrock"]
    assert own.url("/inference-profiles?x=1") == "https://bedrock.us-east-1.amazonaws.com/inference-profiles?x=1"
    assert own.url("/model/m/invoke") == "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke"
    company = from_environment(BEDROCK | KEY | {"ANTHROPIC_BEDROCK_BASE_URL": "https://gw.example/b/"})["bedrock"]
    assert company.url("/inference-profiles") == "https://gw.example/b/inference-profiles"


def frame(payload: dict[str, Any], headers: Sequence[tuple[bytes, bytes]] = ((b":message-type", b"event"),)) -> bytes:
    """One frame as Bedrock sends it."""
    head = b"".join(bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value for name, value in headers)
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(body), len(head))
    rest = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + body
    return rest + struct.pack(">I", zlib.crc32(rest))


def chunk(event: dict[str, Any]) -> bytes:
    """One event of the API in its frame."""
    return frame({"bytes": base64.b64encode(json.dumps(event).encode()).decode()})


STREAM = b"".join(
    map(
        chunk,
        [
            {"type": "message_start", "message": {"model": "claude-sonnet-4-5", "usage": {"input_tokens": 7, "output_tokens": 1}}},
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hello"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 30}},
            {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 7}},
        ],
    )
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_a_binary_stream_is_read_however_it_is_cut_up(cuts: list[int]) -> None:
    """Model, usage, stop reason and end are read from Bedrock's frames, wherever chunks begin."""
    observer = Observer(CONTENT_TYPE)
    for begin, end in itertools.pairwise([0, *sorted(cuts), len(STREAM)]):
        observer.feed(STREAM[begin:end])
    observer.finish()
    assert (observer.model, observer.stop_reason, observer.complete, observer.size) == ("claude-sonnet-4-5", "end_turn", True, len(STREAM))
    assert (observer.usage.input, observer.usage.output, observer.usage.known) == (7, 30, True)


@given(st.binary(max_size=80))
def test_what_is_no_stream_is_unknown(data: bytes) -> None:
    """Bytes that are no frames give no usage and no end, and no exception."""
    observer = Observer(CONTENT_TYPE)
    observer.feed(data)
    observer.finish()
    assert (observer.usage.known, observer.complete) == (False, False)


@pytest.mark.parametrize("place", [9, 14, len(STREAM) // 4])
def test_a_damaged_frame_ends_the_reading(place: int) -> None:
    """A byte that is not as it was sent is noticed: the reply has no end then."""
    observer = Observer(CONTENT_TYPE)
    observer.feed(STREAM[:place] + bytes([STREAM[place] ^ 1]) + STREAM[place + 1 :])
    observer.finish()
    assert not observer.complete


def test_an_exception_of_bedrocks_is_told() -> None:
    """An error in the midst of a stream is recorded by its name."""
    observer = Observer(CONTENT_TYPE)
    observer.feed(frame({"message": "Slow down"}, [(b":message-type", b"exception"), (b":exception-type", b"throttlingException")]))
    observer.finish()
    assert (observer.error, observer.complete) == ("throttlingException: Slow down", False)


def test_a_plain_error_of_bedrocks_is_told() -> None:
    """The message of an error reply is kept."""
    observer = Observer("application/json")
    observer.feed(b'{"message": "no such model"}')
    observer.finish()
    assert observer.error == "no such model"


@pytest.fixture
def counting(tmp_path: Path) -> tuple[str, Callable[[], int]]:
    """A command that prints token-1, token-2 ..., and how often it was run."""
    program, count = tmp_path / "token.py", tmp_path / "count"
    program.write_text(f"p={str(count)!r}\nopen(p, 'a').write('x')\nprint('token-%d' % len(open(p).read()))\n")
    return f"{sys.executable} {program}", lambda: len(count.read_text()) if count.exists() else 0


@pytest.fixture
def tokened(upstream: FakeUpstream) -> Iterator[Callable[[str], tuple[GatewayClient, Door]]]:
    """Opens a gateway whose upstream takes its token from a command."""
    servers: list[GatewayServer] = []

    def open_gateway(command: str) -> tuple[GatewayClient, Door]:
        there = Upstream(api="anthropic", base=f"http://127.0.0.1:{upstream.port}", token_command=command)
        servers.append(GatewayServer(upstreams={"anthropic": there}).__enter__())
        client = GatewayClient(servers[-1].control)
        return client, client.open(RunRequest(run="run"))

    yield open_gateway
    for server in servers:
        server.__exit__(None, None, None)


CALL = {"model": "claude-opus-4-8", "messages": []}


def test_a_token_from_a_command_is_used_and_asked_for_again(
    tokened: Callable[[str], tuple[GatewayClient, Door]],
    counting: tuple[str, Callable[[], int]],
    upstream: FakeUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command's token is sent, kept while it is fresh, asked for again when it is old, and never recorded."""
    command, times = counting
    client, door = tokened(command)
    assert [ask(door, CALL)[0] for _ in range(3)] == [200, 200, 200]
    assert times() == 1
    monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)
    ask(door, CALL)
    assert [seen.headers["authorization"] for seen in upstream.seen] == [f"Bearer token-{number}" for number in (1, 1, 1, 2)]
    assert "token-" not in repr(client.records("run"))


def test_a_command_without_a_token_is_final(tokened: Callable[[str], tuple[GatewayClient, Door]], upstream: FakeUpstream) -> None:
    """Where the command fails nothing is sent; the record says why, without what the command printed."""
    client, door = tokened(f"{sys.executable} -c 'print(\"half-a-secret\"); raise SystemExit(1)'")
    status, body, _ = ask(door, CALL)
    (record,) = client.close("run")
    assert (status, upstream.seen) == (401, [])
    assert record.failure is not None
    assert record.failure.kind == "credentials"
    assert "printed no token" in record.failure.detail
    assert b"half-a-secret" not in body + record.failure.detail.encode()


@pytest.mark.parametrize("command", ["/no/such/program", "'", f"{sys.executable} -c pass"])
def test_bad_token_commands_are_told(command: str) -> None:
    """A command that can't be run, or prints nothing, is a usage problem that names the variable."""
    with pytest.raises(UsageProblem, match="SKILLEVAL_TOKEN_COMMAND"):
        tokens.fetch(command)


def test_a_reply_passes_byte_for_byte(upstream: FakeUpstream) -> None:
    """Bedrock's binary frames reach the agent as they were sent."""
    upstream.behave = lambda handler: reply(handler, STREAM, headers={"content-type": CONTENT_TYPE})
    there = Upstream(api="bedrock", base=f"http://127.0.0.1:{upstream.port}", headers=BEARER)
    with GatewayServer(upstreams={"bedrock": there}) as server:
        client = GatewayClient(server.control)
        door = client.open(RunRequest(run="run"))
        status, body, _ = ask(door, {"messages": []}, path="/model/eu.anthropic.claude-sonnet-4-5-v1:0/invoke-with-response-stream")
        (record,) = client.close("run")
    assert (status, body) == (200, STREAM)
    assert (record.usage.input, record.usage.output, record.request_id, record.failure) == (7, 30, "req_1", None)
    assert (record.model, record.stream) == ("eu.anthropic.claude-sonnet-4-5-v1:0", True)
    assert record.cost_usd == pytest.approx(7 * 3e-6 + 30 * 15e-6)


def test_an_anthropic_gateway_may_take_its_token_from_a_command() -> None:
    """Without a key, a token command serves Anthropic's own API and company gateways that speak it, too."""
    found = need(from_environment({"SKILLEVAL_TOKEN_COMMAND": "t", "ANTHROPIC_BASE_URL": "https://gw.example"}), "anthropic")
    assert (found.token_command, found.base, set(found.env)) == ("t", "https://gw.example", {"ANTHROPIC_AUTH_TOKEN"})
    assert from_environment({"SKILLEVAL_TOKEN_COMMAND": "t", "ANTHROPIC_API_KEY": "k"})["anthropic"].token_command is None
