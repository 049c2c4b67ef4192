"""Dequoting: what the shell makes of one word of its source, as far as that can be known without running it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_skilleval.core.shell.characters import restored

if TYPE_CHECKING:
    from tree_sitter import Node

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MAX_SPREAD = 64
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_ANSI = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def text_of(node: Node) -> str:
    """The source of `node`, as it stands."""
    return restored((node.text or b"").decode("utf-8", "replace"))


def unescape_ansi(text: str) -> str:
    r"""What ``$'...'`` (and ``printf``) make of backslash escapes such as ``\n`` and ``\x41``."""
    return _ANSI.sub(_ansi_character, text)


def words_of(node: Node, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words that `node` becomes: one, or several where a known variable stands unquoted and holds blanks."""
    value = word_of(node, variables)
    if node.type in ("simple_expansion", "expansion") and "$" not in value:
        return tuple(value.split())
    return (value,)


def word_of(node: Node, variables: Mapping[str, str]) -> str:
    """`node` without quotes and backslashes; variables with a known value replaced, other expansions left as written."""
    if node.type == "concatenation":
        return "".join(word_of(child, variables) for child in node.children)
    if node.type == "command_name" and node.child_count == 1:
        return word_of(node.children[0], variables)
    read = _READERS.get(node.type)
    return read(text_of(node), variables) if read else text_of(node)


def spread(word: str) -> tuple[str, ...]:
    """Brace expansion: ``a{b,c}`` -> ``ab``, ``ac``; at most three levels and 64 words, the rest stays as it is."""
    words = [word]
    for _ in range(3):
        words = [one for text in words for one in _spread_once(text)][:_MAX_SPREAD]
    return tuple(words)


def _spread_once(word: str) -> list[str]:
    match = _BRACES.search(word)
    if match is None:
        return [word]
    return [word[: match.start()] + choice + word[match.end() :] for choice in match[1].split(",")]


def _in_quotes(source: str, variables: Mapping[str, str]) -> str:
    source = source.removeprefix("$")
    inner = source[1:-1] if len(source) > 1 and source.endswith('"') else source[1:]
    return _ESCAPED_IN_QUOTES.sub(_bare_escape, _known(inner, variables))


def _raw(source: str, _variables: Mapping[str, str]) -> str:
    return source[1:-1]


def _ansi(source: str, _variables: Mapping[str, str]) -> str:
    return unescape_ansi(source[2:-1])


def _bare(source: str, _variables: Mapping[str, str]) -> str:
    return _ESCAPED.sub(_bare_escape, source.lstrip("\n"))


def _known(source: str, variables: Mapping[str, str]) -> str:
    if not variables or "$" not in source:
        return source
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), source)


def _bare_escape(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _ansi_character(match: re.Match[str]) -> str:
    if match[5]:
        return _ANSI_LETTERS.get(match[5], match[5])
    code = int(match[4], 8) if match[4] else int(match[1] or match[2] or match[3], 16)
    return chr(code) if 0 < code <= 0x10FFFF else ""


_READERS: dict[str, Callable[[str, Mapping[str, str]], str]] = {
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "string": _in_quotes,
    "translated_string": _in_quotes,
    "simple_expansion": _known,
    "expansion": _known,
    "word": _bare,
}
