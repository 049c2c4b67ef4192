"""The door of one run: a socket of its own, so that no request can be taken for another run's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from yarl import URL

from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.hosts import Host
from pytest_skilleval.gateway.egress import Egress
from pytest_skilleval.gateway.journal import Entry, Journal
from pytest_skilleval.gateway.limits import BackOff, Ledger
from pytest_skilleval.gateway.relay import failed, foreign, own_fault, refused, relay, stopped, unsigned
from pytest_skilleval.gateway.scripted.model import ScriptedModel
from pytest_skilleval.gateway.tokens import Tokens
from pytest_skilleval.gateway.upstream import Upstream, env_inside
from pytest_skilleval.gateway.values import INSIDE_PORT, Api, Door, RequestFailure, RunRequest

LARGEST_REQUEST = 256 * 1024**2
SHUTDOWN_SECONDS = 0.5
SETTLE_SECONDS = 0.01
"""After a reply, until its request is read: the threads that still carry the end of the reply are not to wait for that."""
OWN_NAMES = frozenset({"127.0.0.1", "localhost"})
FAULT = "x-gateway-fault"
"""Header of an answer of the scripted model that it did not mean to give; its value says what went wrong."""
PLAIN_HTTP_ONLY = 426
"""Tells Codex at once to send its requests without a web socket, where they can be read and counted."""


class RunDoor:
    """Listens for one run's agent and leads its requests to the models it was promised."""

    def __init__(
        self,
        request: RunRequest,
        *,
        upstreams: Mapping[Api, Upstream],
        ledger: Ledger,
        backoff: BackOff,
        tokens: Tokens,
        mask: Masking,
        session: aiohttp.ClientSession,
    ) -> None:
        self._request, self._upstreams, self._session = request, upstreams, session
        self._ledger, self._backoff, self._tokens, self._mask = ledger, backoff, tokens, mask
        free = frozenset(api for api, upstream in upstreams.items() if upstream.subscription)
        self.journal = Journal(request, ledger.prices, mask, free=free if request.models == "live" else frozenset())
        ledger.follow(request.run)
        self._cleanup = contextlib.AsyncExitStack()
        self._scripted: ScriptedModel | None = None
        self._port = INSIDE_PORT

    async def open(self, folder: Path, number: int) -> Door:
        """Listen; where the agent finds this door."""
        if self._request.models == "scripted":
            await self._open_scripted(folder / f"m{number}")
        self.turn(self._request.turn)
        runner = await self._runner(self._handle)
        env = env_inside(self._upstreams.values(), self._request.models, proxied=bool(self._request.hosts) and not self._request.tcp)
        if self._request.tcp:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port = runner.addresses[0][1]
            return Door(port=self._port, env=env)
        path = str(folder / f"r{number}")
        await web.UnixSite(runner, path).start()
        if not self._request.hosts:
            return Door(socket=path, env=env)
        return Door(socket=path, env=env, egress=await self._open_egress(str(folder / f"e{number}")))

    def turn(self, number: int | None) -> None:
        """A turn begins."""
        self.journal.turn = number
        if self._scripted is not None:
            self._scripted.turn = number

    async def close(self) -> None:
        """Stop listening and cut off what is under way. Idempotent."""
        await self._cleanup.aclose()

    async def _open_egress(self, path: str) -> str:
        """The proxy to the hosts that the spec names."""
        egress = Egress(self._request.hosts, self.journal)
        self._cleanup.push_async_callback(egress.close)
        await egress.open(path)
        return path

    async def _open_scripted(self, path: Path) -> None:
        """The scripted model behind a socket: the gateway treats it as it treats a real one."""
        wanted = self._request
        self._scripted = ScriptedModel(wanted.run, wanted.script, skill_body=wanted.skill_body, guard=wanted.guard, faults=wanted.faults)
        runner = await self._runner(_marked(self._scripted.handle))
        await web.UnixSite(runner, str(path)).start()
        connector = aiohttp.UnixConnector(str(path), limit=0)
        self._session = await self._cleanup.enter_async_context(
            aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False)
        )

    async def _runner(self, handler: Handler) -> web.AppRunner:
        app = web.Application(client_max_size=LARGEST_REQUEST, middlewares=[_everything(handler)])
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=SHUTDOWN_SECONDS, access_log=None)
        await runner.setup()
        self._cleanup.push_async_callback(runner.cleanup)
        return runner

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        """One request of the agent, from its arrival to its record."""
        attempt, host = request.headers.get("x-stainless-retry-count", "0"), _foreign_host(request, self._port)
        raw = b"" if host else await request.read()
        entry = self.journal.begin(
            method=request.method,
            path="" if host else request.path_qs,
            raw=raw,
            attempt=int(attempt) if attempt.isdigit() else 0,
            host=host,
        )
        try:
            return foreign(entry) if host else await self._lead(request, entry)
        except (ConnectionError, asyncio.CancelledError):
            entry.failure = entry.failure or RequestFailure(kind="client_gone")
            raise
        except Exception as error:
            if entry.status is None:  # nothing was answered yet
                return failed(entry, error)
            entry.failure = own_fault(error)
            raise
        finally:
            self.journal.end(entry)
            if entry.is_model_call and entry.observer.usage.known and self._request.models == "live":
                self._ledger.add(entry.observer.usage, self.journal.cost(entry))
            asyncio.get_running_loop().call_later(SETTLE_SECONDS, self.journal.settle)

    async def _lead(self, request: web.Request, entry: Entry) -> web.StreamResponse:
        if request.path == "/" or "websocket" in request.headers.get("upgrade", "").lower():
            entry.status = 200 if request.path == "/" else PLAIN_HTTP_ONLY
            return web.Response(status=entry.status)
        if self._request.models == "scripted":
            response = await relay(request, entry, self._session, f"http://scripted{request.path_qs}", {}, mask=self._mask)
            if fault := entry.headers.get(FAULT):
                entry.failure = RequestFailure(kind="gateway", detail=unquote(fault))
            return response
        upstream = self._upstreams.get(entry.api)
        if upstream is None:
            return refused(entry, request.path)
        over = self._ledger.over()
        if over is not None and entry.is_model_call:
            return stopped(entry, over)
        entry.waited = await self._backoff.hold(upstream.host)
        try:
            credentials = await self._tokens.headers(upstream)
        except UsageProblem as problem:
            return unsigned(entry, str(problem))
        response = await relay(request, entry, self._session, upstream.url(request.path_qs), credentials, mask=self._mask)
        if entry.status is not None:
            self._backoff.told(upstream.host, entry.status, entry.headers)
        return response


def _marked(answer: Handler) -> Handler:
    """`answer`, its own failures told apart from those that it is told to play."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await answer(request)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:
            return web.json_response(status=500, headers={FAULT: quote(own_fault(error).detail)})

    return handle


def _everything(answer: Handler) -> Middleware:
    """Leads every request to `answer`; a route would only take those with a path, and a ``CONNECT`` has none."""

    @web.middleware
    async def lead(request: web.Request, handler: Handler) -> web.StreamResponse:  # noqa: ARG001 (aiohttp passes it by name)
        return await answer(request)

    return lead


def _foreign_host(request: web.Request, own: int) -> str:
    """The host that is asked for as proxies are asked, by a tunnel or its whole address; empty: this very door, at the port `own`.

    A model's path at another host is no request to the model.
    """
    if request.method == "CONNECT":
        return request.raw_path
    if request.raw_path.startswith("/"):
        return ""
    url = URL(request.raw_path, encoded=True)
    return "" if url.host in OWN_NAMES and url.port == own else str(Host(url.host or "", url.port))
