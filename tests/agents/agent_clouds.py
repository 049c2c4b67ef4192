"""Stands in for Amazon Bedrock and Google Vertex AI on loopback: their paths and framing, in front of a scripted model."""

from __future__ import annotations

import base64
import http.client
import json
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Cloud:
    """What was asked of it, and what it answered; `model` is the port of the scripted model behind it."""

    model: int
    port: int = 0
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    answered: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"


def frame(event: dict[str, Any]) -> bytes:
    """One event of the API in one binary frame, as Bedrock sends it."""
    headers = b"".join(
        bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value
        for name, value in ((b":event-type", b"chunk"), (b":content-type", b"application/json"), (b":message-type", b"event"))
    )
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abcdef"}).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    rest = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return rest + struct.pack(">I", zlib.crc32(rest))


def _play(port: int, body: dict[str, Any]) -> bytes:
    """The scripted model's stream for this conversation."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/v1/messages", body=json.dumps(body | {"model": "claude-sonnet-4-5", "stream": True}))
        return connection.getresponse().read()
    finally:
        connection.close()


@contextmanager
def cloud(model: int) -> Iterator[Cloud]:
    """Both clouds on a free port of loopback, played by the scripted model at port `model`."""
    found = Cloud(model)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            found.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, raw))
            kind, answer = "application/json", b'{"message": "not here"}'
            if self.path.endswith("/invoke-with-response-stream"):
                events = [json.loads(line[5:]) for line in _play(model, json.loads(raw)).splitlines() if line.startswith(b"data:")]
                kind, answer = "application/vnd.amazon.eventstream", b"".join(map(frame, events))
            elif self.path.endswith(":streamRawPredict"):
                kind, answer = "text/event-stream", _play(model, json.loads(raw))
            found.answered.append(answer)
            self.send_response(404 if kind == "application/json" else 200)
            self.send_header("content-type", kind)
            self.send_header("x-amzn-requestid", "req-cloud")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST  # noqa: N815 - the name that http.server asks for

        def log_message(self, *_: Any) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
