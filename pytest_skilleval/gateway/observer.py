"""Reads a reply as it streams by: model, usage, why it stopped, whether it came to its end. Changes nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway.eventstream import CONTENT_TYPE, Frames

CLOSING = (b"event: message_stop", b"event: response.completed", b"event: response.incomplete", b"event: response.failed")
TELLING = (b'"usage"', b'"error"', b'"message_start"', b'"stop_reason"', b'"type": "refusal"', b'"type":"refusal"')
LONGEST_ERROR = 500


class Observer:
    """Fed with the chunks of one reply; after `finish` its fields say what it held."""

    def __init__(self, content_type: str) -> None:
        self._streamed = "event-stream" in content_type
        self._frames = Frames() if CONTENT_TYPE in content_type else None
        self._rest = b""
        self._usage: dict[str, Any] = {}
        self.complete = False
        """Whether the closing event came (streams) or the body was whole JSON."""
        self.model = ""
        self.stop_reason: str | None = None
        self.error = ""
        self.size = 0

    def feed(self, chunk: bytes) -> None:
        """Look at a chunk."""
        self.size += len(chunk)
        if self._frames is not None:
            for told in self._frames.feed(chunk):
                self.complete = self.complete or told.get("type") == "message_stop"
                self._learn(told)
            return
        self._rest += chunk
        if self._streamed:
            *events, self._rest = self._rest.replace(b"\r\n", b"\n").split(b"\n\n")
            for event in events:
                self._event(event)

    def finish(self) -> None:
        """The reply has ended."""
        if self._frames is not None:
            return
        if self._streamed:
            self._event(self._rest)
            return
        body = _decode(self._rest)
        self.complete = body is not None
        if body is None:
            self.error = self._rest[:LONGEST_ERROR].decode("utf-8", "replace")
        else:
            self._learn(body)

    @property
    def usage(self) -> Usage:
        """Tokens of the reply, in one form for both APIs; `input` is what no cache served or took up."""
        return _usage(self._usage) if self._usage else Usage()

    def _event(self, event: bytes) -> None:
        self.complete = self.complete or event.startswith(CLOSING)
        if any(word in event for word in TELLING):
            for line in event.split(b"\n"):
                if line.startswith(b"data:") and (data := _decode(line[5:])) is not None:
                    self._learn(data)

    def _learn(self, data: dict[str, Any]) -> None:
        inner = _mapping(data.get("message")) or _mapping(data.get("response")) or data
        self.model = str(inner.get("model") or self.model)
        self.stop_reason = _mapping(data.get("delta")).get("stop_reason") or inner.get("stop_reason") or self.stop_reason
        self._usage |= {
            key: value for key, value in (_mapping(inner.get("usage")) or _mapping(data.get("usage"))).items() if value is not None
        }
        if _refuses(data.get("item")) or any(map(_refuses, inner.get("output") or ())):
            self.stop_reason = "refusal"
        error = _mapping(inner.get("error"))
        if error:
            self.error = f"{error.get('type') or error.get('code') or 'error'}: {error.get('message', '')}"[:LONGEST_ERROR]
        elif isinstance(data.get("message"), str):  # Bedrock's way to say what is wrong
            self.error = data["message"][:LONGEST_ERROR]


def _refuses(item: object) -> bool:
    """Whether an output item of the Responses API is a refusal."""
    return any(_mapping(part).get("type") == "refusal" for part in _mapping(item).get("content") or ())


def _decode(text: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _usage(told: dict[str, Any]) -> Usage:
    details = _mapping(told.get("input_tokens_details"))
    cached, taken_up = int(details.get("cached_tokens") or 0), int(details.get("cache_write_tokens") or 0)
    written = _mapping(told.get("cache_creation"))
    hour = int(written.get("ephemeral_1h_input_tokens") or 0)
    return Usage(
        input=int(told.get("input_tokens") or 0) - cached - taken_up,
        output=int(told.get("output_tokens") or 0),
        cache_read=int(told.get("cache_read_input_tokens") or 0) + cached,
        cache_write_5m=int(told.get("cache_creation_input_tokens") or 0) - hour + taken_up,
        cache_write_1h=hour,
        reasoning=int(_mapping(told.get("output_tokens_details")).get("reasoning_tokens") or 0),
        known=True,
    )
