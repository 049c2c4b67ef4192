"""Is what the model is shown what the arm declares? Pure: from a first request, or from Codex' ``debug prompt-input``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from pytest_skilleval.core.model_requests import Shown, ShownSkill, shown

SYSTEM_SKILLS_OF_CODEX = "/skills/.system/"


class Manipulation(msgspec.Struct, frozen=True, kw_only=True):
    """What the check found.

    `violations`: sentences; any of them voids the run. `shortened`: installed skills whose description the CLI cut or left
    out, as it does when its listing budget is full: what users' agents see too, but to be known. `others`: names in the
    listing that this arm did not install:
    the CLI's own skills, and whatever else there is; they must be the same in every run (see `core.first_requests`).
    """

    violations: tuple[str, ...]
    shortened: tuple[str, ...]
    others: tuple[str, ...]


def check(seen: Shown, *, installed: Mapping[str, str], absent: Iterable[str] = (), instructions: Iterable[str] = ()) -> Manipulation:
    """Hold what a model was shown against the arm.

    Parameters
    ----------
    installed
        Name -> description of every skill that the arm installs.
    absent
        Names that must not be listed: the catalogue's others.
    instructions
        Texts of the instruction files that the arm has, in full; no others may be shown.
    """
    listed = Counter(skill.name for skill in seen.skills)
    violations = (
        *(f"skill {name} is installed and the model is not shown it" for name in installed if name not in listed),
        *(f"skill {name} is listed and the arm excludes it" for name in absent if name in listed),
        *(f"skill {name} is listed {times} times" for name, times in listed.items() if times > 1 and name in installed),
        *_changed(seen.skills, installed),
        *(f"MCP server {name} is offered to the model" for name in seen.mcp_servers),
        *_instructions(seen.instructions, tuple(instructions)),
    )
    others = sorted(skill.name for skill in seen.skills if skill.name not in installed and SYSTEM_SKILLS_OF_CODEX not in (skill.path or ""))
    shortened = tuple(skill.name for skill in seen.skills if _is_shortened(skill, installed))
    return Manipulation(violations=violations, shortened=shortened, others=tuple(others))


def _plain(text: str) -> str:
    """Line breaks do not matter."""
    return " ".join(text.split())


def _is_shortened(skill: ShownSkill, installed: Mapping[str, str]) -> bool:
    told, wanted = _plain(skill.description).rstrip("\u2026."), _plain(installed.get(skill.name, ""))
    return len(told) < len(wanted.rstrip(".")) and wanted.startswith(told)


def _changed(skills: Iterable[ShownSkill], installed: Mapping[str, str]) -> Iterator[str]:
    """A description may be followed by the CLI's own words, or be shortened, but not be changed."""
    for skill in skills:
        wanted = _plain(installed.get(skill.name, ""))
        if not _plain(skill.description).startswith(wanted) and not _is_shortened(skill, installed):
            yield f"the description of skill {skill.name} is shown changed: {skill.description[:80]!r}"


def _instructions(seen: Iterable[str], wanted: tuple[str, ...]) -> Iterator[str]:
    found, expected = [text.strip() for text in seen], [text.strip() for text in wanted if text.strip()]
    yield from (f"instructions of the arm are not shown whole: {text[:60]!r}..." for text in expected if text not in found)
    yield from (f"instructions are shown that the arm does not have: {text[:60]!r}..." for text in found if text not in expected)


def read_preview(stdout: bytes) -> Shown:
    """What ``codex debug prompt-input`` printed: the model-visible input, with no model asked. Nothing readable: nothing shown."""
    try:
        preview = msgspec.json.decode(stdout)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Shown()
    return shown({"input": preview})
