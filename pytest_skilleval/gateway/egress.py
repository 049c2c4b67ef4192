"""The hosts that a spec names besides the models: a forward proxy at a door of its own. Everything else is refused.

It knows ``CONNECT host:port`` and plain ``http://`` requests, one for each connection. Names are resolved out here, once, and what
is connected to is the address that was looked at: a name that leads elsewhere a moment later leads nowhere new.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Coroutine, Iterable
from http import HTTPStatus
from typing import Any

from pytest_skilleval.core import hosts
from pytest_skilleval.core.hosts import Host
from pytest_skilleval.gateway.journal import Entry, Journal
from pytest_skilleval.gateway.proxy_requests import HEAD_BYTES, Asked, BadRequest, read
from pytest_skilleval.gateway.values import RequestFailure

CONNECT_SECONDS = 20
LINGER_SECONDS = 2.0
MOST_CONNECTIONS = 256
_CHUNK = 1 << 16


class Refused(Exception):
    """The host is not to be reached; the text says why."""


class Egress:
    """What one run may reach: `named`, as a spec writes hosts. Every try is recorded in `journal`, without what was said."""

    def __init__(self, named: Iterable[str], journal: Journal) -> None:
        self._hosts, self._journal = tuple(map(hosts.parse, named)), journal
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, path: str) -> None:
        """Listen at this unix socket."""
        self._server = await asyncio.start_unix_server(self._accept, path, limit=HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening, and cut what is connected."""
        if self._server is not None:
            self._server.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its request to its end."""
        try:
            with contextlib.suppress(OSError):  # the agent has hung up: there is nobody to be told
                try:
                    await self._lead(await self._asked(reader), reader, writer)
                except BadRequest as problem:
                    if problem.status is not None:
                        _answer(writer, problem.status, str(problem))
                await _end(reader, writer)
        finally:
            writer.transport.abort()

    async def _asked(self, reader: asyncio.StreamReader) -> Asked:
        if len(self._tasks) > MOST_CONNECTIONS:
            raise BadRequest(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_CONNECTIONS} connections at once")
        return await read(reader)

    async def _lead(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reach the host and pass on, or say why not; either way with a record."""
        entry = self._journal.begin(method=asked.method, path="", host=str(asked.host))
        try:
            far = await self._reach(asked.host)
            entry.status = HTTPStatus.OK
            await _pass_on(asked, entry, (reader, writer), far)
        except Refused as refusal:
            entry.failure = RequestFailure(kind="refused_host", detail=str(refusal))
            entry.status = HTTPStatus.FORBIDDEN
            _answer(writer, entry.status, str(refusal))
        except OSError as error:  # a time-out is one, too
            detail = f"{type(error).__name__}: {error}".rstrip(": ")
            entry.failure = RequestFailure(kind="cut" if entry.status else "unreachable", detail=detail)
            if entry.status is not None:
                raise
            entry.status = HTTPStatus.BAD_GATEWAY
            _answer(writer, entry.status, f"{asked.host} does not answer: {detail}")
        except asyncio.CancelledError:
            entry.failure = RequestFailure(kind="cut", detail="the run was over")
            raise
        finally:
            self._journal.end(entry)

    async def _reach(self, host: Host) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a host that may be reached; Refused, or OSError when there is none to be had."""
        if not hosts.names(self._hosts, host):
            raise Refused(f"{host} is not to be reached from here; what is: {', '.join(map(str, self._hosts))}")
        async with asyncio.timeout(CONNECT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
            if why := next(filter(None, (hosts.refused_address(host.name, address) for address in addresses)), None):
                raise Refused(why)
            return await _connect(addresses, host.port)


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _connect(addresses: list[str], port: int | None) -> Ends:
    """To the first address that answers."""
    failed = OSError("the name has no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port, limit=_CHUNK)
        except OSError as error:
            failed = error
    raise failed


async def _pass_on(asked: Asked, entry: Entry, near: Ends, far: Ends) -> None:
    """What either side says, to the other: to the end of both for a tunnel, to the end of the reply for a plain request."""
    (reader, writer), (far_reader, out) = near, far
    try:
        if asked.method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _all(_copy(reader, out, entry, "sent"), _copy(far_reader, writer, entry, "received"))
        else:
            out.write(asked.head)
            entry.sent += len(asked.head)
            body = asyncio.ensure_future(_copy(reader, out, entry, "sent", asked.length))
            try:
                await _copy(far_reader, writer, entry, "received")
            finally:
                body.cancel()
                await asyncio.gather(body, return_exceptions=True)
        out.close()
        with contextlib.suppress(OSError):
            await out.wait_closed()
    finally:
        out.transport.abort()


async def _all(*copies: Coroutine[Any, Any, None]) -> None:
    """Until all have ended; when one fails, the others are over."""
    tasks = [asyncio.ensure_future(copy) for copy in copies]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter, entry: Entry, count: str, most: int | None = None) -> None:
    """Copy `most` bytes, or to the end, which is passed on as the end of that direction only."""
    while (size := _CHUNK if most is None else min(_CHUNK, most)) and (data := await source.read(size)):
        setattr(entry, count, getattr(entry, count) + len(data))
        most = None if most is None else most - len(data)
        sink.write(data)
        await sink.drain()
    if most is None:
        sink.write_eof()


def _answer(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    """A whole reply that a person can read."""
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}"
    writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + body)


async def _end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close so that all that was written arrives: what still comes in is read and dropped, else the connection would be reset."""
    if writer.can_write_eof():
        writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while await reader.read(_CHUNK):
                pass
    writer.close()
    await writer.wait_closed()
