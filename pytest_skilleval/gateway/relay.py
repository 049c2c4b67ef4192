"""Passes one request on to its upstream and the reply back, byte for byte and as it comes."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path

import aiohttp
from aiohttp import web
from yarl import URL

from pytest_skilleval.core.credentials import Masker, Masking
from pytest_skilleval.gateway.journal import Entry
from pytest_skilleval.gateway.observer import Observer
from pytest_skilleval.gateway.values import RequestFailure

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
OURS = frozenset({"host", "content-length", "accept-encoding", "x-api-key", "authorization"})
"""Request headers that the gateway sets itself. Replies come uncompressed, so that usage can be read without a copy."""

BY_CALL = "anthropic-"


def outward(headers: Iterable[tuple[str, str]], credentials: Mapping[str, str]) -> list[tuple[str, str]]:
    """The request's headers for the upstream: the agent's, but for host, encoding and what `credentials` names (in lower case).

    What the CLI sets anew for each call (``anthropic-beta``) stays, as it does without a gateway.
    """
    there = list(headers)
    own = {name.lower() for name, _ in there if name.lower().startswith(BY_CALL)}
    added = {name: value for name, value in credentials.items() if name not in own}
    kept = [(name, value) for name, value in there if name.lower() not in HOP_BY_HOP | OURS | added.keys()]
    return [*kept, ("accept-encoding", "identity"), *added.items()]


def inward(headers: Iterable[tuple[str, str]], *, framed: bool = True) -> list[tuple[str, str]]:
    """The reply's headers for the agent; without its length unless it is passed on as it is (`framed`)."""
    left_out = HOP_BY_HOP if framed else HOP_BY_HOP | {"content-length"}
    return [(name, value) for name, value in headers if name.lower() not in left_out]


async def relay(
    request: web.Request, entry: Entry, session: aiohttp.ClientSession, url: str, credentials: Mapping[str, str], *, mask: Masking
) -> web.StreamResponse:
    """Send the request to `url`, stream the reply to the agent, and note in `entry` what happened.

    An error may repeat the credentials that were sent: they are taken out, for they would enter the sandbox.
    """
    headers = outward(request.headers.items(), credentials)
    try:
        upstream = await session.request(request.method, URL(url, encoded=True), data=entry.raw, headers=headers, allow_redirects=False)
    except (aiohttp.ClientError, TimeoutError) as error:
        entry.failure = RequestFailure(kind="unreachable", detail=f"{type(error).__name__}: {error}")
        return _plain_error(502, "the model's address does not answer")
    async with upstream:
        return await _reply(request, entry, upstream, mask.stream() if upstream.status >= HTTPStatus.BAD_REQUEST else None)


async def _reply(request: web.Request, entry: Entry, upstream: aiohttp.ClientResponse, mask: Masker | None) -> web.StreamResponse:
    entry.status = upstream.status
    entry.headers = {name.lower(): value for name, value in upstream.headers.items()}
    entry.observer = Observer(upstream.headers.get("content-type", ""))
    headers = inward(upstream.headers.items(), framed=mask is None)
    response = web.StreamResponse(status=upstream.status, reason=upstream.reason, headers=headers)
    await response.prepare(request)
    try:
        async for chunk in upstream.content.iter_any():
            entry.first_byte = entry.first_byte or time.monotonic()
            await _pass_on(mask(chunk) if mask else chunk, response, entry)
        if mask:
            await _pass_on(mask.flush(), response, entry)
    except (aiohttp.ClientError, TimeoutError) as error:
        entry.failure = RequestFailure(kind="cut", detail=type(error).__name__)
        if request.transport is not None:
            request.transport.abort()
        return response
    except (ConnectionError, asyncio.CancelledError):
        entry.failure = RequestFailure(kind="client_gone")
        raise
    finally:
        entry.masked = mask.count if mask else 0
        _conclude(entry)
    await response.write_eof()
    return response


async def _pass_on(chunk: bytes, response: web.StreamResponse, entry: Entry) -> None:
    if chunk:
        await response.write(chunk)
        entry.observer.feed(chunk)


def _conclude(entry: Entry) -> None:
    """What the whole reply says about itself."""
    entry.observer.finish()
    if entry.failure is None and entry.status is not None and entry.status >= 400:
        entry.failure = RequestFailure(kind="status", detail=entry.observer.error)
    elif entry.failure is None and entry.is_model_call and not entry.observer.complete:
        entry.failure = RequestFailure(kind="cut", detail=entry.observer.error or "the reply has no end")


def _plain_error(status: int, text: str) -> web.Response:
    """An error that both APIs' clients understand."""
    return web.json_response({"type": "error", "error": {"type": "api_error", "code": "gateway", "message": text}}, status=status)


def own_fault(error: Exception) -> RequestFailure:
    """What is recorded of a bug of ours: what it said, and where it is."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return RequestFailure(kind="gateway", detail=f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")


def failed(entry: Entry, error: Exception) -> web.Response:
    """The answer to a request over which the gateway itself failed."""
    entry.status, entry.failure = 500, own_fault(error)
    return _plain_error(500, f"the gateway failed: {entry.failure.detail}")


def stopped(entry: Entry, why: str) -> web.Response:
    """The answer to a run that may spend no more: final, so that no client tries again (Codex does after a 403)."""
    entry.status, entry.failure = 400, RequestFailure(kind="budget", detail=why)
    return _plain_error(400, f"no more model calls: {why}")


def unsigned(entry: Entry, why: str) -> web.Response:
    """The answer where there is no credential to send: final, so that no client tries again."""
    entry.status, entry.failure = 401, RequestFailure(kind="credentials", detail=why)
    return _plain_error(401, why)


def refused(entry: Entry, path: str) -> web.Response:
    """The answer to a path that leads to no model."""
    entry.status, entry.failure = 404, RequestFailure(kind="refused_path", detail=path)
    return _plain_error(404, f"no such path: {path}")


def foreign(entry: Entry) -> web.Response:
    """The answer to a request for another host: this door leads to the model only."""
    why = f"{entry.host} is not to be reached from here: this door leads to the model only"
    entry.status, entry.failure = 403, RequestFailure(kind="refused_host", detail=why)
    return _plain_error(403, why)
