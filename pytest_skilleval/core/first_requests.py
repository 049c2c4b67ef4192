"""First requests of runs, made comparable, and what differs between two of them.

`undeclared_part` leaves what no arm declares: the skill listing, the arm's instructions and what a CLI itself says about
its permissions are taken out, and what is left must be the same in every arm (see :mod:`pytest_skilleval.core.arm_equality`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from pytest_skilleval.core.model_requests import Body, decode, items, strings, without_listing

VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])"), "<hash>"),
    (re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b"), "<date>"),
    (re.compile(r'(unix_ms\\?"?:\s*)\d+'), r"\1<ms>"),
    (re.compile(r"(cc_version=\d+\.\d+\.\d+)\.\w+"), r"\1"),
    (re.compile(r"(cch=)\w+"), r"\1<hash>"),
    (re.compile(r"^[0-9a-f]{7,40}(?= )", re.MULTILINE), "<commit>"),
)
"""What changes from run to run whatever the arm: ids of sessions, devices and a workspace's commits, dates, clocks, a fingerprint."""


CLOCKS = (".create_time", ".turn_started_at_unix_ms")
"""Leaves that hold a time of day."""

WRAPPER = re.compile(
    r"</?system-reminder>|As you answer the user's questions, you can use the following context:|# claudeMd"
    r"|Codebase and user instructions are shown below\..*|Contents of .*CLAUDE\.md .*:|# AGENTS\.md instructions.*|</?INSTRUCTIONS>"
    r"|The following skills are available for use with the Skill tool:|</?skills_instructions>"
    r"|### Skill roots|### Available skills|- `r\d+` = `.*`"
)
"""Lines that a CLI adds only because there is something to wrap."""

STRUCTURE = {"input_text": "[].type", "agents_md.instructions": "content_item_kinds[]"}
"""Leaves that come along with a text of its own for instructions, and the ends of their paths."""

NOWHERE = "\0"
"""No path ends so."""

OF_PERMISSIONS = re.compile(r"Filesystem sandboxing defines .*| The writable roots are .*|  <filesystem>.*")
PLACES_OF_PERMISSIONS = (".sandbox", ".sandbox_mode", ".external_web_access")
"""What Codex tells the model about its permission mode; Claude Code tells nothing of its own."""

Line = tuple[str, str]
"""A path in the JSON, list indices left out (``messages[].content[].text``), and one line of a leaf there."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One line that only one of two first requests has."""

    where: str
    """Path in the JSON, list indices left out, as ``messages[].content[].text``."""
    line: str
    added: bool
    """Whether it stands in the second request (else in the first)."""


@lru_cache(maxsize=1024)
def normalise(text: str) -> str:
    """`text` with the volatile parts replaced by their names."""
    for pattern, name in VOLATILE:
        text = pattern.sub(name, text)
    return text


def system_prompt(body: Body) -> list[str]:
    """The texts of the system prompt, the skill listing and volatile parts aside; for newer models Codex sends them as the developer's."""
    developer = [item.get("content") for item in items(body) if item.get("role") == "developer"]
    return [normalise(without_listing(text)) for text in strings(body.get("system") or body.get("instructions") or developer)]


def lines(value: Any, where: str = "") -> Iterator[Line]:
    """(path, line) of every line of every leaf of a JSON value, volatile parts replaced; JSON in a text is a value, too."""
    if isinstance(value, str) and value.startswith("{") and (inner := decode(value.encode())):
        value = inner
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
    return differing(list(lines(before)), list(lines(after)))


def differing(old: Sequence[Line], new: Sequence[Line]) -> tuple[Difference, ...]:
    """The lines that only one of two lists has."""
    found: list[Difference] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [Difference(where=where, line=line, added=False) for where, line in old[i:j]]
            found += [Difference(where=where, line=line, added=True) for where, line in new[k:m]]
    return tuple(found)


def undeclared_part(body: Body, instructions: str) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """A first request without what its arm declares, and what the CLI says in it about its permissions.

    Taken out: the listing of skills, `instructions` (what the arm appends to the stock file, whole or not at all), blank
    lines, and lines that a CLI puts around such texts.
    """
    rest: list[Line] = []
    permissions: list[Line] = []
    for one in lines(_without(body, normalise(instructions).strip())):
        where, line = one
        if OF_PERMISSIONS.fullmatch(line) or where.endswith(PLACES_OF_PERMISSIONS):
            permissions.append(one)
        elif line.strip() and not WRAPPER.fullmatch(line.strip()) and not where.endswith(STRUCTURE.get(line, NOWHERE)):
            rest.append(one)
    return tuple(rest), tuple(permissions)


def _without(value: Any, instructions: str) -> Any:
    """`value` with listing and instructions taken out of its texts."""
    if isinstance(value, dict):
        return {key: _without(inner, instructions) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, instructions) for inner in value]
    if not isinstance(value, str):
        return value
    text = without_listing(value)
    if not instructions or len(text) < len(instructions):
        return text
    before, found, after = normalise(text).partition(instructions)
    return before + after if found else text
