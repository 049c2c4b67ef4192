"""The dose: which share of a skill's body stands in the context of one model call."""

from __future__ import annotations

import re
from collections.abc import Iterable

NUMBER = re.compile(r"^\s*\d+\s*[\t→:|]\s?")
"""The line number that a file tool or ``cat -n`` puts before a line."""

KNOWN = 0.5
"""The dose from which on a model is taken to know the skill: the scripted model acts by it, and loads are held against it."""


def dose(body: str, texts: Iterable[str]) -> float:
    """Share of the lines of `body` with a letter or digit, weighted by length, that are found in `texts`: 0 (none) to 1 (all).

    Lines are compared without surrounding blanks and line numbers; a text in which newlines are escaped (tool
    output inside JSON) is read both ways. Fences and rules are everybody's: they prove nothing. Listing a skill's description
    does not count: it is no part of the body.
    """
    wanted = [line for line in map(str.strip, body.splitlines()) if any(map(str.isalnum, line))]
    total = sum(map(len, wanted))
    if not total:
        return 0.0
    present = _found(frozenset(wanted), texts)
    return sum(len(line) for line in wanted if line in present) / total


def _found(wanted: frozenset[str], texts: Iterable[str]) -> set[str]:
    """The wanted lines that stand in `texts`. A context has thousands of lines: most are looked up once and left."""
    found: set[str] = set()
    for text in texts:
        for version in (text, _unescaped(text)) if "\\n" in text else (text,):
            for line in map(str.strip, version.splitlines()):
                found.add(line)
                if line[:1].isdecimal():
                    found.add(NUMBER.sub("", line).strip())
    return found & wanted


def _unescaped(text: str) -> str:
    """A text with JSON strings in it: escapes undone, each string on lines of its own."""
    return text.replace('\\"', "\0").replace('"', "\n").replace("\0", '"').replace("\\n", "\n")
