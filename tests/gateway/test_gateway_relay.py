"""The gateway between an agent and a model that does what the test says."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from gateway_helpers import ANSWER, FakeUpstream, ask, connect, reply

from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.core.prices import Price, PriceTable, with_own
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.limits import Ledger
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import Door, RequestRecord, RunRequest

Live = Callable[..., tuple[GatewayClient, Door]]
CALL = {"model": "claude-opus-4-8", "messages": [{"role": "user", "content": "hello"}]}


def last(client: GatewayClient) -> RequestRecord:
    """The newest record, once its request is over."""
    for _ in range(200):
        record = client.records("run")[-1]
        if record.status is not None or record.failure is not None:
            return record
        time.sleep(0.01)
    raise AssertionError("the request was never recorded")


def test_body_is_passed_on_byte_for_byte(live: Live, upstream: FakeUpstream) -> None:
    """No byte of a request's or a reply's body is changed, valid JSON or not."""
    _, door = live()
    raw = b'{ "model":"m",\t"messages": [] , "x":"\xc3\xa9\xff" }\n'
    status, body, _ = ask(door, raw)
    assert (status, body, upstream.seen[0].body) == (200, ANSWER, raw)


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"model": 7}', b'{"deep":' + b"[" * 100_000, b'{"model":' + b"[" * 100_000])
def test_a_body_that_can_not_be_read_is_passed_on_and_recorded(live: Live, upstream: FakeUpstream, raw: bytes) -> None:
    """Whatever an agent sends is a request: never a failure of the gateway."""
    client, door = live()
    assert ask(door, raw)[0] == 200
    assert upstream.seen[0].body == raw
    assert last(client).failure is None


def test_credentials_and_host_are_replaced_and_nothing_else(live: Live, upstream: FakeUpstream) -> None:
    """The agent's placeholder never leaves, the real credential does, other headers stay."""
    _, door = live()
    ask(
        door,
        CALL,
        path="/v1/messages?beta=true",
        headers={"x-api-key": "placeholder", "authorization": "Bearer x", "anthropic-beta": "a,b"},
    )
    seen = upstream.seen[0]
    assert seen.path == "/v1/messages?beta=true"
    assert seen.headers["x-api-key"] == "the-real-secret"
    assert "authorization" not in seen.headers
    assert seen.headers["host"] == f"127.0.0.1:{upstream.port}"
    assert seen.headers["anthropic-beta"] == "a,b"


def test_no_record_holds_a_credential(live: Live) -> None:
    """What is recorded of a run never holds the real credential."""
    client, door = live()
    ask(door, CALL)
    assert "the-real-secret" not in repr(last(client))


@pytest.mark.parametrize(
    ("asked", "told"),
    [({"type": "enabled", "budget_tokens": 2048}, "enabled 2048"), ({"type": "adaptive"}, "adaptive"), (7, None), ({}, None)],
)
def test_effort_and_thinking_are_recorded(live: Live, asked: object, told: str | None) -> None:
    """How hard the model is asked to try and to think is known of every call; nonsense is nothing."""
    client, door = live()
    body = {"model": "m", "messages": [], "output_config": {"effort": "high"}, "thinking": asked}
    ask(door, json.dumps(body).encode())
    assert (last(client).effort, last(client).thinking) == ("high", told)


def asked_by_codex(system: str, tool: str, prompt: str) -> dict[str, Any]:
    """A request as Codex makes it for its newer models: neither prompt nor tools stand where the API has a place for them."""
    tools = {"type": "additional_tools", "role": "developer", "id": prompt, "tools": [{"type": "custom", "name": tool}]}
    said = [{"role": role, "content": [{"type": "input_text", "text": text}]} for role, text in (("developer", system), ("user", prompt))]
    return {"model": "m", "input": [tools, *said]}


def asked_by_claude(system: str, tool: str, prompt: str) -> dict[str, Any]:
    """A request as Claude Code makes it: the mark at the head of the system prompt depends on the user's first words."""
    mark = f"x-anthropic-billing-header: cc_version=2.1.197.{len(prompt):x}; cc_entrypoint=sdk-cli;"
    texts = [{"type": "text", "text": text} for text in (mark, system)]
    return {"model": "m", "system": texts, "tools": [{"name": tool}], "messages": [{"role": "user", "content": prompt}]}


@pytest.mark.parametrize("asked", [asked_by_claude, asked_by_codex])
def test_system_prompt_and_tools_are_told_apart_from_what_the_user_says(live: Live, asked: Callable[..., dict[str, Any]]) -> None:
    """Their hashes change with them, and with nothing that another prompt or another session brings along."""
    client, door = live()

    def hashes(*parts: str) -> tuple[str, str]:
        ask(door, json.dumps(asked(*parts)).encode())
        return last(client).system_sha256, last(client).tools_sha256

    system, tools = hashes("Be brief.", "shell", "Tidy up.")
    assert len(system) == len(tools) == 64
    assert hashes("Be brief.", "shell", "Tidy up, please.") == (system, tools)
    assert (hashes("Be long.", "shell", "Tidy up.")[0] == system, hashes("Be brief.", "exec", "Tidy up.")[1] == tools) == (False, False)


def test_stream_is_not_buffered(live: Live, upstream: FakeUpstream) -> None:
    """The first event reaches the agent while the upstream has not sent the second."""
    release = threading.Event()

    def two_events(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.wfile.write(b"event: message_start\ndata: {}\n\n")
        handler.wfile.flush()
        release.wait(10)
        handler.wfile.write(b"event: message_stop\ndata: {}\n\n")
        handler.close_connection = True

    upstream.behave = two_events
    _, door = live()
    connection = connect(door)
    connection.request("POST", "/v1/messages", body=json.dumps(CALL))
    response = connection.getresponse()
    first = response.read1(100)
    release.set()
    rest = response.read()
    connection.close()
    assert first.startswith(b"event: message_start")
    assert rest.endswith(b"event: message_stop\ndata: {}\n\n")


def test_usage_ids_limits_and_money_are_recorded(live: Live, upstream: FakeUpstream) -> None:
    """A call's record holds usage, request id, rate limits and cost, and the ledger has it too."""
    upstream.behave = lambda handler: reply(handler, headers={"anthropic-ratelimit-requests-remaining": "7"})
    ledger = Ledger()
    client, door = live(ledger=ledger, skill_body="one line\nanother line\n")
    client.turn("run", 3)
    ask(door, CALL, headers={"x-stainless-retry-count": "2"})
    record = last(client)
    assert (record.usage.input, record.usage.output, record.request_id, record.turn, record.attempt) == (1000, 100, "req_1", 3, 2)
    assert record.rate_limits == {"anthropic-ratelimit-requests-remaining": "7"}
    assert record.cost_usd == pytest.approx(1000 * 5e-6 + 100 * 25e-6)
    assert ledger.spent_usd == pytest.approx(0.0075)


def test_raw_first_request_is_kept_once_a_turn(live: Live) -> None:
    """The raw body of the first model call of each turn is kept, later ones are not."""
    client, door = live()
    for turn in (1, 2):
        client.turn("run", turn)
        ask(door, CALL)
        ask(door, CALL)
    kept = [record.body is not None for record in client.records("run")]
    assert kept == [True, False, True, False]
    assert json.loads(client.records("run")[0].body or "") == CALL


def test_nothing_is_asked_once_the_money_is_spent(live: Live, upstream: FakeUpstream) -> None:
    """Once the session's money is spent the next call is refused, for good, and never reaches the model; who asked to know is told once."""
    told: list[str] = []
    client, door = live(ledger=Ledger(0.005, when_spent=told.append))
    assert ask(door, CALL)[0] == 200
    last(client)
    status, body, _ = ask(door, CALL)
    assert (status, len(upstream.seen)) == (400, 1)
    assert told == ["the cost limit of $0.01 is reached ($0.01 spent)"]
    assert told[0].encode() in body
    assert reading.unpaid([last(client)]) == told[0]
    failure = reading.failure_of([last(client)])
    assert failure is not None
    assert (failure.blame, failure.reason, failure.retryable) == ("agent_api", told[0], False)


def test_subscription_costs_no_money(live: Live) -> None:
    """Calls under an account's sign-in are not booked as money."""
    ledger = Ledger()
    client, door = live(subscription=True, ledger=ledger)
    ask(door, CALL)
    record = last(client)
    assert ledger.spent_usd == 0.0
    assert (record.free, record.cost_usd, reading.cost_of([record]).billed) == (True, 0.0, 0.0)


def test_model_without_a_price_is_stopped_all_the_same(live: Live, upstream: FakeUpstream) -> None:
    """A model whose price nobody knows is booked at the dearest price, and that is told: the budget holds, its cost stays unknown."""
    upstream.behave = lambda handler: reply(handler, ANSWER.replace(b"claude-opus-4-8", b"gpt-unheard-of"))
    ledger = Ledger(0.01)
    client, door = live(ledger=ledger)
    ask(door, CALL)
    assert last(client).cost_usd is None
    status, body, _ = ask(door, CALL)
    assert (status, ledger.spent_usd) == (400, pytest.approx(1000 * 30e-6 + 100 * 180e-6))
    assert b"the calls of a model without a known price (1) reckoned at the dearest one" in body


def test_a_price_of_ones_own_counts_before_the_shipped_one(live: Live) -> None:
    """The ledger and the call's record take the user's price, for its model only."""
    price = Price(model="claude-opus-4*", input=1000.0, output=0.0, cache_read=0.0, cache_write_5m=0.0, cache_write_1h=0.0)
    ledger = Ledger(prices=with_own(PriceTable(dated="2026-11-30", source="contract", prices=(price,))))
    client, door = live(ledger=ledger)
    ask(door, CALL)
    assert (last(client).cost_usd, ledger.spent_usd) == (1.0, 1.0)


def test_what_is_booked_call_by_call_is_not_booked_again() -> None:
    """What a run tells of its cost counts only where the gateway did not see its calls; from many threads nothing is lost."""
    ledger = Ledger()
    ledger.follow("results/run-1/2")
    ledger.told("results/run-1", 5.0)
    assert ledger.spent_usd == 0.0
    threads = [threading.Thread(target=lambda: [ledger.told("results/run-2", 0.25) for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent_usd == 500.0


def test_busy_upstream_holds_everybody_back(live: Live, upstream: FakeUpstream) -> None:
    """After a 429 the next request to that host waits as long as it asked; the wait is told apart from latency."""
    upstream.behave = lambda handler: reply(handler, status=429, headers={"retry-after": "0.4"})
    client, door = live()
    assert ask(door, CALL)[0] == 429
    other = client.open(RunRequest(run="other"))
    upstream.behave = reply
    begun = time.monotonic()
    assert ask(other, CALL)[0] == 200
    assert time.monotonic() - begun > 0.3
    (record,) = client.close("other")
    assert record.waited > 0.3
    assert record.first_byte_ms is not None
    assert record.first_byte_ms < 200


@pytest.mark.parametrize(
    "path", ["/", "/etc/passwd", "/v1/files", "/v1/chat/completions", "http://example.org/v1/messages/../../x", "/v1/messages/../x"]
)
def test_other_paths_lead_nowhere(live: Live, upstream: FakeUpstream, path: str) -> None:
    """Only the model APIs' paths lead outside."""
    _, door = live()
    status, _, _ = ask(door, CALL, path=path)
    assert status == (200 if path == "/" else 403 if path.startswith("http") else 404)
    assert upstream.seen == []


def test_unreachable_model_is_told_as_such(live: Live, upstream: FakeUpstream) -> None:
    """A model that can't be reached is a failure of its own, answered at once."""
    client, door = live()
    upstream.behave = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
    status, _, _ = ask(door, CALL)
    failure = last(client).failure
    assert status == 502
    assert failure is not None
    assert failure.kind == "unreachable"


def test_cut_stream_stays_cut(live: Live, upstream: FakeUpstream) -> None:
    """A reply that breaks off reaches the agent broken off, not as a shorter whole, and is recorded as cut."""

    def cut(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"event: message_start\ndata: {}\n\n")
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    upstream.behave = cut
    client, door = live()
    with pytest.raises(Exception, match=r"reset|Incomplete|closed|Remote|aborted"):
        ask(door, CALL)
    failure = last(client).failure
    assert failure is not None
    assert failure.kind == "cut"


def test_stream_without_its_closing_event_is_cut(live: Live, upstream: FakeUpstream) -> None:
    """A stream that ends cleanly but without its closing event is recorded as cut."""
    upstream.behave = lambda handler: reply(handler, b"event: message_start\ndata: {}\n\n", headers={"content-type": "text/event-stream"})
    client, door = live()
    ask(door, CALL)
    failure = last(client).failure
    assert failure is not None
    assert failure.kind == "cut"


def test_fifty_streams_at_once_lose_and_mix_nothing(live: Live, upstream: FakeUpstream) -> None:
    """Fifty concurrent replies arrive whole, in order, each at its own asker."""

    def chunks(handler: Any) -> None:
        name = handler.headers["x-name"]
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for number in range(40):
            handler.wfile.write(f"data: {name}-{number}\n\n".encode())
            handler.wfile.flush()
        handler.close_connection = True

    upstream.behave = chunks
    _, door = live()
    got: dict[str, bytes] = {}

    def one(name: str) -> None:
        got[name] = ask(door, CALL, headers={"x-name": name})[1]

    threads = [threading.Thread(target=one, args=(str(number),)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    expected = {str(n): "".join(f"data: {n}-{number}\n\n" for number in range(40)).encode() for n in range(50)}
    assert got == expected


def test_closed_door_leads_nowhere(live: Live) -> None:
    """After `close` nothing is reached through the run's door."""
    client, door = live()
    client.close("run")
    with pytest.raises(OSError):
        ask(door, CALL)


def test_closing_twice_is_harmless(live: Live) -> None:
    """The first `close` gives the records, a second one gives nothing and does no harm."""
    client, door = live()
    ask(door, CALL)
    assert len(client.close("run")) == 1
    assert client.close("run") == ()


def test_close_does_not_wait_for_a_hanging_model(live: Live, upstream: FakeUpstream) -> None:
    """Closing a run cuts off what is under way within seconds."""
    release = threading.Event()
    upstream.behave = lambda _handler: release.wait(20)
    client, door = live()
    asking = threading.Thread(target=lambda: _quietly(lambda: ask(door, CALL)))
    asking.start()
    while not upstream.seen:
        time.sleep(0.01)
    begun = time.monotonic()
    client.close("run")
    took = time.monotonic() - begun
    release.set()
    asking.join(10)
    assert took < 5


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except Exception:  # the connection is meant to break
        return


def test_unknown_and_doubled_runs_are_refused(live: Live) -> None:
    """The control refuses a run it does not know and a run it knows already, with a reason."""
    client, _ = live()
    with pytest.raises(HarnessError, match="nobody is not open"):
        client.records("nobody")
    with pytest.raises(HarnessError, match="already open"):
        client.open(RunRequest(run="run"))


def test_client_without_a_gateway_says_so() -> None:
    """A client whose gateway is gone raises a readable error."""
    with GatewayServer() as server:
        control = server.control
    with pytest.raises(HarnessError, match="does not answer"):
        GatewayClient(control).records("run")


def test_tcp_door(live: Live) -> None:
    """A door can be a port of loopback as well."""
    client, _ = live()
    door = client.open(RunRequest(run="tcp", tcp=True))
    assert door.socket is None
    assert door.url == f"http://127.0.0.1:{door.port}"
    assert ask(door, CALL)[0] == 200
