"""The scripted model over HTTP, in both APIs, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_helpers import ask, events

from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.scripted.script import Fault, FaultKind, Plays, Rehearsal, Script, ScriptTurn
from pytest_skilleval.gateway.values import Door

Opener = Callable[..., tuple[Door, str]]

PLAYED = Script(skill="s", rehearsals=(Rehearsal(plays=Plays(), turns=(ScriptTurn(run=("ls -l",), reply="Räumt auf."),)),))
ANTHROPIC = {"model": "m", "tools": [{"name": "Bash"}, {"name": "Skill"}], "messages": [{"role": "user", "content": "go"}]}
OPENAI = {
    "model": "m",
    "tools": [{"type": "function", "name": "exec_command"}],
    "input": [{"type": "message", "role": "user", "content": "go"}],
}
PATHS = {"anthropic": "/v1/messages?beta=true", "openai": "/v1/responses"}
BODIES: dict[str, dict[str, Any]] = {"anthropic": ANTHROPIC, "openai": OPENAI}
both = pytest.mark.parametrize("api", ["anthropic", "openai"])


def test_anthropic_message(scripted: Opener) -> None:
    """A plain answer is a message with a tool call; the next request gets the reply."""
    door, _ = scripted(script=PLAYED)
    first = json.loads(ask(door, ANTHROPIC)[1])
    assert (first["stop_reason"], first["content"][0]["name"], first["content"][0]["input"]["command"]) == ("tool_use", "Bash", "ls -l")
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": first["content"][0]["id"], "content": "x"}]}
    history = [*ANTHROPIC["messages"], {"role": "assistant", "content": first["content"]}, result]
    second = json.loads(ask(door, ANTHROPIC | {"messages": history})[1])
    assert (second["stop_reason"], second["content"]) == ("end_turn", [{"type": "text", "text": "Räumt auf."}])


def test_anthropic_stream_is_the_message(scripted: Opener) -> None:
    """Put together again, the streamed events are the plain message."""
    door, _ = scripted(script=PLAYED)
    _, stream, headers = ask(door, ANTHROPIC | {"stream": True})
    told = events(stream)
    assert headers["content-type"] == "text/event-stream"
    assert [event["type"] for event in told] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert json.loads(told[2]["delta"]["partial_json"])["command"] == "ls -l"
    assert told[4]["delta"]["stop_reason"] == "tool_use"


def test_openai_response_and_stream(scripted: Opener) -> None:
    """A plain answer is a response with a function call; streamed, the same item comes in events."""
    door, _ = scripted(script=PLAYED)
    plain = json.loads(ask(door, OPENAI, path=PATHS["openai"])[1])
    assert (plain["output"][0]["name"], json.loads(plain["output"][0]["arguments"])) == ("exec_command", {"cmd": "ls -l"})
    told = events(ask(door, OPENAI | {"stream": True}, path=PATHS["openai"])[1])
    assert [event["type"] for event in told] == [
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ]
    assert told[2]["item"]["arguments"] == plain["output"][0]["arguments"]


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([{"type": "function", "name": "shell_command"}], {"command": "ls -l"}),
        ([{"type": "function", "name": "shell"}], {"command": ["bash", "-lc", "ls -l"]}),
    ],
)
def test_openai_shell_tools_differ(scripted: Opener, tools: list[dict[str, str]], expected: dict[str, Any]) -> None:
    """The call takes the shape of whichever shell tool the client declares."""
    door, _ = scripted(script=PLAYED)
    plain = json.loads(ask(door, OPENAI | {"tools": tools}, path=PATHS["openai"])[1])
    assert json.loads(plain["output"][0]["arguments"]) == expected


def test_openai_program_tool(scripted: Opener) -> None:
    """Where the client's only tool runs programs, the call is a program."""
    door, _ = scripted(script=PLAYED)
    declared = [
        {"type": "additional_tools", "tools": [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]}
    ]
    plain = json.loads(ask(door, {"model": "m", "input": [*declared, *OPENAI["input"]]}, path=PATHS["openai"])[1])
    assert plain["output"][0]["type"] == "custom_tool_call"
    assert '"cmd": "ls -l"' in plain["output"][0]["input"]


def test_tokens_are_counted_on_request(scripted: Opener) -> None:
    """`count_tokens` answers by the fixed rule."""
    door, _ = scripted(script=PLAYED)
    status, body, _ = ask(door, ANTHROPIC, path="/v1/messages/count_tokens")
    assert (status, json.loads(body)) == (200, {"input_tokens": len(json.dumps(ANTHROPIC)) // 4})


@both
@pytest.mark.parametrize(
    ("kind", "status"),
    [("unauthorized", 401), ("forbidden", 403), ("rate_limited", 429), ("overloaded", 529), ("server_error", 500), ("bad_request", 400)],
)
def test_error_faults(scripted: Opener, idle_gateway: GatewayClient, api: str, kind: FaultKind, status: int) -> None:
    """An error fault answers with its status in the API's own shape, once when told once; the gateway records it."""
    door, run = scripted(script=PLAYED, faults=(Fault(kind=kind, times=1),))
    got, body, _ = ask(door, BODIES[api], path=PATHS[api])
    assert (got, bool(json.loads(body)["error"]["message"])) == (status, True)
    assert ask(door, BODIES[api], path=PATHS[api])[0] == 200
    record = idle_gateway.records(run)[0]
    assert record.failure is not None
    assert (record.status, record.failure.kind) == (status, "status")


@both
@pytest.mark.parametrize("kind", ["garbage", "empty"])
def test_replies_that_are_none(scripted: Opener, idle_gateway: GatewayClient, api: str, kind: FaultKind) -> None:
    """Garbage and nothing at all come with status 200 and are recorded as cut."""
    door, run = scripted(script=PLAYED, faults=(Fault(kind=kind),))
    assert ask(door, BODIES[api] | {"stream": True}, path=PATHS[api])[0] == 200
    failure = idle_gateway.records(run)[0].failure
    assert failure is not None
    assert failure.kind == "cut"


@both
def test_refusal(scripted: Opener, idle_gateway: GatewayClient, api: str) -> None:
    """A refusal holds no tool call, and the gateway records it as such."""
    door, run = scripted(script=PLAYED, faults=(Fault(kind="refusal"),))
    body = ask(door, BODIES[api] | {"stream": True}, path=PATHS[api])[1]
    assert b"ls -l" not in body
    assert idle_gateway.records(run)[0].stop_reason == "refusal"


@both
def test_cut_stream(scripted: Opener, api: str) -> None:
    """A cut stream breaks off."""
    door, _ = scripted(script=PLAYED, faults=(Fault(kind="cut"),))
    with pytest.raises(Exception, match=r"reset|Incomplete|closed|Remote|aborted"):
        ask(door, BODIES[api] | {"stream": True}, path=PATHS[api])


@both
def test_dose_and_listing_are_marked(scripted: Opener, idle_gateway: GatewayClient, api: str) -> None:
    """Each call is marked with the share of the body in its context."""
    door, run = scripted(script=PLAYED, skill_body="Never sweep at all.\nAsk before anything.\n")
    half = {"role": "user", "content": "     1\tNever sweep at all.\n"}
    key = "messages" if api == "anthropic" else "input"
    ask(door, BODIES[api], path=PATHS[api])
    ask(door, BODIES[api] | {key: [half]}, path=PATHS[api])
    assert [record.dose for record in idle_gateway.records(run)] == [0.0, pytest.approx(19 / 39, abs=1e-3)]
