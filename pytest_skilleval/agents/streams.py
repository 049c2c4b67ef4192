"""Lines of a CLI's output, decoded into typed values; what can't be decoded is counted and costs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

Line = TypeVar("Line")


@dataclass(slots=True)
class Decoded(Generic[Line]):
    """The lines that could be read, in order; `unknown` are JSON of an unexpected shape, `broken` no JSON at all."""

    lines: list[Line]
    unknown: int = 0
    broken: int = 0


def decode(stdout: bytes, decoder: msgspec.json.Decoder[Line]) -> Decoded[Line]:
    """Every line of `stdout` that has the shape `decoder` knows. A stream without a fault is decoded in one go."""
    try:
        return Decoded(decoder.decode_lines(stdout))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _line_by_line(stdout, decoder)


def _line_by_line(stdout: bytes, decoder: msgspec.json.Decoder[Line]) -> Decoded[Line]:
    found: Decoded[Line] = Decoded([])
    for line in stdout.split(b"\n"):
        try:
            found.lines.append(decoder.decode(line))
        except msgspec.ValidationError:
            found.unknown += 1
        except (msgspec.DecodeError, UnicodeDecodeError):
            _again(line, decoder, found)
    return found


def _again(line: bytes, decoder: msgspec.json.Decoder[Line], found: Decoded[Line]) -> None:
    """A line with bytes that are no UTF-8 is read with replacement characters; blank ones are no lines."""
    if not line.strip():
        return
    try:
        found.lines.append(decoder.decode(line.decode("utf-8", "replace")))
    except msgspec.ValidationError:
        found.unknown += 1
    except msgspec.DecodeError:
        found.broken += 1


def text_of(content: bytes) -> str:
    """Text of a tool result: a JSON string, or a list of blocks with ``text``."""
    try:
        value = msgspec.json.decode(content) if content else ""
    except msgspec.DecodeError:
        return content.decode("utf-8", "replace")
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for block in value:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                yield block["text"]
