"""YAML without anything odd, straight from libyaml's events: half the time of a tree of nodes, which sound files need not.

Nothing is judged here. What :mod:`pytest_skilleval.core.reading` refuses or notes, and all that libyaml can't read, is left
to it and its tree, so that every fault is found in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import DocumentStartEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, StreamEndEvent

from pytest_skilleval.core.scalars import scalar


class _Odd(Exception):
    """Something that somebody else must look at."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The value of a document, and the 1-based lines of the keys at its top and of the entries of their lists."""

    value: Any
    lines: Mapping[tuple[str | int, ...], int]


def read_plain(text: str, max_depth: int) -> Plain | None:
    """What the one document in `text` says; None where anything is odd: tags, anchors, keys that are no text, levels beyond `max_depth`."""
    reader = _Reader(text, max_depth)
    try:
        return Plain(reader.document(), reader.lines)
    except (_Odd, yaml.YAMLError, ValueError):
        return None


class _Reader:
    def __init__(self, text: str, max_depth: int) -> None:
        self.next: Callable[[], Any] = CParser(text).get_event
        self.max_depth = max_depth
        self.lines: dict[tuple[str | int, ...], int] = {}
        self.entry_lines: list[int] = []
        """Of the list that was read last, where it stands at the top."""
        self.keys: set[str] = set()
        """Plain keys that are known to be texts: a file has few of them, many times."""

    def document(self) -> Any:
        self.next()
        if self.next().__class__ is not DocumentStartEvent:
            raise _Odd
        value = self.value(self.next(), 0)
        self.next()
        if self.next().__class__ is not StreamEndEvent:
            raise _Odd
        return value

    def value(self, event: Any, depth: int) -> Any:
        if event.anchor is not None or event.tag is not None:
            raise _Odd
        kind = event.__class__
        if kind is ScalarEvent:
            return scalar(event.value) if event.implicit[0] else event.value
        if depth > self.max_depth:
            raise _Odd
        return self.mapping(depth + 1) if kind is MappingStartEvent else self.sequence(depth + 1)

    def mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while (event := self.next()).__class__ is ScalarEvent:
            key = event.value
            if key in result or event.anchor is not None or event.tag is not None:
                raise _Odd
            if key not in self.keys:
                self.learn(key, plain=event.implicit[0])
            line = _line(event) if depth == 1 else 0
            value = result[key] = self.value(self.next(), depth)
            if line:
                self.note(key, line, value)
        if event.__class__ is not MappingEndEvent:
            raise _Odd
        return result

    def learn(self, key: str, *, plain: bool) -> None:
        if key == "<<" or (plain and not isinstance(scalar(key), str)):
            raise _Odd
        if plain:
            self.keys.add(key)

    def note(self, key: str, line: int, value: Any) -> None:
        self.lines[key,] = line
        if value.__class__ is tuple:
            self.lines.update(((key, index), line) for index, line in enumerate(self.entry_lines))

    def sequence(self, depth: int) -> tuple[Any, ...]:
        entries, lines = [], []
        while (event := self.next()).__class__ is not SequenceEndEvent:
            if depth == 2:  # directly below a key at the top
                lines.append(_line(event))
            entries.append(self.value(event, depth))
        self.entry_lines = lines
        return tuple(entries)


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1
