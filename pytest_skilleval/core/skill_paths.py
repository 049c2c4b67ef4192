"""Paths of SKILL.md files: which skill a path, as an agent wrote it, belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import join, normpath

from pytest_skilleval.core.loaded import SKILL_FILE
from pytest_skilleval.core.shell import spread

_GLOB = re.compile(r"[*?\[]")
_UNKNOWN = re.compile(r"[$`{}]")


@dataclass(frozen=True, slots=True)
class SkillPaths:
    """The skills folders of an agent, and what may lie in them."""

    folders: tuple[str, ...]
    """Absolute and normalised."""
    catalogue: frozenset[str]
    home: str

    @classmethod
    def of(cls, folders: Iterable[str], catalogue: frozenset[str], home: str) -> SkillPaths:
        """`folders` may be relative to `home`."""
        return cls(tuple(normpath(join(home, _at_home(folder, home))) for folder in folders), catalogue, home)

    def absolute(self, path: str, cwd: str | None) -> str | None:
        """`path` as an absolute one; None when that takes a working folder that is not known."""
        full = _at_home(path, self.home)
        if full.startswith("/"):
            return normpath(full)
        return normpath(join(cwd, full)) if cwd else None

    def skills(self, path: str, cwd: str | None) -> tuple[str, ...]:
        """The skills whose SKILL.md `path` names: one, several for a glob or braces, or none."""
        found: list[str] = []
        for one in spread(path):
            full = self.absolute(one, cwd)
            if full is not None:
                found.extend(skill for folder in self.folders for skill in self._in(folder, full) if skill not in found)
        return tuple(found)

    def _in(self, folder: str, full: str) -> tuple[str, ...]:
        if not _GLOB.search(full):
            skill, _, name = full.removeprefix(f"{folder}/").partition("/")
            known = full.startswith(f"{folder}/") and name == SKILL_FILE and not _UNKNOWN.search(skill)
            return (skill,) if known else ()
        return tuple(skill for skill in sorted(self.catalogue) if _matches(f"{folder}/{skill}/{SKILL_FILE}", full))


def is_glob(path: str) -> bool:
    """Whether `path` may name several files."""
    return bool(_GLOB.search(path))


def _matches(path: str, pattern: str) -> bool:
    """Glob matching part by part: ``*`` does not cross a slash, ``**`` does."""
    if "**" in pattern:
        return fnmatchcase(path, pattern.replace("**/", "*").replace("**", "*"))
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _at_home(path: str, home: str) -> str:
    for start in ("~", "$HOME", "${HOME}", "~agent"):
        if path == start or path.startswith(f"{start}/"):
            return home + path[len(start) :]
    return path
