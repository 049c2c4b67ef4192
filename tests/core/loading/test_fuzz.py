"""Mutated specs: whatever stands in the files, the outcome is a spec or faults with lines; never a traceback, never a hang."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from spec_builder import FILES, SPEC, Tree

from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.loading import is_spec_file, load_spec

VALUES = [
    *("", "~", "yes", "on", "0", "-1", "1e400", "0x", ".inf", ".nan", "'", '"', "[]", "{}", "[[[", "}}", "- a", "a: b", "null", "test"),
    *(
        "&x 1",
        "*x",
        "!!python/object:os.system x",
        "!x",
        "<<",
        "|",
        ">-",
        "@",
        "`",
        "%",
        "#",
        "---",
        "...",
        "1:30",
        "2026-01-01",
        "seed",
        ".",
    ),
    *(
        "\t",
        "\x00",
        "\x85",
        "\ufeff",
        "\ud7ff",
        "\N{GRINNING FACE}",
        "a" * 300,
        "[1, {a: [b]}]",
        "{a: {b: {c: d}}}",
        "../../x",
        "/dev/zero",
    ),
    *("${x}", "$${db}", "(", "(a+)+$", "(?=a)", ".*", "a{1001}"),
]
LINES = SPEC.splitlines(keepends=True)


def _drop_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    start = rng.randrange(max(1, len(lines)))
    return "".join(lines[:start] + lines[start + rng.randint(1, 4) :])


def _repeat_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines))
    return "".join([*lines[:at], lines[at], *lines[at:]])


def _move_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return "".join(lines)


def _foreign_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    lines.insert(rng.randrange(len(lines)), rng.choice(LINES))
    return "".join(lines)


def _indent(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines))
    lines[at] = " " * rng.randint(1, 4) + lines[at] if rng.random() < 0.5 else lines[at].lstrip(" ")
    return "".join(lines)


def _insert_value(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(VALUES) + text[at:]


def _replace_value(text: str, rng: random.Random) -> str:
    """Put something else in place of what follows a colon."""
    places = [at for at, char in enumerate(text) if char == ":"]
    if not places:
        return text + rng.choice(VALUES)
    at = rng.choice(places) + 1
    ends = [end for end in (text.find(sign, at) for sign in (",", "}", "\n")) if end > 0]
    return text[:at] + " " + rng.choice(VALUES) + text[min(ends, default=len(text)) :]


def _swap_characters(text: str, rng: random.Random) -> str:
    at = rng.randrange(max(1, len(text) - 1))
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


MUTATIONS: list[Callable[[str, random.Random], str]] = [
    *(_drop_line, _repeat_line, _move_line, _foreign_line, _indent),
    *(_insert_value, _replace_value, _replace_value, _replace_value, _swap_characters, _truncate),
]


def mutant(text: str, rng: random.Random) -> bytes:
    """`text` after a few mutations, at times damaged as bytes too."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(MUTATIONS)(text, rng)
    content = text.encode(errors="surrogatepass")
    if content and rng.random() < 0.05:
        at = rng.randrange(len(content))
        content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    return content


def faults_of(tree: Tree, seed: int) -> tuple[Fault, ...]:
    """The faults of one mutant, of the spec or of a file beside it, whose files are still in place; empty when it loads."""
    rng = random.Random(seed)
    name = rng.choice(["spec.yaml"] * 8 + ["guard.yaml", "skins.yaml", "runbook.md"])
    original = FILES.get(name, SPEC)
    mutated = tree.write(f"careful-docker/{name}", mutant(original, rng))
    is_spec_file(tree.spec)
    try:
        load_spec(tree.spec)
    except SpecError as error:
        for fault in error.faults:
            lines = Path(fault.file).read_bytes().count(b"\n") + 1
            check = 1 <= fault.line <= lines + 1 and fault.message.strip()
            assert check, (seed, fault)
        return error.faults
    finally:
        mutated.write_text(original)
    return ()


def fuzz(tree: Tree, seeds: range) -> None:
    """Load many mutants; most are refused, and not all."""
    tree.write("careful-docker/spec.yaml", SPEC)
    started = time.monotonic()
    refused = sum(bool(faults_of(tree, seed)) for seed in seeds)
    assert time.monotonic() - started < len(seeds)
    assert len(seeds) // 2 < refused < len(seeds)


def test_mutants(tree: Tree) -> None:
    """Three hundred mutants: each loads, or is refused with faults that name a line of a file."""
    fuzz(tree, range(300))


@pytest.mark.slow
def test_many_mutants(tree: Tree) -> None:
    """Ten thousand mutants, likewise."""
    fuzz(tree, range(1000, 11_000))
