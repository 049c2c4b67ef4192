"""Where the gateway itself fails: its records say so, and nobody takes it for a failure of the model's API."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from typing import Any

import pytest
from gateway_helpers import FakeUpstream, ask

from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.core.transcript import Failure, TurnTranscript
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.values import Door, RequestRecord, from_lines, to_lines
from pytest_skilleval.running.conversation import attribute

Live = Callable[..., tuple[GatewayClient, Door]]
CALL = {"model": "claude-opus-4-8", "messages": [{"role": "user", "content": "hello"}]}
RELAY, SCRIPTED = "pytest_skilleval.gateway.relay", "pytest_skilleval.gateway.scripted.model"


def broken(*_: Any, **__: Any) -> Any:
    """A bug."""
    raise TypeError("a bug")


def checked(records: tuple[RequestRecord, ...]) -> RequestRecord:
    """The only record, as it is read back from disk; it must blame the harness and say where the bug is."""
    (record,) = from_lines(to_lines(records))
    assert record.failure is not None
    assert record.failure.kind == "gateway"
    assert record.failure.detail.startswith("TypeError: a bug (test_gateway_own_faults.py:")
    seen = reading.failure_of([record])
    assert seen is not None
    assert (seen.blame, seen.retryable, seen.reason) == ("harness", False, f"our own gateway failed: {record.failure.detail}")
    return record


def test_a_bug_before_the_reply_is_a_marked_500(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent gets an error in the shape that both APIs' clients know, the record says whose it is; the next call is healthy."""
    client, door = live()
    with monkeypatch.context() as patched:
        patched.setattr(f"{RELAY}.outward", broken)
        status, body, _ = ask(door, CALL)
    assert (status, b'"code": "gateway"' in body) == (500, True)
    assert checked(client.records("run")).status == 500
    assert ask(door, CALL)[0] == 200
    assert reading.failure_of(client.records("run")) is None


def test_a_bug_amid_the_reply_cuts_it(live: Live, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was begun can't be taken back: the reply breaks off, and the record says why."""

    def half(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"x" * 500)

    upstream.behave = half
    client, door = live()
    monkeypatch.setattr(f"{RELAY}.Observer.feed", broken)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(door, CALL)
    checked(client.close("run"))


def test_a_bug_of_the_scripted_model_is_ours(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted model is part of the gateway: its own failure is no 500 that it was told to play."""
    client, door = live(models="scripted")
    monkeypatch.setattr(f"{SCRIPTED}.place", broken)
    assert ask(door, CALL)[0] == 500
    assert checked(client.close("run")).status == 500


@pytest.mark.parametrize("timed_out", [False, True])
def test_a_turn_that_our_own_fault_ended_is_the_harness(timed_out: bool) -> None:
    """Whatever the CLI made of it: an error of the API, in its words, or trying again until its time was over."""
    seen = Failure(blame="harness", reason="our own gateway failed: x")
    told = None if timed_out else Failure(blame="agent_api", reason="API error (500)", retryable=True)
    turn = TurnTranscript(agent="codex", messages=("I look.",), failure=told, closing="cut")
    with pytest.raises(HarnessError, match="our own gateway failed: x"):
        attribute(turn, seen, timed_out=timed_out, exit_code=1)
