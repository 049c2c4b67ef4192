"""Whether an agent would list a skill, and as what: a model of each agent's own reader of SKILL.md.

The models tell what Claude Code 2.1.197 and Codex CLI 0.171.0 did with sixty SKILL.md files of odd shapes, seen in the
first request (Claude Code) and in ``codex debug prompt-input`` (Codex).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from yaml.nodes import MappingNode, ScalarNode

from pytest_skilleval.core.errors import SpecError
from pytest_skilleval.core.frontmatter import BOM, split
from pytest_skilleval.core.reading import compose

_FIELD_LINE = re.compile(r"(name|description):[ \t]+(.+?)[ \t]*")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_CODEX_LONGEST_NAME = 64
_CODEX_LONGEST_DESCRIPTION = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The top-level scalars of a front-matter as written, and what a reader may stumble over."""

    texts: Mapping[str, str]
    other: frozenset[str] = frozenset()
    """Keys that hold a list or a mapping."""
    repeated: frozenset[str] = frozenset()
    broken: str | None = None
    """Why it is no YAML mapping."""


def fields_of(yaml: bytes, *, quote: Callable[[str], bool] = lambda _value: True) -> Fields:
    """Read a front-matter the way lenient agents do: when it is no YAML, once more with its texts quoted.

    `quote` tells which values a second try puts in quotes.
    """
    text = _CONTROL.sub("\ufffd", yaml.decode(errors="replace"))
    fields = _strictly(text)
    if fields.broken is None:
        return fields
    again = _strictly("\n".join(_quoted(line, quote) for line in text.splitlines()))
    return again if again.broken is None else replace(again, broken=fields.broken)


@lru_cache(maxsize=4)
def _strictly(text: str) -> Fields:
    """Kept for a moment: each agent's model asks about the same front-matter, one after the other."""
    try:
        root: Any = compose(text, "")
    except SpecError as error:
        return Fields(texts={}, broken=error.faults[0].message)
    if not isinstance(root, MappingNode):
        return Fields(texts={}, broken="is no mapping")
    pairs = [(key.value, value) for key, value in root.value if isinstance(key, ScalarNode)]
    names = [key for key, _ in pairs]
    return Fields(
        texts={key: value.value for key, value in pairs if isinstance(value, ScalarNode) and not _is_null(value)},
        other=frozenset(key for key, value in pairs if not isinstance(value, ScalarNode)),
        repeated=frozenset(key for key in names if names.count(key) > 1),
    )


def _is_null(node: Any) -> bool:
    return node.tag.__class__ is tuple and node.tag[0] is True and node.value in _NULLS


def _quoted(line: str, quote: Callable[[str], bool]) -> str:
    match = _FIELD_LINE.fullmatch(line)
    if match is None or match[2][0] in "\"'|>[{" or not quote(match[2]):
        return line
    doubled = match[2].replace("'", "''")
    return f"{match[1]}: '{doubled}'"


def refusal(content: bytes, agent: str) -> str | None:
    """Why `agent` would not list a skill with this SKILL.md under its own description; None when it would."""
    return next(_READERS[agent](content), None)


def _claude_code(content: bytes) -> Iterator[str]:
    if content.startswith(BOM):
        yield "Claude Code does not see front-matter behind a byte-order mark"
    parts = split(content)
    if parts.problem or not re.match(rb"---[ \t]*\r?\n", content):
        yield f"Claude Code finds no front-matter: {parts.problem or 'its lines end in bare CR'}"
    fields = fields_of(_until_dashes(content) if parts.problem is None else b"")
    if fields.broken:
        yield f"Claude Code can't read the front-matter: {fields.broken}"
    if not fields.texts.get("description", "").strip():
        yield "Claude Code finds no description and shows the first line of the body instead"


def _until_dashes(content: bytes) -> bytes:
    """Claude Code ends the front-matter at the first ``---`` after its first line, wherever it stands."""
    return content[content.index(b"\n") + 1 :].split(b"---", 1)[0]


def _codex(content: bytes) -> Iterator[str]:
    try:
        content.decode()
    except UnicodeDecodeError:
        yield "Codex skips files that are not UTF-8"
    if content.startswith(BOM):
        yield "Codex does not see front-matter behind a byte-order mark"
    parts = split(content)
    if parts.problem or not re.match(rb"---[ \t]*\r?\n", content):
        yield f"Codex finds no front-matter: {parts.problem or 'its lines end in bare CR'}"
    if _CONTROL.search(parts.yaml.decode(errors="replace")):
        yield "Codex refuses control characters in the front-matter"
    fields = fields_of(parts.yaml, quote=lambda value: ": " in value or value[0] in "@`")
    if fields.broken:
        yield f"Codex can't read the front-matter: {fields.broken}"
    yield from _codex_fields(fields)


def _codex_fields(fields: Fields) -> Iterator[str]:
    for key in sorted(fields.repeated & {"name", "description", "metadata"}):
        yield f"Codex refuses the repeated key `{key}`"
    if not fields.texts.get("description", "").strip():
        yield "Codex skips a skill without a description"
    if len(fields.texts.get("name", "")) > _CODEX_LONGEST_NAME:
        yield f"Codex skips a name of more than {_CODEX_LONGEST_NAME} characters"
    if "metadata" in fields.texts:
        yield "Codex refuses `metadata` that is no mapping"


def _scripted(content: bytes) -> Iterator[str]:
    if not fields_of(split(content).yaml).texts.get("description", "").strip():
        yield "no description is found"


_READERS: Mapping[str, Callable[[bytes], Iterator[str]]] = {"claude-code": _claude_code, "codex": _codex, "scripted": _scripted}
AGENTS = tuple(_READERS)


def loadable(content: bytes, agent: str) -> tuple[bool, str]:
    """Whether `agent` would list a skill with this SKILL.md, and why not or with what loss (empty: none)."""
    reason = refusal(content, agent)
    if reason:
        return False, reason
    yaml = split(content).yaml
    if agent == "claude-code" and b"---" in yaml:
        return True, "Claude Code ends the front-matter at the first `---` and cuts what follows it"
    if agent == "codex" and len(" ".join(fields_of(yaml).texts.get("description", "").split())) > _CODEX_LONGEST_DESCRIPTION:
        return True, f"Codex cuts a description after {_CODEX_LONGEST_DESCRIPTION} characters"
    return True, ""
