"""Stands in for a model's own host, TLS and all: shows what a CLI sends when there is no gateway."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

MODEL_CALLS = ("/messages", "/responses", "/invoke", "RawPredict")
REFUSAL = json.dumps({"type": "error", "error": {"type": "authentication_error", "message": "no"}}).encode()


@dataclass
class Interceptor:
    """A proxy for CONNECT that is itself the host asked for; `bodies` are the model requests it was sent."""

    authority: Path
    proxy: str = ""
    bodies: list[bytes] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """What makes a CLI come here and trust it."""
        path = str(self.authority)
        return {"HTTPS_PROXY": self.proxy, "NODE_EXTRA_CA_CERTS": path, "SSL_CERT_FILE": path, "CODEX_CA_CERTIFICATE": path}


def certificates(folder: Path, host: str) -> tuple[Path, Path, Path]:
    """An authority made for this test, and a certificate (with its key) that it gave to `host`."""
    authority, authority_key = folder / "ca.pem", folder / "ca.key"
    key, request, certificate, more = folder / "k.pem", folder / "r.pem", folder / "c.pem", folder / "more"
    more.write_text(f"subjectAltName=DNS:{host}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for command in (
        [
            *new,
            "-x509",
            "-days",
            "2",
            "-keyout",
            authority_key,
            "-out",
            authority,
            "-subj",
            "/CN=ca",
            "-addext",
            "keyUsage=critical,keyCertSign",
        ],
        [*new, "-keyout", key, "-out", request, "-subj", f"/CN={host}"],
        [
            "openssl",
            "x509",
            "-req",
            "-days",
            "2",
            "-in",
            request,
            "-CA",
            authority,
            "-CAkey",
            authority_key,
            "-CAcreateserial",
            "-out",
            certificate,
            "-extfile",
            more,
        ],
    ):
        subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=30)
    return authority, certificate, key


@contextmanager
def intercepting(folder: Path, host: str) -> Iterator[Interceptor]:
    """Intercept `host`; every other host is refused."""
    authority, certificate, key = certificates(folder, host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Interceptor(authority, f"http://127.0.0.1:{server.getsockname()[1]}")
        threading.Thread(target=_accept, args=(server, host, context, found), daemon=True).start()
        yield found
        server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, host: str, context: ssl.SSLContext, found: Interceptor) -> None:
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            threading.Thread(target=_serve, args=(client, host, context, found), daemon=True).start()


def _serve(client: socket.socket, host: str, context: ssl.SSLContext, found: Interceptor) -> None:
    """One tunnel: requests are read one after the other; model calls are kept and refused."""
    with suppress(OSError, ValueError), client:
        with client.makefile("rb") as plain:
            line, _, _ = _request(plain)
        if host not in line:
            client.sendall(b"HTTP/1.1 403 no\r\ncontent-length: 0\r\n\r\n")
            return
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with context.wrap_socket(client, server_side=True) as inner, inner.makefile("rb") as stream:
            while True:
                line, headers, body = _request(stream)
                if "websocket" in headers.get("upgrade", ""):
                    inner.sendall(b"HTTP/1.1 426 no\r\ncontent-length: 0\r\n\r\n")
                elif line.startswith("POST") and any(part in line for part in MODEL_CALLS):
                    found.bodies.append(body)
                    inner.sendall(
                        b"HTTP/1.1 400 no\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REFUSAL) + REFUSAL
                    )
                else:
                    inner.sendall(b"HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n")


def _request(stream: IO[bytes]) -> tuple[str, dict[str, str], bytes]:
    """Request line, headers, body; ValueError at the end of the stream."""
    line = stream.readline().decode()
    if not line:
        raise ValueError("closed")
    headers = {}
    while header := stream.readline().decode().strip():
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    return line, headers, stream.read(int(headers.get("content-length", 0)))
