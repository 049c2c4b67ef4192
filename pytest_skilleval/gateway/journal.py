"""The records of one run, made while its requests go by."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import msgspec

from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.core.dose import dose
from pytest_skilleval.core.first_requests import system_prompt
from pytest_skilleval.core.model_requests import Body, declared_tools, decode, shown, texts
from pytest_skilleval.core.prices import Prices
from pytest_skilleval.gateway.observer import Observer
from pytest_skilleval.gateway.paths import api_of, asks_model, is_streamed, model_in
from pytest_skilleval.gateway.values import Api, RequestFailure, RequestRecord, RunRequest

REQUEST_IDS = ("request-id", "x-request-id", "x-amzn-requestid")


class Entry:
    """One request under way: what is known of it so far."""

    def __init__(
        self, *, number: int, at: float, turn: int | None, method: str, path: str, raw: bytes, attempt: int, host: str = ""
    ) -> None:
        self.number, self.at, self.turn, self.method, self.path, self.raw, self.attempt = number, at, turn, method, path, raw, attempt
        self.host = host
        self.sent = self.received = 0
        self.api = api_of(path)
        self.begun = time.monotonic()
        self.waited = 0.0
        self.first_byte: float | None = None
        self.ended: float | None = None
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.observer = Observer("")
        self.failure: RequestFailure | None = None
        self.masked = 0

    @property
    def is_model_call(self) -> bool:
        """Whether a model is asked for a reply (and not, say, for a count of tokens)."""
        return asks_model(self.method, self.path)

    @property
    def model(self) -> str:
        """The model that is asked, by the body, else by the path."""
        try:
            named = msgspec.json.decode(self.raw, type=_Named).model
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            named = None
        return str(named or "") or model_in(self.path)


class _Named(msgspec.Struct):
    """The part of a request's body that says what it costs."""

    model: Any = None


class Journal:
    """All requests of one run, in order of arrival."""

    def __init__(self, request: RunRequest, prices: Prices, mask: Masking, *, free: frozenset[Api] = frozenset()) -> None:
        self.request, self._prices, self._mask, self._free = request, prices, mask, free
        self.turn: int | None = None
        self._begun = time.monotonic()
        self._entries: list[Entry] = []
        self._over: list[Entry] = []
        self._done: dict[int, RequestRecord] = {}
        self._first: set[int | None] = set()

    def begin(self, *, method: str, path: str, raw: bytes = b"", attempt: int = 0, host: str = "") -> Entry:
        """A request has arrived; with `host`, one for a host and not for a model: its path is left empty."""
        at, number = time.monotonic() - self._begun, len(self._entries) + 1
        entry = Entry(number=number, at=at, turn=self.turn, method=method, path=path, raw=raw, attempt=attempt, host=host)
        self._entries.append(entry)
        return entry

    def end(self, entry: Entry) -> None:
        """A request is over; what it held is read by the next `settle`, for the end of the reply may still be on its way."""
        entry.ended = time.monotonic()
        self._over.append(entry)

    def settle(self) -> None:
        """Make the records of all requests that are over, in the order in which they ended."""
        for entry in self._over:
            self._done[entry.number] = self._masked(entry)
            entry.raw = b""
        self._over.clear()

    def records(self) -> tuple[RequestRecord, ...]:
        """Everything so far; what is still under way has no status."""
        self.settle()
        return tuple(self._done.get(entry.number) or self._masked(entry) for entry in self._entries)

    def cost(self, entry: Entry) -> float | None:
        """USD of a call that is over; None where its model's price is not known. A sign-in costs 0."""
        if entry.api in self._free:
            return 0.0
        seen = entry.observer
        return self._prices.cost(seen.usage, seen.model or entry.model).billed if seen.usage.known else None

    def _masked(self, entry: Entry) -> RequestRecord:
        """The record without credentials, and how many there were in it and in the reply."""
        record, mask = self._record(entry), self._mask.anew()
        text = mask(msgspec.json.encode(record))
        if mask.count:
            record = msgspec.json.decode(text, type=RequestRecord)
        return msgspec.structs.replace(record, masked=entry.masked + mask.count)

    def _record(self, entry: Entry) -> RequestRecord:
        record = _wire(entry)
        if not entry.is_model_call:
            return record
        body = decode(entry.raw)
        first = entry.ended is not None and entry.turn not in self._first and bool(body)
        if first:
            self._first.add(entry.turn)
        content = _content(body, entry, self.request.skill_body, first=first)
        return msgspec.structs.replace(record, **content, cost_usd=self.cost(entry), free=entry.api in self._free)


def _wire(entry: Entry) -> RequestRecord:
    """What the connection tells."""
    return RequestRecord(
        number=entry.number,
        at=round(entry.at, 4),
        api=entry.api,
        method=entry.method,
        path=entry.path,
        turn=entry.turn,
        attempt=entry.attempt,
        status=entry.status,
        first_byte_ms=None if entry.first_byte is None else round((entry.first_byte - entry.begun - entry.waited) * 1000, 3),
        seconds=round((entry.ended or time.monotonic()) - entry.begun, 4),
        waited=round(entry.waited, 4),
        request_id=next((entry.headers[name] for name in REQUEST_IDS if name in entry.headers), None),
        rate_limits={name: value for name, value in entry.headers.items() if "ratelimit" in name or name == "retry-after"},
        failure=entry.failure,
        host=entry.host,
        sent=entry.sent,
        received=entry.received,
    )


def _content(body: Body, entry: Entry, skill_body: str, *, first: bool) -> dict[str, Any]:
    """What request and reply hold."""
    seen = entry.observer
    model = entry.model
    read = texts(body)
    view = shown(body, read)
    return {
        "model": model,
        "model_reported": seen.model,
        "stream": bool(body.get("stream")) or is_streamed(entry.path),
        "usage": seen.usage,
        "stop_reason": seen.stop_reason,
        "dose": round(dose(skill_body, read), 4) if skill_body else None,
        "listed": tuple(sorted(view.skill_names)),
        "effort": _effort(body),
        "thinking": _thinking(body),
        "system_sha256": _digest(system_prompt(body)),
        "tools_sha256": _digest(declared_tools(body)),
        "shown": msgspec.structs.replace(view, model=model) if first else None,
        "body": entry.raw.decode("utf-8", "replace") if first else None,
    }


def _effort(body: Body) -> str | None:
    """Effort as either API tells it."""
    for part in (body.get("output_config"), body.get("reasoning")):
        if isinstance(part, dict) and part.get("effort"):
            return str(part["effort"])
    return None


def _thinking(body: Body) -> str | None:
    """How the model is asked to think, where a request says so apart from the effort: by Anthropic's API."""
    asked = body.get("thinking")
    if not isinstance(asked, dict) or not asked.get("type"):
        return None
    return " ".join(str(asked[key]) for key in ("type", "budget_tokens") if asked.get(key))


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest() if value else ""
