"""An upstream that does what a test says, and a bare HTTP client for a run's door."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.values import Api, Door

ANSWER = json.dumps({"model": "claude-opus-4-8", "stop_reason": "end_turn", "usage": {"input_tokens": 1000, "output_tokens": 100}}).encode()


@dataclass
class Seen:
    """What an upstream was asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeUpstream:
    """Answers with `behave`; remembers every request."""

    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    behave: Callable[[Any], None] = field(default=lambda handler: reply(handler))  # noqa: PLW0108 - `reply` is defined below

    def as_upstream(self, api: Api = "anthropic", **more: Any) -> Upstream:
        """The server as an upstream with a secret."""
        return Upstream(api=api, base=f"http://127.0.0.1:{self.port}", headers={"x-api-key": "the-real-secret"}, **more)


def reply(handler: Any, body: bytes = ANSWER, status: int = 200, headers: dict[str, str] | None = None) -> None:
    """A whole answer at once."""
    handler.send_response(status)
    for name, value in ({"content-type": "application/json", "request-id": "req_1"} | (headers or {})).items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def fake_upstream() -> Iterator[FakeUpstream]:
    """An upstream on a free port of loopback."""
    fake = FakeUpstream()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            fake.seen.append(Seen(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            fake.behave(self)

        do_GET = do_POST  # noqa: N815 - the name that http.server asks for

        def log_message(self, *_: Any) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def connect(door: Door) -> http.client.HTTPConnection:
    """A connection to a run's door, whichever kind it is."""
    connection = http.client.HTTPConnection("127.0.0.1", door.port or 80, timeout=20)
    if door.socket is not None:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(20)
        try:
            connection.sock.connect(door.socket)
        except OSError:
            connection.close()
            raise
    return connection


def ask(door: Door, body: Any, path: str = "/v1/messages", headers: dict[str, str] | None = None) -> tuple[int, bytes, dict[str, str]]:
    """One request: status, body, headers."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = connect(door)
    try:
        connection.request("POST", path, body=raw, headers={"content-type": "application/json"} | (headers or {}))
        response = connection.getresponse()
        return response.status, response.read(), {name.lower(): value for name, value in response.getheaders()}
    finally:
        connection.close()


def events(stream: bytes) -> list[dict[str, Any]]:
    """The data of a stream of server-sent events."""
    return [json.loads(line[5:]) for line in stream.splitlines() if line.startswith(b"data:")]
