"""Regular expressions of specs: matched by RE2, whose time is linear in the text whatever the pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_MISSING_IN_RE2 = (
    (("(?=", "(?!"), "RE2 has no lookahead; say what must match, or use two checks"),
    (("(?<=", "(?<!"), "RE2 has no lookbehind; match the text before it too, or use two checks"),
    (("(?P=", "\\1", "\\2", "\\3", "\\4", "\\5", "\\6", "\\7", "\\8", "\\9"), "RE2 has no backreferences; write the alternatives out"),
    (("(?>", "++", "*+", "?+"), "RE2 has no atomic groups or possessive repeats, and needs none: it never backtracks"),
    (("(?#", "(?x"), "RE2 has no comments or verbose mode in patterns"),
    (("\\Z",), r"RE2 writes the end of the text as `\z`"),
)
_PROBES = tuple(character * length for length in (1, 64) for character in ("x", "Q", "7", "-", " ", "/", "é"))
"""Texts so unlike each other that a pattern matching all of one length says nothing."""


class PatternError(ValueError):
    """A pattern that can't be used; the text says why and what to write instead."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern, found anywhere in a text unless it is anchored."""

    text: str
    _compiled: Any = field(repr=False, compare=False)

    def search(self, text: str) -> bool:
        """Whether the pattern occurs in `text`; characters that UTF-8 can't hold count as ``?``."""
        return self._compiled.search(text.encode(errors="replace")) is not None

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_pattern, (self.text,)


@lru_cache(maxsize=4096)
def compile_pattern(text: str) -> Pattern:
    """Compile `text`, refusing what can't decide anything.

    Raises
    ------
    PatternError
        RE2 can't compile it, it matches the empty text, or it matches every text.
    """
    pattern = Pattern(text, _compile(text))
    if pattern.search(""):
        raise PatternError("matches the empty text, so it is found in everything; anchor it or demand at least one character")
    half = len(_PROBES) // 2
    if all(map(pattern.search, _PROBES[:half])) or all(map(pattern.search, _PROBES[half:])):
        raise PatternError("matches every text; name what must be there")
    return pattern


def _compile(text: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text.encode(), options)
    except UnicodeEncodeError:
        raise PatternError("holds half a surrogate pair, which is no character; remove it") from None
    except re2.error as error:
        raise PatternError(_reason(text, error)) from None


def _reason(text: str, error: Exception) -> str:
    said = error.args[0]
    said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    for signs, hint in _MISSING_IN_RE2:
        if any(sign in said or (said.endswith(("(?P", "(?<")) and sign in text) for sign in signs):
            return f"does not compile ({said}): {hint}"
    return f"does not compile ({said}); correct it, or write a backslash before a sign that is meant as itself"
