"""What a forward proxy is asked: one request head, read within limits."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from pytest_skilleval.core import hosts
from pytest_skilleval.core.hosts import Host

HEAD_BYTES = 1 << 15
HEAD_SECONDS = 20.0
_LINE = re.compile(r"(?P<method>[A-Z]{1,32}) (?P<target>[!-~]+) HTTP/1\.[01]")
_HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>[^\r\n\0]*)")
_OWN = frozenset({"host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade", "te"})
"""Headers that are between two neighbours, or are said anew."""


class BadRequest(Exception):
    """No request that is served here; `status` says which kind of no, None: nobody is there to be told."""

    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: the host, and for a plain one the head to send it, and the length of its body (None: to its end)."""

    method: str
    host: Host
    head: bytes = b""
    length: int | None = 0


async def read(reader: asyncio.StreamReader) -> Asked:
    """The request that comes; BadRequest when it is none, too long, or too slow."""
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError as error:
        raise BadRequest(408, f"no request came within {HEAD_SECONDS:.0f} s") from error
    except asyncio.LimitOverrunError as error:
        raise BadRequest(431, f"the head of a request is at most {HEAD_BYTES} bytes") from error
    except asyncio.IncompleteReadError as error:
        raise BadRequest(None, "hung up") from error
    return parse(head)


def parse(head: bytes) -> Asked:
    """A request head with its empty line; BadRequest when it is nothing that a proxy serves."""
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line = _LINE.fullmatch(first)
    headers = [_HEADER.fullmatch(one) for one in rest]
    if line is None or None in headers:
        raise BadRequest(400, "this is no HTTP request")
    target = line["target"]
    try:
        if line["method"] == "CONNECT":
            return Asked(method="CONNECT", host=hosts.authority(target))
        return _plain(line["method"], target, [(one["name"], one["value"]) for one in headers if one])
    except ValueError as error:
        raise BadRequest(400, str(error)) from error


def _plain(method: str, target: str, headers: list[tuple[str, str]]) -> Asked:
    """A request by its whole address, as the host itself is to be asked; ValueError when the address is none."""
    if target.lower().startswith("https://"):
        raise BadRequest(403, "ask for https by CONNECT; only http is fetched by its whole address")
    if not target.lower().startswith("http://"):
        raise BadRequest(403, "this is a proxy: ask by CONNECT, or for http://host/path")
    found = re.fullmatch(r"([^/?#]*)(/?[^#]*)(#.*)?", target[len("http://") :])
    assert found is not None
    shown, path = found[1], found[2] if found[2].startswith("/") else f"/{found[2]}"
    host = hosts.authority(shown if re.search(r":[0-9]+$", shown) else f"{shown}:80")
    kept = [(name, value) for name, value in headers if name.lower() not in _OWN]
    lines = [f"{method} {path} HTTP/1.1", f"Host: {shown}", *(f"{name}: {value}" for name, value in kept), "Connection: close"]
    return Asked(method=method, host=host, head="\r\n".join([*lines, "", ""]).encode("latin-1"), length=_length(kept))


def _length(headers: list[tuple[str, str]]) -> int | None:
    """Bytes of the body; None: it says itself where it ends."""
    said = {name.lower(): value.strip() for name, value in headers}
    if "transfer-encoding" in said:
        return None
    length = said.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,18}", length):
        raise ValueError("the length of the body is no number")
    return int(length)
