"""Patterns: linear time, and no pattern that can't decide anything."""

from __future__ import annotations

import pickle
import time

import pytest

from pytest_skilleval.core.patterns import PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"docker\s+volume\s+prune", "docker  volume prune -af", True),
        (r"docker\s+volume\s+prune", "docker volume ls", False),
        (r"^\s*500\s*$", " 500\n", True),
        (r"^\s*500\s*$", "1500", False),
        ("(?i)volume prune", "Volume Prune", True),
        ("naïve", "a naïve sweep", True),
        (r"\S", "", False),
        ("sweep", "lone \ud800 then sweep", True),
        ("sweep", "nul \x00 sweep", True),
    ],
)
def test_search(pattern: str, text: str, *, found: bool) -> None:
    """A pattern is found anywhere in the text unless anchored, whatever characters the text holds."""
    assert compile_pattern(pattern).search(text) is found


@pytest.mark.parametrize("pattern", ["", "a*", "x|", "^", "$", r"^\s*$", "(docker)?"])
def test_empty_match_is_refused(pattern: str) -> None:
    """A pattern that matches the empty text is refused."""
    with pytest.raises(PatternError, match="matches the empty text"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [".", ".+", r"[\s\S]+", "..", "(?s).{3,}", r"\s|\S"])
def test_universal_match_is_refused(pattern: str) -> None:
    """A pattern that matches every text is refused."""
    with pytest.raises(PatternError, match="matches every text"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("(?=a)b", "no lookahead"),
        ("a(?!b)", "no lookahead"),
        ("(?<=a)b", "no lookbehind"),
        ("(?<!a)b", "no lookbehind"),
        (r"(a)\1", "no backreferences"),
        ("(?P<x>a)(?P=x)", "no backreferences"),
        ("a++", "no atomic groups"),
        ("(?>a)", "no atomic groups"),
        ("(?x) a", "verbose mode"),
        (r"a\Z", r"`\\z`"),
        ("(", r"does not compile \(missing \)"),
        ("[a", r"does not compile \(missing \]"),
        ("a{1001}", "invalid repetition size"),
        ("\ud800", "surrogate"),
    ],
)
def test_unusable_pattern_says_why(pattern: str, hint: str) -> None:
    """A pattern that RE2 can't compile is refused with what RE2 lacks and what to write instead."""
    with pytest.raises(PatternError, match=hint):
        compile_pattern(pattern)


def test_no_catastrophic_backtracking() -> None:
    """A pattern that would backtrack for ages elsewhere answers at once here."""
    pattern = compile_pattern("(x+x+)+y")
    started = time.monotonic()
    assert not pattern.search("x" * 100_000)
    assert time.monotonic() - started < 1


def test_pattern_can_be_pickled() -> None:
    """A pattern travels between processes."""
    copy = pickle.loads(pickle.dumps(compile_pattern("prune")))
    assert copy.search("docker volume prune")
