"""What an agent may reach besides models: the hosts that a spec names, and nothing else."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from gateway_helpers import FakeUpstream, connect, reply

from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.gateway import proxy_requests, reading
from pytest_skilleval.gateway.client import GatewayClient
from pytest_skilleval.gateway.server import GatewayServer
from pytest_skilleval.gateway.values import Door, RequestRecord, RunRequest, from_lines, to_lines

Open = Callable[..., Door]
Records = Callable[[], tuple[RequestRecord, ...]]


@pytest.fixture
def reaching(idle_gateway: GatewayClient, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens the door of a run that may reach these hosts; gives the proxy's."""
    run = request.node.nodeid
    yield lambda *hosts: Door(socket=idle_gateway.open(RunRequest(run=run, hosts=hosts)).egress)
    idle_gateway.close(run)


@pytest.fixture
def records(idle_gateway: GatewayClient, request: pytest.FixtureRequest) -> Records:
    """Closes the run; what is recorded of it, as it is read back from disk."""
    return lambda: from_lines(to_lines(idle_gateway.close(request.node.nodeid)))


def get(door: Door, url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """One request to the proxy for a whole address."""
    connection = connect(door)
    try:
        connection.request(method, url, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def say(door: Door, text: bytes) -> bytes:
    """Everything that the proxy answers to these very bytes."""
    connection = connect(door)
    try:
        connection.sock.sendall(text)
        answer = b""
        while data := connection.sock.recv(65536):
            answer += data
        return answer
    finally:
        connection.close()


@contextmanager
def tunnel(door: Door, target: str) -> Iterator[tuple[int, socket.socket, bytes]]:
    """A ``CONNECT``: status, the connection, and what an error says."""
    connection = connect(door)
    try:
        sock = connection.sock
        sock.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += sock.recv(1)
        status = int(head.split()[1])
        yield status, sock, b"" if status == 200 else sock.recv(65536)
    finally:
        connection.close()


@contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server on loopback that does this with each connection; its port."""

    def one(near: socket.socket) -> None:
        with near, suppress(OSError):
            serve(near)

    def accept() -> None:
        while True:
            try:
                near, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(near,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        accepting.join(5)


def echo(near: socket.socket) -> None:
    """Send back what comes, and end when the other side has."""
    while data := near.recv(65536):
        near.sendall(data)


def answer_after_the_end(near: socket.socket) -> None:
    """Say how much came, but only when all has."""
    count = 0
    while data := near.recv(65536):
        count += len(data)
    near.sendall(b"%d" % count)


def say_all(sock: socket.socket, sent: bytes) -> None:
    """Send it, and end."""
    sock.sendall(sent)
    sock.shutdown(socket.SHUT_WR)


def test_a_tunnel_passes_every_byte(reaching: Open, records: Records) -> None:
    """Bytes go both ways unchanged, and the record says where to and how many, but nothing of what was said."""
    sent = bytes(range(256)) * 4000
    with serving(echo) as port, tunnel(reaching(f"127.0.0.1:{port}"), f"127.0.0.1:{port}") as (status, sock, _):
        assert status == 200
        sending = threading.Thread(target=say_all, args=(sock, sent), daemon=True)
        sending.start()
        got = b""
        while data := sock.recv(65536):
            got += data
        sending.join(5)
        assert got == sent
    (record,) = records()
    assert (record.method, record.host, record.path, record.status) == ("CONNECT", f"127.0.0.1:{port}", "", 200)
    assert (record.sent, record.received, record.body) == (len(sent), len(sent), None)


def test_the_end_of_one_side_is_not_the_end_of_the_other(reaching: Open) -> None:
    """A server that answers when the client has said all is heard: ends are passed on by direction."""
    with serving(answer_after_the_end) as port, tunnel(reaching(f"127.0.0.1:{port}"), f"127.0.0.1:{port}") as (_, sock, _said):
        sock.sendall(b"x" * 100_000)
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(100) == b"100000"


def test_a_plain_request_is_fetched(reaching: Open, records: Records, upstream: FakeUpstream) -> None:
    """Path, query and body arrive as they were sent, under the host's own name, and the reply comes back whole; no model was asked."""
    answer = b"0123456789" * 100_000
    upstream.behave = lambda handler: reply(handler, answer)
    url = f"http://127.0.0.1:{upstream.port}/v1/messages?x=%2F1"
    status, body = get(reaching(f"127.0.0.1:{upstream.port}"), url, "POST", b"given" * 50_000, **{"Proxy-Authorization": "Basic eA=="})
    assert (status, body) == (200, answer)
    (seen,) = upstream.seen
    assert (seen.path, seen.body, seen.headers["host"]) == ("/v1/messages?x=%2F1", b"given" * 50_000, f"127.0.0.1:{upstream.port}")
    assert (seen.headers["connection"], "proxy-authorization" in seen.headers) == ("close", False)
    (record,) = found = records()
    assert (record.api, record.host, record.path, record.model) == ("other", f"127.0.0.1:{upstream.port}", "", "")
    assert record.received > len(answer)
    assert record.sent > 250_000
    assert reading.model_calls(found) == ()
    assert reading.hosts_of(found) == ((f"127.0.0.1:{upstream.port}",), ())


def test_requests_in_a_row_never_reach_the_first_ones_host(reaching: Open) -> None:
    """A second request on a connection is not sent on; the first one's reply arrives whole, and its end is no broken connection."""
    came = b""

    def look(near: socket.socket) -> None:
        nonlocal came
        near.settimeout(0.3)
        with suppress(TimeoutError):
            while data := near.recv(65536):
                came += data
        near.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndone")

    with serving(look) as port:
        asked = "".join(f"POST http://127.0.0.1:{port}/{number} HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi" for number in range(9000))
        answer = say(reaching(f"127.0.0.1:{port}"), asked.encode())
    assert answer == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndone"
    assert (came.count(b"HTTP/1.1"), came.endswith(b"\r\n\r\nhi")) == (1, True)


@pytest.mark.parametrize("target", ["example.org:443", "127.0.0.1:1", "evil.deb.debian.org:443", "deb.debian.org:22", "169.254.169.254:80"])
def test_other_hosts_are_refused_readably(reaching: Open, records: Records, target: str) -> None:
    """A tunnel to anything that is not named gets a 403 that says what is, and a record."""
    with tunnel(reaching("deb.debian.org", "a.example:8443"), target) as (status, _, said):
        assert status == 403
        assert said.decode() == f"{target} is not to be reached from here; what is: deb.debian.org, a.example:8443\n"
    (record,) = found = records()
    assert (record.failure and record.failure.kind, record.sent, record.received) == ("refused_host", 0, 0)
    assert reading.hosts_of(found) == ((), (target,))


def test_plain_requests_to_other_hosts_are_refused(reaching: Open, upstream: FakeUpstream) -> None:
    """The same for whole addresses, whatever the Host header says."""
    status, said = get(reaching("deb.debian.org"), f"http://127.0.0.1:{upstream.port}/", Host="deb.debian.org")
    assert (status, upstream.seen) == (403, [])
    assert b"is not to be reached from here" in said


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("GET / HTTP/1.1\r\nHost: deb.debian.org", 403, "this is a proxy"),
        ("GET https://deb.debian.org/ HTTP/1.1", 403, "ask for https by CONNECT"),
        ("GET ftp://deb.debian.org/ HTTP/1.1", 403, "this is a proxy"),
        ("CONNECT deb.debian.org HTTP/1.1", 400, "is no host and port"),
        ("CONNECT deb.debian.org:443 HTTP/2.0", 400, "no HTTP request"),
        ("GET http://user@deb.debian.org/ HTTP/1.1", 400, "is no host and port"),
        ("GET http://deb.debian.org/ HTTP/1.1\r\nno header", 400, "no HTTP request"),
        ("GET http://deb.debian.org/ HTTP/1.1\r\nX: 1\nY: 2", 400, "no HTTP request"),
        ("GET http://deb.debian.org/ HTTP/1.1\r\nContent-Length: -1", 400, "no number"),
        ("\x16\x03\x01", 400, "no HTTP request"),
        ("GET http://deb.debian.org/" + "x" * 40_000, 431, "at most"),
    ],
)
def test_what_is_no_request_to_a_proxy_is_refused(reaching: Open, records: Records, asked: str, status: int, said: str) -> None:
    """Malformed or other requests get a readable answer, and reach nothing."""
    answer = say(reaching("deb.debian.org"), f"{asked}\r\n\r\n".encode("latin-1"))
    assert (int(answer.split()[1]), said in answer.decode()) == (status, True)
    assert records() == ()


def test_a_request_that_never_ends_is_given_up(reaching: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says nothing is told so after a while, and cut."""
    monkeypatch.setattr(proxy_requests, "HEAD_SECONDS", 0.1)
    answer = say(reaching("deb.debian.org"), b"GET http://deb.debian.org/ HT")
    assert answer.startswith(b"HTTP/1.1 408 ")


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let every name have these addresses; the names that are asked for."""
    asked: list[str] = []

    def known(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    return asked


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("151.101.2.132", "10.0.0.1"), ("169.254.169.254",)])
def test_names_that_lead_inside_are_refused(
    reaching: Open, records: Records, monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    """A named host that has an address of this machine, or of a network around it, is refused, whatever else it has."""
    resolve(monkeypatch, *addresses)
    with tunnel(reaching("public.example"), "public.example:443") as (status, _, said):
        assert (status, b"an address there must be named itself" in said) == (403, True)
    assert [record.failure.kind for record in records() if record.failure] == ["refused_host"]


def test_other_names_are_not_even_looked_up(reaching: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name can carry a secret to its owner's name server: only named hosts are resolved."""
    asked = resolve(monkeypatch, "151.101.2.132")
    with tunnel(reaching("public.example"), "secret.evil.example:443") as (status, _, _said):
        assert status == 403
    assert asked == []


def test_this_machine_by_its_name(reaching: Open, upstream: FakeUpstream) -> None:
    """`localhost` is reached where it is named with its port."""
    assert get(reaching(f"localhost:{upstream.port}"), f"http://localhost:{upstream.port}/")[0] == 200


def test_a_host_that_does_not_answer_is_told_apart(reaching: Open, records: Records) -> None:
    """A host that is named and not there gives 502, for tunnels and plain requests alike."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    door = reaching(f"127.0.0.1:{port}")
    with tunnel(door, f"127.0.0.1:{port}") as (status, _, said):
        assert (status, b"does not answer" in said) == (502, True)
    assert get(door, f"http://127.0.0.1:{port}/")[0] == 502
    found = records()
    assert [record.failure.kind for record in found if record.failure] == ["unreachable", "unreachable"]
    assert reading.hosts_of(found) == ((), ())


def test_closing_the_run_cuts_its_tunnels(reaching: Open, records: Records) -> None:
    """A tunnel ends with its run, even when both sides would go on, and its bytes are counted."""
    with serving(echo) as port, tunnel(reaching(f"127.0.0.1:{port}"), f"127.0.0.1:{port}") as (_, sock, _said):
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
        begun = time.monotonic()
        (record,) = records()
        assert time.monotonic() - begun < 2
        with suppress(ConnectionError):
            assert sock.recv(1) == b""
    assert (record.sent, record.received, record.failure and record.failure.detail) == (1, 1, "the run was over")


def test_without_named_hosts_there_is_no_proxy(idle_gateway: GatewayClient, request: pytest.FixtureRequest) -> None:
    """A run whose spec names nothing has one door, and its agent is told of no proxy."""
    door = idle_gateway.open(RunRequest(run=request.node.nodeid))
    try:
        assert (door.egress, [name for name in door.env if "proxy" in name.lower()]) == (None, [])
    finally:
        idle_gateway.close(request.node.nodeid)


def test_the_agent_is_told_of_the_proxy(idle_gateway: GatewayClient, request: pytest.FixtureRequest) -> None:
    """Where hosts are named, the environment sends programs through the proxy, but not to the model's door."""
    door = idle_gateway.open(RunRequest(run=request.node.nodeid, hosts=("deb.debian.org",)))
    try:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            assert door.env[name] == "http://127.0.0.1:8318"
        assert "127.0.0.1" in door.env["NO_PROXY"].split(",") == door.env["no_proxy"].split(",")
    finally:
        idle_gateway.close(request.node.nodeid)


@pytest.mark.parametrize("models", ["live", "scripted"])
@pytest.mark.parametrize(
    "address",
    ["http://example.org/v1/messages", "HTTP://example.org:8317/v1/messages", "https://127.0.0.1/v1/messages", "http://[::1]/v1/messages"],
)
def test_a_models_path_at_another_host_asks_no_model(
    live: Callable[..., tuple[GatewayClient, Door]], upstream: FakeUpstream, address: str, models: str
) -> None:
    """A whole address at the model's own door is refused unless it is that very door, and is no model call."""
    client, door = live(models=models)
    status, said = get(door, address, "POST", b'{"model": "m"}')
    assert (status, b"this door leads to the model only" in said, upstream.seen) == (403, True, [])
    (record,) = client.close("run")
    assert (record.model, record.body, record.failure and record.failure.kind) == ("", None, "refused_host")
    assert record.host in {"example.org:80", "example.org:8317", "127.0.0.1:443", "[::1]:80"}


@pytest.mark.parametrize("models", ["live", "scripted"])
@pytest.mark.parametrize("target", ["deb.debian.org:443", "127.0.0.1:8317", "[::1]:443", "deb.debian.org"])
def test_a_tunnel_through_the_models_door_is_refused_and_recorded(
    live: Callable[..., tuple[GatewayClient, Door]], upstream: FakeUpstream, target: str, models: str
) -> None:
    """Where no host is named, a ``CONNECT`` leads nowhere, and is among what the run was refused."""
    client, door = live(models=models)
    with tunnel(door, target) as (status, _, said):
        assert (status, b"this door leads to the model only" in said) == (403, True)
    assert upstream.seen == []
    (record,) = records = client.close("run")
    assert (record.method, record.host, record.path, record.status, record.model) == ("CONNECT", target, "", 403, "")
    assert reading.hosts_of(records) == ((), (target,))


def test_the_models_door_by_its_whole_address(live: Callable[..., tuple[GatewayClient, Door]], upstream: FakeUpstream) -> None:
    """A client that says the door's own address in full asks the model, as it does without."""
    _, door = live(tcp=True)
    assert get(door, f"http://127.0.0.1:{door.port}/v1/messages", "POST", b'{"model": "claude-opus-4-8"}')[0] == 200
    assert [seen.path for seen in upstream.seen] == ["/v1/messages"]


def test_a_door_that_cannot_be_opened_is_shut() -> None:
    """Where a part of a run's door can't be made, no other part of it goes on to listen."""
    with GatewayServer() as server:
        with pytest.raises(HarnessError, match="is no host name"):
            GatewayClient(server.control).open(RunRequest(run="run", hosts=("http://example.org",)))
        with pytest.raises(ConnectionRefusedError):
            connect(Door(socket=str(Path(server.control).parent / "r0")))
