"""Reads the binary frames in which Amazon Bedrock streams a reply (``application/vnd.amazon.eventstream``).

A frame is its whole length and the length of its headers (4 bytes each, big-endian), a checksum of these, headers, payload, and a
checksum of all before it. The payload of a chunk is JSON with the API's own event in base64.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

CONTENT_TYPE = "application/vnd.amazon.eventstream"
_PRELUDE, _CHECKSUM = 12, 4
_LARGEST = 24 * 1024**2
_STRING = 7
"""The type of a header whose value is text; Bedrock sends no other."""


class Frames:
    """Splits a stream, fed in chunks, into the API's events. `broken`: what came is no such stream, and the rest is not read."""

    def __init__(self) -> None:
        self._rest = b""
        self.broken = False

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """The events that are whole now; an exception of Bedrock's own comes as ``{"error": {"type": ..., "message": ...}}``."""
        self._rest += chunk
        while not self.broken and len(self._rest) >= _PRELUDE:
            whole, headers, checksum = struct.unpack_from(">III", self._rest)
            if zlib.crc32(self._rest[: _PRELUDE - _CHECKSUM]) != checksum or not _PRELUDE + headers + _CHECKSUM <= whole <= _LARGEST:
                self.broken = True
                return
            if len(self._rest) < whole:
                return
            frame, self._rest = self._rest[:whole], self._rest[whole:]
            if zlib.crc32(frame[:-_CHECKSUM]) != struct.unpack(">I", frame[-_CHECKSUM:])[0]:
                self.broken = True
                return
            yield from _event(frame[_PRELUDE : _PRELUDE + headers], frame[_PRELUDE + headers : -_CHECKSUM])


def _event(headers: bytes, payload: bytes) -> Iterator[dict[str, Any]]:
    told = dict(_texts(headers))
    body = _mapping(payload)
    if told.get(":message-type", "event") != "event":
        kind = told.get(":exception-type") or told.get(":error-code") or "exception"
        yield {"error": {"type": kind, "message": str(body.get("message") or told.get(":error-message", ""))}}
    elif isinstance(body.get("bytes"), str):
        try:
            yield _mapping(base64.b64decode(body["bytes"]))
        except binascii.Error:
            return


def _texts(headers: bytes) -> Iterator[tuple[str, str]]:
    """Names and values, up to the first header that is no text."""
    at = 0
    while at < len(headers):
        size = headers[at]
        name, kind = headers[at + 1 : at + 1 + size], headers[at + 1 + size : at + 2 + size]
        at += 2 + size
        if kind != bytes([_STRING]) or at + 2 > len(headers):
            return
        (length,) = struct.unpack_from(">H", headers, at)
        yield name.decode("utf-8", "replace"), headers[at + 2 : at + 2 + length].decode("utf-8", "replace")
        at += 2 + length


def _mapping(data: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
