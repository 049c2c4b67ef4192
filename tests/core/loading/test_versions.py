"""Which engine versions a spec wants."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.versions import engine_meets


@pytest.mark.parametrize(
    ("wanted", "version", "met"),
    [
        (">=26", "26.1.5+dfsg1", True),
        (">=26", "25.0.16", False),
        (">26", "26.1.5", False),
        (">26.1", "26.2.0", True),
        ("==26", "26.1.5", True),
        ("!=26", "26.1.5", False),
        (">=26.1, <29", "28.5.1", True),
        (">=26.1,<29", "29.0.0-rc.1", False),
        (">=26.1.5", "26.1", False),
        ("<=26", "26.9", True),
    ],
)
def test_engine_meets(wanted: str, version: str, *, met: bool) -> None:
    """Versions are compared number by number, as far as the expression is precise."""
    assert engine_meets(wanted, version) is met


@pytest.mark.parametrize("wanted", ["", "26", ">=", ">=twenty", ">=26,", "~=26", ">=26 || <20"])
def test_no_expression(wanted: str) -> None:
    """What is no version expression says how to write one."""
    with pytest.raises(ValueError, match="is no version expression; write it like '>=26'"):
        engine_meets(wanted, "26.1.5")


def test_no_version() -> None:
    """A version that begins with no number is told."""
    with pytest.raises(ValueError, match="`dev` is no engine version"):
        engine_meets(">=26", "dev")


@pytest.mark.parametrize(
    ("word", "known", "told"),
    [
        ("promt", ["prompt", "prompts"], "; did you mean `prompt`?"),
        ("ARMS", ["arms"], "; did you mean `arms`?"),
        ("zebra", ["b", "a"], "; known here: a, b"),
        ("zebra", [], "; there are none here"),
        (
            "zebra",
            [f"n{number:02}" for number in range(20)],
            "; known here: " + ", ".join(f"n{number:02}" for number in range(16)) + " and 4 more",
        ),
    ],
)
def test_did_you_mean(word: str, known: list[str], told: str) -> None:
    """A typo gets the nearest known name; a stranger gets what is known, not all of a long list."""
    assert did_you_mean(word, known) == told
