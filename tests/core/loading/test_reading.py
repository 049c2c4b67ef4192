"""Bytes that are hard to read: each has a clear outcome."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from spec_builder import Tree

from pytest_skilleval.core.errors import SpecError
from pytest_skilleval.core.reading import MAX_BYTES, parse_document, read_bytes
from pytest_skilleval.core.scalars import scalar

TWO = (
    "is not YAML: expected a single document in the stream, but found another document; one file holds one document; remove the `---` line"
)
ALIAS = "uses a YAML anchor or alias; write the value out where it is used"
TAB = "indentation takes spaces, not tabs, and a text that starts with @, ` or % needs quotes"
NO_TOKEN = "is not YAML: while scanning for the next token, found character that cannot start any token; " + TAB


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a: 1\nb: caf\xe9\n", 2, "is not UTF-8 (byte 0xe9); save it as UTF-8"),
        (b"a: 1\nb: \xed\xa0\x80\n", 2, "is not UTF-8 (byte 0xed); save it as UTF-8"),
        ("a: 1\n".encode("utf-16"), 1, "is UTF-16; save it as UTF-8"),
        (b"a: 1\nb: x\x00y\n", 2, "holds the control character U+0000; remove it"),
        (b"a: 1\n\nb: \x1b[1m\n", 3, "holds the control character U+001B; remove it"),
        ("a: \x9b\n".encode(), 1, "holds the control character U+009B; remove it"),
        ("a: 1\nb: x\x85y\n".encode(), 2, "holds the line separator U+0085; put a plain line end there"),
        ("a: x\u2028y\n".encode(), 1, "holds the line separator U+2028; put a plain line end there"),
        (b"a:\n\t- b\n", 2, NO_TOKEN),
        (b"a: @home\n", 1, NO_TOKEN),
        (b"a: `ls`\n", 1, NO_TOKEN),
        (b"a: Use when: full\n", 1, "is not YAML: mapping values are not allowed in this context; a text that holds `: ` needs quotes"),
        (b"a: 'open\n", 2, "is not YAML: while scanning a quoted scalar, found unexpected end of stream"),
        (b"a: [1, 2\nb: 3\n", 2, "is not YAML: while parsing a flow sequence, did not find expected ',' or ']'"),
        (
            b"a: 1\n---\na: 2\n",
            2,
            TWO,
        ),
        (b"a: &x 1\nb: 2\n", 1, ALIAS),
        (b"a: {b: &x [1]}\n", 1, ALIAS),
        (b"a: *nothing\n", 1, "is not YAML: found undefined alias"),
        (b"&a [*a]\n", 1, ALIAS),
        (b"[" * 2000, 1, "is not YAML: while increasing flow level, exceeded maximum nesting depth; nothing here nests that deeply"),
    ],
)
def test_unreadable(content: bytes, line: int, message: str) -> None:
    """A file that can't be read says on which line, why, and what to do."""
    with pytest.raises(SpecError) as caught:
        parse_document(content, "spec.yaml")
    told = caught.value.faults[0]
    assert (told.file, told.line, told.message) == ("spec.yaml", line, message)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
        (b"a: 1\r\nb: |\r\n  x\r\n  y\r\n", {"a": 1, "b": "x\ny\n"}),
        (b"a: x\rb: y\r", {"a": "x", "b": "y"}),
        (b"a: [x, {b: y}]", {"a": ("x", {"b": "y"})}),
        ("a: \N{GRINNING FACE} \u4f60 \u05d0\n".encode(), {"a": "\N{GRINNING FACE} \u4f60 \u05d0"}),
        (b"a: docker ps && docker ps *\nb: rm -r *.log &\n", {"a": "docker ps && docker ps *", "b": "rm -r *.log &"}),
        (b"a: '*x'\nb: \"&x\"\n", {"a": "*x", "b": "&x"}),
        (b"a:\tx\n", {"a": "x"}),
        (b"", None),
        (b"# only a comment\n", None),
    ],
)
def test_readable(content: bytes, value: object) -> None:
    """Byte-order mark, any line ends, any script, and signs that only look like aliases are read as meant."""
    assert parse_document(content, "spec.yaml").value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("No", False), ("ON", True), ("off", False), ("true", True), ("y", "y"),
        ("", None), ("~", None), ("null", None),
        ("1", 1), ("-12", -12), ("0", 0), ("017", 15), ("08", "08"), ("0x1f", 31), ("0b11", 3), ("1_000", 1000), ("+", "+"),
        ("1.5", 1.5), (".5", 0.5), ("1e3", "1e3"), ("1.0e+3", 1000.0), ("-.inf", -math.inf),
        ("1:30", "1:30"), ("2026-01-01", "2026-01-01"), ("1.2.3", "1.2.3"), ("26", 26),
    ],
)  # fmt: skip
def test_scalar(text: str, value: object) -> None:
    """Plain scalars are what YAML 1.1 says, but for dates and base-60 numbers, which stay text."""
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


@pytest.mark.parametrize("text", ["0x_", "-0b__", pytest.param("9" * 5000, id="5000 digits")])
def test_what_no_number_can_be_made_of(text: str) -> None:
    """What is written like a whole number and can be none is a text, and no crash."""
    assert scalar(text) == text


def test_not_a_number() -> None:
    """``.nan`` is a number that is none."""
    assert math.isnan(float(str(scalar(".NaN"))))


def test_ten_megabytes(tmp_path: Path) -> None:
    """A file beyond any spec's size is refused before it is read."""
    path = tmp_path / "spec.yaml"
    path.write_bytes(b"# filler\n" * (10 * 2**20 // 9))
    with pytest.raises(SpecError, match=rf"is larger than {MAX_BYTES // 2**20} MiB; split it"):
        read_bytes(path)


def test_deep_nesting() -> None:
    """Nesting that libyaml still takes, but no file of ours has, is a fault and no overflow."""
    told = parse_document(b"a: " + b"[" * 900 + b"]" * 900, "spec.yaml").faults
    assert [fault.message for fault in told] == ["is nested too deeply; nothing here needs that"]


def test_unreadable_file(tmp_path: Path) -> None:
    """A folder in place of a file is a fault."""
    with pytest.raises(SpecError, match="can't be read: Is a directory"):
        read_bytes(tmp_path)


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("", ["is empty; a spec has at least the keys `skill`, `arms` and `cases`"]),
        ("- skill\n- cases\n", ["must be a mapping of keys to values, not a list"]),
        ("just text\n", ["must be a mapping of keys to values, not a text"]),
        ("{}\n", ["`arms` is missing; add it", "`cases` is missing; add it", "`skill` is missing; add it"]),
    ],
)
def test_spec_that_is_no_mapping(tree: Tree, content: str, messages: list[str]) -> None:
    """A spec file that holds anything but a mapping says so on line 1."""
    tree.text = content
    assert [(told.line, told.message) for told in tree.faults()] == [(1, message) for message in messages]


def test_windows_spec(tree: Tree) -> None:
    """A spec saved with CR LF and a byte-order mark loads like any other."""
    tree.text = "\ufeff" + tree.text.replace("\n", "\r\n")
    assert len(tree.load().spec.cases) == 4
