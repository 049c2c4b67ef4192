"""Lines of a CLI's output, decoded into typed values; what can't be decoded is counted and costs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

Line = TypeVar("Line")

ESCAPED = re.compile(r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>u[dD][89a-fA-F]\w\w)|.)", re.DOTALL)
"""One escape of a JSON string; `half` is one half of a character of two, which no text holds.

Claude Code writes such halves: it cuts long outputs without a look at what it cuts.
"""


class Decoded(msgspec.Struct, Generic[Line]):
    """The lines that could be read, in order; `unknown` are JSON of an unexpected shape, `broken` no JSON at all."""

    lines: list[Line]
    unknown: int = 0
    broken: int = 0


def decode(stdout: bytes, decoder: msgspec.json.Decoder[Line]) -> Decoded[Line]:
    """Every line of `stdout` that has the shape `decoder` knows. A stream without a fault is decoded in one go."""
    try:
        return Decoded(decoder.decode_lines(stdout))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _line_by_line(stdout, decoder)


def _line_by_line(stdout: bytes, decoder: msgspec.json.Decoder[Line]) -> Decoded[Line]:
    found: Decoded[Line] = Decoded([])
    for line in stdout.split(b"\n"):
        try:
            found.lines.append(decoder.decode(line))
        except (msgspec.ValidationError, RecursionError):
            found.unknown += 1
        except (msgspec.DecodeError, UnicodeDecodeError):
            _again(line, decoder, found)
    return found


def _again(line: bytes, decoder: msgspec.json.Decoder[Line], found: Decoded[Line]) -> None:
    """A line with bytes or escapes that are no text is read with replacement characters; blank ones are no lines."""
    if not line.strip():
        return
    try:
        found.lines.append(decoder.decode(ESCAPED.sub(_whole, line.decode("utf-8", "replace"))))
    except (msgspec.ValidationError, RecursionError):
        found.unknown += 1
    except msgspec.DecodeError:
        found.broken += 1


def _whole(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape["half"] else escape[0]


def text_of(content: object) -> str:
    """Text of a tool result: a text, or a list of blocks with ``text``."""
    return content if isinstance(content, str) else "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]
