"""One run's scripted model over HTTP: picks the step, plays the faults, streams or not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from types import ModuleType

from aiohttp import web

from pytest_skilleval.core import dose, model_requests
from pytest_skilleval.core.model_requests import Body
from pytest_skilleval.gateway.scripted import anthropic, openai
from pytest_skilleval.gateway.scripted.conversation import CHARACTERS_PER_TOKEN, Place, asks_for_summary, place
from pytest_skilleval.gateway.scripted.script import Call, Fault, FaultKind, Script, Situation, Step, fault_now, loss_now, steps

FULL = 8_000_000
"""Characters of a conversation that fits into no model's context: from such a usage Codex sees that it must sum up."""

STATUS: dict[FaultKind, tuple[int, str, str]] = {
    "unauthorized": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (403, "permission_error", "your account has no access to this model"),
    "rate_limited": (429, "rate_limit_error", "this request would exceed your account's rate limit"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server_error": (500, "api_error", "Internal server error"),
    "bad_request": (400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
}


class ScriptedModel:
    """Plays `script` for one run, whichever of the two APIs is asked."""

    def __init__(self, run: str, script: Script, *, skill_body: str = "", guard: bool = False, faults: tuple[Fault, ...] = ()) -> None:
        self._run, self._script, self._body, self._guard, self._faults = run, script, skill_body, guard, faults
        self._played: dict[int, int] = {}
        self._serial = 0
        self.turn: int | None = None
        """The turn that the runner announced, from 1; None: counted from the conversation."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of a client."""
        raw = await request.read()
        if request.path.endswith("/count_tokens"):
            return web.json_response({"input_tokens": len(raw) // CHARACTERS_PER_TOKEN})
        if request.path.endswith("/messages"):
            return await self._answer(request, raw, anthropic)
        if request.path.endswith("/responses"):
            return await self._answer(request, raw, openai)
        return web.json_response(anthropic.error("not_found_error", f"no {request.path} here"), status=404)

    async def _answer(self, request: web.Request, raw: bytes, api: ModuleType) -> web.StreamResponse:
        body = model_requests.decode(raw)
        here = place(body, self.turn)
        if asks_for_summary(body):
            return await _reply(request, body, api.summed_up(body, here, size=len(raw), serial=self._next()), api)
        fault = self._fault(body, here) if here.orders is None else None
        kind = fault.kind if fault else None
        if kind in STATUS or (kind == "full" and api is anthropic):
            return _refuse("bad_request" if kind == "full" else kind, api)
        size = FULL if kind == "full" else len(raw)
        message = api.answer(body, self._step(body, here), here, size=size, serial=self._next(), refusal=kind == "refusal")
        if kind in {None, "refusal", "full"}:
            return await _reply(request, body, message, api)
        return await _break(request, kind, list(api.events(message)))

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _fault(self, body: Body, here: Place) -> Fault | None:
        lost = loss_now(self._script, self._situation(body, here), run=self._run) if self._script.chance else None
        return lost or fault_now(self._faults, self._played, here.turn, here.step)

    def _step(self, body: Body, here: Place) -> Step:
        if here.orders is not None:
            return _ordered(here.orders, here.step)
        played = steps(self._script, self._situation(body, here), run=self._run)
        return played[min(here.step, len(played) - 1)]

    def _situation(self, body: Body, here: Place) -> Situation:
        return Situation(
            turn=here.turn,
            step=here.step,
            listed=self._script.skill in model_requests.shown(body).skill_names,
            body=dose.dose(self._body, model_requests.texts(body)) >= dose.KNOWN,
            guard=self._guard,
        )


def _ordered(orders: tuple[str, ...], step: int) -> Step:
    """What a sub-agent does: its commands one after the other, then a word."""
    return Step(calls=(Call(kind="shell", text=orders[step]),)) if step < len(orders) else Step(reply="Done.")


def _refuse(kind: FaultKind, api: ModuleType) -> web.Response:
    status, name, message = STATUS[kind]
    headers = {"retry-after": "0"} if status == 429 else {}
    return web.json_response(api.error(name, message), status=status, headers=headers)


async def _reply(request: web.Request, body: Body, message: Body, api: ModuleType) -> web.StreamResponse:
    """The whole message, streamed where that was asked for."""
    return await _stream(request, api.events(message)) if body.get("stream") else web.json_response(message)


async def _stream(request: web.Request, events: Iterable[tuple[str, Body]]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream", "cache-control": "no-cache"})
    await response.prepare(request)
    for name, data in events:
        line = json.dumps({"type": name, **data}, ensure_ascii=False)
        await response.write(f"event: {name}\ndata: {line}\n\n".encode())
    await response.write_eof()
    return response


async def _break(request: web.Request, kind: FaultKind, events: list[tuple[str, Body]]) -> web.StreamResponse:
    """A reply that never comes, stops midway, is cut, or is no reply."""
    if kind == "hang":
        await asyncio.sleep(3600)
    if kind == "empty":
        return web.Response(content_type="text/event-stream")
    if kind == "garbage":
        return web.Response(text="<html>bad gateway</html>", content_type="text/html")
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    for name, data in events[: max(1, len(events) // 2)]:
        await response.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
    if kind == "hang_midway":
        await asyncio.sleep(3600)
    if request.transport is not None:
        request.transport.abort()
    return response
