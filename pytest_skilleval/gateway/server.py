"""The gateway: one event loop in a thread of the controller, one door per run, one control socket for all workers."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import msgspec
from aiohttp import web

from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.gateway.doors import RunDoor
from pytest_skilleval.gateway.limits import BackOff, Ledger
from pytest_skilleval.gateway.tokens import Tokens
from pytest_skilleval.gateway.upstream import Upstream
from pytest_skilleval.gateway.values import Api, RunRequest

START_TIMEOUT = 20.0
Verb = Callable[[web.Request], Awaitable[web.Response]]


class GatewayServer:
    """Context manager; while open, `control` is the path of the socket for :class:`pytest_skilleval.gateway.client.GatewayClient`.

    Parameters
    ----------
    upstreams
        From :func:`pytest_skilleval.gateway.upstreams.from_environment`; may be empty when only scripted models are asked.
    ledger
        Of the session; None: one without a limit.
    within
        Folder for the folder of its sockets; None: the system's own for temporary files.
    """

    def __init__(
        self, *, upstreams: Mapping[Api, Upstream] | None = None, ledger: Ledger | None = None, within: Path | None = None
    ) -> None:
        self._within = within
        self._upstreams = dict(upstreams or {})
        self._ledger = ledger or Ledger()
        self._backoff = BackOff()
        self._mask = Masking(secret for upstream in self._upstreams.values() for secret in upstream.secrets)
        self._tokens = Tokens(self._mask)
        self._doors: dict[str, RunDoor] = {}
        self._numbers = itertools.count()
        self._folder = Path()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)

    @property
    def control(self) -> str:
        """Path of the control socket."""
        return str(self._folder / "control")

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="gw-", dir=self._within))
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT) or self._failed is not None:
            self.__exit__(None, None, None)
            raise HarnessError(f"the gateway did not start: {self._failed or 'time-out'}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_TIMEOUT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            self._failed = error
        finally:
            self._loop.close()
            self._ready.set()

    async def _serve(self) -> None:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=20)
        async with aiohttp.ClientSession(
            timeout=timeout, auto_decompress=False, connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            self._session = session
            control = web.AppRunner(self._control())
            await control.setup()
            try:
                await web.UnixSite(control, self.control).start()
                self._ready.set()
                await self._stop.wait()
            finally:
                await asyncio.gather(*(door.close() for door in self._doors.values()))
                await control.cleanup()

    def _control(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024**2)
        for name, verb in {
            "open": self._open,
            "turn": self._turn,
            "records": self._records,
            "close": self._close,
        }.items():
            app.router.add_post(f"/{name}", _guarded(verb))
        return app

    async def _open(self, request: web.Request) -> web.Response:
        wanted = msgspec.json.decode(await request.read(), type=RunRequest)
        if wanted.run in self._doors:
            raise HarnessError(f"run {wanted.run} is already open")
        door = RunDoor(
            wanted,
            upstreams=self._upstreams,
            ledger=self._ledger,
            backoff=self._backoff,
            tokens=self._tokens,
            mask=self._mask,
            session=self._session,
        )
        try:
            opened = await door.open(self._folder, next(self._numbers))
        except BaseException:
            await door.close()
            raise
        self._doors[wanted.run] = door
        return _json(opened)

    async def _turn(self, request: web.Request) -> web.Response:
        told = await request.json()
        self._door(told["run"]).turn(int(told["number"]))
        return _json(None)

    async def _records(self, request: web.Request) -> web.Response:
        told = await request.json()
        return _json(self._door(told["run"]).journal.records())

    async def _close(self, request: web.Request) -> web.Response:
        door = self._doors.pop((await request.json())["run"], None)
        if door is None:
            return _json(())
        await door.close()
        return _json(door.journal.records())

    def _door(self, run: str) -> RunDoor:
        if run not in self._doors:
            raise HarnessError(f"run {run} is not open")
        return self._doors[run]


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _guarded(verb: Verb) -> Verb:
    """A verb whose errors become a readable refusal."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return await verb(request)
        except (HarnessError, msgspec.MsgspecError, KeyError, ValueError, OSError) as error:
            return web.Response(status=400, text=f"{type(error).__name__}: {error}")

    return handle
