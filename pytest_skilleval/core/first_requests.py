"""First requests of runs, made comparable, and what differs between two of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pytest_skilleval.core.model_requests import Body

VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])"), "<hash>"),
    (re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b"), "<date>"),
    (re.compile(r'(unix_ms\\?"?:\s*)\d+'), r"\1<ms>"),
    (re.compile(r"(cc_version=\d+\.\d+\.\d+)\.\w+"), r"\1"),
    (re.compile(r"(cch=)\w+"), r"\1<hash>"),
)
"""What changes from run to run whatever the arm: session ids, device ids, dates, clocks, a fingerprint of the prompt."""


CLOCKS = (".create_time", ".turn_started_at_unix_ms")
"""Leaves that hold a time of day."""

WRAPPER = re.compile(
    r"</?system-reminder>|As you answer the user's questions, you can use the following context:|# claudeMd"
    r"|Codebase and user instructions are shown below\..*|Contents of .*CLAUDE\.md .*:|# AGENTS\.md instructions.*|</?INSTRUCTIONS>"
    r"|The following skills are available for use with the Skill tool:|</?skills_instructions>"
    r"|### Skill roots|### Available skills|- `r\d+` = `.*`"
)
"""Lines that a CLI adds only because there is something to wrap."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One line that only one of two first requests has."""

    where: str
    """Path in the JSON, list indices left out, as ``messages[].content[].text``."""
    line: str
    added: bool
    """Whether it stands in the second request (else in the first)."""


def normalise(text: str) -> str:
    """`text` with the volatile parts replaced by their names."""
    for pattern, name in VOLATILE:
        text = pattern.sub(name, text)
    return text


def lines(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """(path, line) of every line of every leaf of a JSON value, volatile parts replaced."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from lines(value[key], f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for inner in value:
            yield from lines(inner, f"{where}[]")
    elif not where.endswith(CLOCKS):
        text = normalise(value if isinstance(value, str) else msgspec.json.encode(value).decode())
        yield from ((where, line) for line in text.splitlines() or [""])


def differences(before: Body, after: Body) -> tuple[Difference, ...]:
    """The lines in which two first requests differ, volatile parts aside; empty: they are the same."""
    old, new = list(lines(before)), list(lines(after))
    found: list[Difference] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [Difference(where=where, line=line, added=False) for where, line in old[i:j]]
            found += [Difference(where=where, line=line, added=True) for where, line in new[k:m]]
    return tuple(found)


def undeclared(found: Sequence[Difference], declared: Sequence[str]) -> tuple[Difference, ...]:
    """The differences that no declared text explains.

    `declared`: every text that an arm says it adds or takes away (listing entries, instructions). A line is explained
    when it is blank, a line of a declared text, or a wrapper that the CLI itself puts around such a text.
    """
    explained = {line.strip() for text in declared for line in normalise(text).splitlines()} | {""}
    return tuple(one for one in found if one.line.strip() not in explained and not WRAPPER.fullmatch(one.line.strip()))
