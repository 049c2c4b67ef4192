"""A small catalogue for the tests of the console script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

SKILL = "---\nname: {name}\ndescription: Use this for {name}.\n---\n\n# Rules\n\nBe careful.\n"
Skilleval = Callable[..., tuple[int, str, str]]
"""Calls the console script: arguments -> exit code, standard output, standard error."""


def write_skill(catalogue: Path, name: str, content: str = SKILL) -> None:
    """A skill of the catalogue."""
    (catalogue / name).mkdir(parents=True)
    (catalogue / name / "SKILL.md").write_text(content.format(name=name))
