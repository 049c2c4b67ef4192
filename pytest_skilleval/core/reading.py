"""YAML read with positions: every value knows its line, and what YAML would quietly change is a fault.

A small reader over libyaml's events, and where anything is odd over its nodes. Mappings become dicts, sequences tuples,
plain scalars are resolved as YAML 1.1 says (``yes`` is true), without its dates and base-60 numbers, which no file of ours
takes. Refused, because a reader of the file could not see what it means: repeated keys, keys that are no text, anchors,
aliases and merge keys (a fault in shared text would have two places), tags, several documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.nodes import Node, ScalarNode, SequenceNode

from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.plain_yaml import read_plain
from pytest_skilleval.core.positions import Document, path_text, paths_to, shown
from pytest_skilleval.core.scalars import scalar

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 40

_MAYBE_ALIAS: Final = re.compile(r"[&*](?<![^\s,:{\[].)[0-9A-Za-z_-]", re.DOTALL)
_UNPRINTABLE: Final = "[^\\t\\n\\r -~\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]"
_HINTS: Final = (
    ("mapping values are not allowed", "a text that holds `: ` needs quotes"),
    ("cannot start any token", "indentation takes spaces, not tabs, and a text that starts with @, ` or % needs quotes"),
    ("tab character", "indentation takes spaces, not tabs"),
    ("single document", "one file holds one document; remove the `---` line"),
    ("maximum nesting depth", "nothing here nests that deeply"),
    ("did not find expected key", "look at the indentation and quotes of this line and the one above"),
)


def read_bytes(file: Path) -> bytes:
    """The file's bytes; SpecError when it is missing, unreadable or larger than `MAX_BYTES`."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise SpecError((Fault(shown(file), 1, "", f"is larger than {MAX_BYTES // 2**20} MiB; split it"),))
        return file.read_bytes()
    except OSError as error:
        raise SpecError((Fault(shown(file), 1, "", f"can't be read: {error.strerror or error}"),)) from None


def parse_document(content: bytes, file: str) -> Document:
    """Read the bytes of one YAML file; `file` names it in faults.

    Raises
    ------
    SpecError
        They can't be read at all: not UTF-8, not YAML.
    """
    text = decode(content, file)
    _refuse_odd_line_ends(text, file)
    plain = read_plain(text, MAX_DEPTH)
    if plain is None:
        return parse_odd(text, file)
    return Document(file, plain.value, (), partial(compose, text, file), plain.lines, "${" in text)


def parse_odd(text: str, file: str) -> Document:
    """The same by the tree of nodes, which tells where everything stands: for text that is wrong, or not as plain as it could be."""
    root = compose(text, file)
    _refuse_aliases(text, file)
    builder = _Builder(file, root)
    value = builder.value(root, 0) if root is not None else None
    return Document(file, value, tuple(builder.faults), lambda: root, has_references="${" in text)


def decode(content: bytes, file: str) -> str:
    """UTF-8 text without its byte-order mark; SpecError naming the line of the first byte that is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise SpecError((Fault(file, 1, "", "is UTF-16; save it as UTF-8"),)) from None
        line = content.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8"
        raise SpecError((Fault(file, line, "", message),)) from None


def _refuse_odd_line_ends(text: str, file: str) -> None:
    """YAML 1.1 ends a line at these characters and no editor does: lines in messages would be wrong."""
    for odd in "\x85\u2028\u2029":
        if odd in text:
            line = text.count("\n", 0, text.index(odd)) + 1
            raise SpecError((Fault(file, line, "", f"holds the line separator U+{ord(odd):04X}; put a plain line end there"),))


class _Loader(CParser):
    """libyaml's composer; instead of a resolved tag a scalar gets (plain, quoted), which costs nothing."""

    def resolve(self, _kind: Any, _value: Any, implicit: Any) -> Any:
        return implicit

    def descend_resolver(self, _node: Any, _index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


def compose(text: str, file: str) -> Node | None:
    """The tree of nodes; the tag of an untagged scalar is (is plain, is quoted). SpecError when the text is no YAML."""
    try:
        root: Node | None = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise SpecError((Fault(file, mark.line + 1 if mark else 1, "", _yaml_message(error)),)) from None
    except (yaml.reader.ReaderError, ValueError):
        bad = re.search(_UNPRINTABLE, text)  # compiled here: so large a set takes longer than all else of this module
        line, code = (text.count("\n", 0, bad.start()) + 1, ord(bad.group())) if bad else (1, 0)
        raise SpecError((Fault(file, line, "", f"holds the control character U+{code:04X}; remove it"),)) from None
    return root


def _yaml_message(error: yaml.MarkedYAMLError) -> str:
    said = ", ".join(part for part in (error.context, error.problem) if part)
    hint = next((f"; {hint}" for sign, hint in _HINTS if sign in said), "")
    return f"is not YAML: {said}{hint}"


def _refuse_aliases(text: str, file: str) -> None:
    if _MAYBE_ALIAS.search(text) is None:
        return
    events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
    faults = tuple(
        Fault(file, event.start_mark.line + 1, "", "uses a YAML anchor or alias; write the value out where it is used")
        for event in events
        if getattr(event, "anchor", None)
    )
    if faults:
        raise SpecError(faults)


class _Builder:
    """Turns nodes into values and notes what YAML allows and we don't."""

    def __init__(self, file: str, root: Node | None) -> None:
        self.file = file
        self.root = root
        self.faults: list[Fault] = []

    def value(self, node: Node, depth: int) -> Any:
        kind = node.__class__
        tag: Any = node.tag
        if tag.__class__ is str:
            self._note(node, f"carries the YAML tag `{tag}`; tags are not supported, write the plain value")
        if kind is ScalarNode:
            return node.value if tag.__class__ is tuple and not tag[0] else scalar(node.value)
        if depth > MAX_DEPTH:
            self._note(node, "is nested too deeply; nothing here needs that")
            return None
        if kind is SequenceNode:
            return tuple([self.value(entry, depth + 1) for entry in node.value])
        return self._mapping(node, depth)

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key is None:
                continue
            if key in result:
                self._note_repeated(node, key_node, key)
            else:
                result[key] = self.value(value_node, depth + 1)
        return result

    def _key(self, node: Any) -> str | None:
        if node.__class__ is not ScalarNode or node.tag.__class__ is str:
            self._note(node, "is no plain key; a key is a short text")
            return None
        text: str = node.value
        if text == "<<":
            self._note(node, "is a YAML merge key; write the keys out")
            return None
        if node.tag[0] and not isinstance(scalar(text), str):
            self._note(node, f"the key `{text}` is not read as text by YAML; quote it: '{text}'")
        return text

    def _note_repeated(self, mapping: Node, key_node: Node, key: str) -> None:
        first = next(other for other, _ in mapping.value if other.value == key)
        self._note(key_node, f"the key `{key}` is given twice (first on line {first.start_mark.line + 1}); keep one")

    def _note(self, node: Node, message: str) -> None:
        where = next(iter(paths_to(self.root, node, ())), ())
        self.faults.append(Fault(self.file, node.start_mark.line + 1, path_text(where), message))
