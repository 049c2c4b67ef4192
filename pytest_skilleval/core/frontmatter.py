"""The front-matter of a SKILL.md: where it is, what it says, and where it departs from the Agent Skills standard.

Two questions are kept apart: does the file conform to the standard (`conformance`), and would a given agent list it
(:mod:`pytest_skilleval.core.loadability`). Real catalogues are full of files that do one and not the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.positions import Document
from pytest_skilleval.core.reading import parse_document

BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(rb"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")
_DOTS = re.compile(rb"(?:(?<=\n)|(?<=\r))\.\.\.[ \t]*(?:\r|\n|\Z)")
_KEY_LINE = re.compile(rb"(?:name|description)[ \t]*:")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff\U000e0000-\U000e007f]")
_STANDARD = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


@dataclass(frozen=True, slots=True)
class Parts:
    """A SKILL.md cut in two, byte for byte; `problem` says why there is no front-matter (then all is body)."""

    yaml: bytes
    body: bytes
    problem: str | None = None
    line: int = 1


def split(content: bytes) -> Parts:
    """Cut a SKILL.md at its fences; a byte-order mark before them is skipped."""
    text = content.removeprefix(BOM)
    opening = _FENCE.match(text)
    if opening is None:
        return Parts(b"", text, _no_opening(text))
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        dots = _DOTS.search(text, opening.end())
        line = _line_at(text, dots.start()) if dots else 1
        said = "is closed by `...`" if dots else "is never closed"
        return Parts(b"", text, f"the front-matter {said}; end it with a line `---`", line)
    return Parts(text[opening.end() : closing.start()], text[closing.end() :])


def _no_opening(text: bytes) -> str:
    stripped = text.lstrip()
    if not stripped:
        return "is empty; it needs front-matter between two lines `---`, with `name` and `description`"
    if stripped is not text and _FENCE.match(stripped):
        return "has blank space before the front-matter; the first line must be `---`"
    if stripped.startswith(b"<!--"):
        return "has a comment before the front-matter; the first line must be `---`"
    if _KEY_LINE.match(stripped):
        return "has keys but no fences; put them between two lines `---`"
    return "has no front-matter; put `name` and `description` between two lines `---` at the top"


def _line_at(text: bytes, offset: int) -> int:
    return len(re.findall(rb"\r\n|\n|\r", text[:offset])) + 1


def conformance(content: bytes, folder_name: str, file: str = "SKILL.md") -> tuple[Fault, ...]:
    """Where a SKILL.md departs from the standard, in order of lines; `folder_name` is the folder it lies in."""
    faults = list(_byte_faults(content, file))
    parts = split(content)
    if parts.problem:
        return tuple(sorted([*faults, Fault(file, parts.line, "", parts.problem)]))
    try:
        document = parse_document(b"\n" + parts.yaml, file)
    except SpecError as error:
        return tuple(sorted({*faults, *error.faults}))
    return tuple(sorted({*faults, *document.faults, *_field_faults(document, parts.yaml, folder_name)}))


def _byte_faults(content: bytes, file: str) -> Iterator[Fault]:
    if content.startswith(BOM):
        yield Fault(file, 1, "", "starts with a byte-order mark, which hides the front-matter from some agents; save it without")
    text = content.decode(errors="replace")
    if "\ufffd" in text and not _is_utf8(content):
        bad = _first_bad_byte(content)
        yield Fault(file, _line_at(content, bad), "", f"is not UTF-8 (byte 0x{content[bad]:02x}); save it as UTF-8")
    for pattern, kind in ((_CONTROL, "control"), (_HIDDEN, "hidden")):
        if found := pattern.search(text.removeprefix("\ufeff")):
            line = _line_at(text[: found.start()].encode(), len(text))
            yield Fault(file, line, "", f"holds the {kind} character U+{ord(found.group()):04X}; remove it")


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_bad_byte(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _field_faults(document: Document, yaml: bytes, folder_name: str) -> Iterator[Fault]:
    fields = document.value
    if not isinstance(fields, dict):
        yield document.fault((), "the front-matter must be a mapping with `name` and `description`")
        return
    for key in fields:
        if key not in _STANDARD:
            yield document.fault((key,), f"`{key}` is no field of the standard; only some agents know it")
    yield from _text_faults(document, fields, yaml)
    if isinstance(fields.get("name"), str):
        for problem in name_problems(fields["name"], folder_name):
            yield document.fault(("name",), problem)
    yield from _metadata_faults(document, fields)
    if isinstance(tools := fields.get("allowed-tools"), str) and "," in tools:
        yield document.fault(("allowed-tools",), "must be parted by spaces, not commas")


_LIMITS: Mapping[str, tuple[int, bool]] = {
    "name": (64, True),
    "description": (1024, True),
    "license": (0, False),
    "compatibility": (500, False),
    "allowed-tools": (0, False),
}
"""Field -> longest text in code points (0: any), and whether it is required."""
_WHAT: Mapping[str, str] = {
    "name": "write the name of the skill's folder",
    "description": "write what the skill does, and when to use it",
}


def _text_faults(document: Document, fields: Mapping[str, object], yaml: bytes) -> Iterator[Fault]:
    for key, (longest, required) in _LIMITS.items():
        value = fields.get(key)
        if key not in fields:
            if required:
                yield document.fault((), f"`{key}` is missing; {_WHAT[key]}")
        elif value is None or (isinstance(value, str) and not value.strip()):
            yield document.fault((key,), f"`{key}` is empty; {_WHAT.get(key, 'write a text or remove the key')}")
        elif not isinstance(value, str):
            yield document.fault((key,), f"`{key}` must be a text{_how_to_mend(document, key, value)}")
        elif longest and len(unicodedata.normalize("NFKC", value) if key == "name" else value) > longest:
            yield document.fault((key,), f"`{key}` has {len(value)} characters; at most {longest} are allowed")
        elif _cut_short(yaml, key):
            yield document.fault((key,), f"`{key}` ends at ` #`, where YAML begins a comment; quote the text if that belongs to it")


def _how_to_mend(document: Document, key: str, value: object) -> str:
    if isinstance(value, tuple):
        return ", its entries parted by spaces" if key == "allowed-tools" else ", not a list"
    if isinstance(value, dict):
        return ", not a mapping; a text that holds `: ` needs quotes"
    return f"; quote it: '{document.source((key,))}'"


def _cut_short(yaml: bytes, key: str) -> bool:
    return re.search(rb"(?m)^" + key.encode() + rb":[ \t]+[^\"'|>\s#][^\r\n]*?[ \t]#", yaml) is not None


def name_problems(name: str, folder_name: str) -> Iterator[str]:
    """What is wrong with a skill's name (compared in NFKC, as the standard's own validator does)."""
    normal = unicodedata.normalize("NFKC", name.strip())
    if any(not (char == "-" or char.isdigit() or (char.isalpha() and char == char.lower())) for char in normal):
        yield f"the name `{name}` may hold lower-case letters, digits and hyphens only"
    elif normal.startswith("-") or normal.endswith("-") or "--" in normal:
        yield f"the name `{name}` may not begin or end with a hyphen or hold two in a row"
    if normal != unicodedata.normalize("NFKC", folder_name):
        yield f"the name `{name}` differs from the folder `{folder_name}`"


def _metadata_faults(document: Document, fields: Mapping[str, object]) -> Iterator[Fault]:
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield document.fault(("metadata",), "`metadata` must be a mapping of texts to texts")
        return
    for key, value in metadata.items():
        if not isinstance(value, str):
            yield document.fault(("metadata", key), f"`metadata.{key}` must be a text{_quoted(document, key, value)}")


def _quoted(document: Document, key: str, value: object) -> str:
    if isinstance(value, dict | tuple):
        return ", not a mapping" if isinstance(value, dict) else ", not a list"
    return f"; quote it: '{document.source(('metadata', key))}'"
