"""JSON whose entries know their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_skilleval.core.errors import Fault, SpecError

_BLANK = re.compile(r"[ \t\r\n]*")


class _Repeated(ValueError):
    """A key is given twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise _Repeated(f"the key `{key}` is given twice; keep one")
        result[key] = value
    return result


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def parse_json(text: str, file: str) -> Any:
    """The value of a JSON text.

    Raises
    ------
    SpecError
        It is no JSON, gives a key twice, or nests too deeply; with the line where that is known.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg} (column {error.colno})"
        raise SpecError((Fault(file, error.lineno, "", message),)) from None
    except _Repeated as error:
        raise SpecError((Fault(file, _line_of_repeated(text), "", str(error)),)) from None
    except RecursionError:
        raise SpecError((Fault(file, 1, "", "is nested too deeply"),)) from None
    except ValueError as error:
        raise SpecError((Fault(file, 1, "", f"can't be read: {error}"),)) from None


def _line_of_repeated(text: str) -> int:
    """The line of an object that gives a key twice and holds none that does: the last one that can't be read."""
    found = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|\{', text):
        if match.group() == "{":
            try:
                _DECODER.raw_decode(text, match.start())
            except _Repeated:
                found = match.start()
    return text.count("\n", 0, found) + 1


def lines_of_entries(text: str, key: str | None) -> list[int]:
    """The line of each entry of the top list, or of the list under `key` of the top object; `text` is valid JSON."""
    start = _skip(text, 0)
    if key is not None:
        start = next(value for name, value in _members(text, start) if name == key)
    return [text.count("\n", 0, place) + 1 for place in _elements(text, start)]


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """(key, place of its value) of the object at `start`."""
    place = _skip(text, start + 1)
    while text[place] != "}":
        name, place = _DECODER.raw_decode(text, place)
        value = _skip(text, _skip(text, place) + 1)
        yield name, value
        place = _after(text, value)


def _elements(text: str, start: int) -> Iterator[int]:
    """Places of the elements of the list at `start`."""
    place = _skip(text, start + 1)
    while text[place] != "]":
        yield place
        place = _after(text, place)


def _after(text: str, value: int) -> int:
    """The place behind the value at `value` and the comma after it."""
    place = _skip(text, _DECODER.raw_decode(text, value)[1])
    return _skip(text, place + 1) if text[place] == "," else place
