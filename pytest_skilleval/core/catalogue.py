"""The catalogue: a folder of skills, ``<catalogue>/<skill>/SKILL.md``, read once.

A stranger's broken skill never raises: what is wrong with it stands in `Skill.problems` and `Skill.refused_by`, and
becomes a fault only when a spec refers to the skill or an arm installs it for an agent that would not list it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pytest_skilleval.core.errors import Fault
from pytest_skilleval.core.frontmatter import conformance, split
from pytest_skilleval.core.loadability import AGENTS, fields_of, refusal
from pytest_skilleval.core.loaded import SKILL_FILE, Skill
from pytest_skilleval.core.plain_files import no_plain_file
from pytest_skilleval.core.positions import shown


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All skills of a folder by id (their folder's name), and folders that look like skills but are none."""

    folder: Path
    skills: Mapping[str, Skill]
    problems: tuple[Fault, ...] = ()
    left_out: tuple[Fault, ...] = ()
    """Those of `problems` about something that can't be read, so that nobody knows whether it is a skill."""


@lru_cache(maxsize=16)
def load_catalogue(folder: Path) -> Catalogue:
    """`read_catalogue`, kept for the life of the process: ``load_catalogue.cache_clear()`` when a session begins."""
    return read_catalogue(folder)


def read_catalogue(folder: Path) -> Catalogue:
    """Read a catalogue; a missing folder is an empty one."""
    root = folder.resolve()
    skills: dict[str, Skill] = {}
    misses: list[Fault] = []
    left_out: list[Fault] = []
    for entry in _entries(folder):
        if entry.name.startswith("."):
            continue
        tree = Tree(root)
        tree.read(Path(entry.path), "")
        if SKILL_FILE in tree.files:
            skills[entry.name] = skill_of(entry.name, tree.files, Path(entry.path), tuple(tree.problems))
        else:
            misses += _near_misses(Path(entry.path), tree)
            left_out += tree.problems
    return Catalogue(folder, _with_shared_names(skills, folder), (*left_out, *misses), tuple(left_out))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if entry.is_symlink() or not entry.is_file()), key=lambda entry: entry.name)
    except FileNotFoundError:
        return []


def _near_misses(folder: Path, tree: Tree) -> Iterator[Fault]:
    for name in tree.files:
        if name.lower() == SKILL_FILE.lower():
            yield Fault(shown(folder / name), 1, "", f"must be named `{SKILL_FILE}`; agents overlook `{name}`")


class Tree:
    """The files below one folder: relative path -> (mode, bytes), links resolved where they stay inside `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, tuple[int, bytes]] = {}
        self.problems: list[Fault] = []

    def read(self, path: Path, name: str, above: tuple[str, ...] = ()) -> None:
        """Add `path` as `name`, and all below it."""
        try:
            if path.is_symlink() and not self._leads_inside(path):
                return
            if path.is_dir():
                self._read_folder(path, name, above)
            elif path.is_file():
                mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                self.files[name] = (mode, path.read_bytes())
            elif odd := no_plain_file(path):
                self._note(path, odd)
        except OSError as error:
            self._note(path, f"can't be read: {error.strerror or error}")

    def _leads_inside(self, link: Path) -> bool:
        if not link.exists():
            self._note(link, no_plain_file(link) or "is a link that can't be followed; remove it")
            return False
        if not link.resolve().is_relative_to(self.root):
            self._note(link, "is a link out of the catalogue; copy what it leads to")
            return False
        return True

    def _read_folder(self, path: Path, name: str, above: tuple[str, ...]) -> None:
        real = os.path.realpath(path)
        if real in above:
            self._note(path, "is a link to a folder above it; remove it")
            return
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries)
        for inner in names:
            if inner != ".git":
                self.read(path / inner, f"{name}/{inner}" if name else inner, (*above, real))

    def _note(self, path: Path, message: str) -> None:
        self.problems.append(Fault(shown(path), 1, "", message))


def skill_of(skill_id: str, files: Mapping[str, tuple[int, bytes]], folder: Path, left_out: tuple[Fault, ...] = ()) -> Skill:
    """The skill whose folder holds `files`; `left_out` tells what of it could not be read."""
    content = files[SKILL_FILE][1]
    parts = split(content)
    fields = fields_of(parts.yaml)
    shown_file = shown(folder / SKILL_FILE)
    refusals = {agent: reason for agent in AGENTS if (reason := refusal(content, agent))}
    return Skill(
        id=skill_id,
        name=fields.texts.get("name", ""),
        description=fields.texts.get("description", ""),
        body=parts.body.decode(errors="surrogateescape"),
        files=files,
        hidden=_is_hidden(fields.texts, files),
        problems=(*conformance(content, skill_id, shown_file), *left_out, *_layout(files, folder)),
        left_out=left_out,
        refused_by=refusals,
    )


def _is_hidden(texts: Mapping[str, str], files: Mapping[str, tuple[int, bytes]]) -> bool:
    policy = files.get("agents/openai.yaml", (0, b""))[1].decode(errors="replace")
    squeezed = "".join(policy.split()).lower()
    return texts.get("disable-model-invocation", "").lower() in {"true", "yes", "on"} or "allow_implicit_invocation:false" in squeezed


def _layout(files: Mapping[str, tuple[int, bytes]], folder: Path) -> Iterator[Fault]:
    for name in files:
        if name.lower() == SKILL_FILE.lower() and name != SKILL_FILE:
            yield Fault(shown(folder / name), 1, "", f"stands beside `{SKILL_FILE}` and differs in case only; remove one")
        elif "/" in name and name.rpartition("/")[2] == SKILL_FILE:
            yield Fault(shown(folder / name), 1, "", "is a skill inside a skill; some agents list it as well, others never")


def _with_shared_names(skills: dict[str, Skill], folder: Path) -> dict[str, Skill]:
    by_name: dict[str, list[str]] = {}
    for skill in skills.values():
        by_name.setdefault(skill.name or skill.id, []).append(skill.id)
    for name, ids in by_name.items():
        for skill_id in ids if len(ids) > 1 else ():
            others = ", ".join(other for other in ids if other != skill_id)
            fault = Fault(
                shown(folder / skill_id / SKILL_FILE), 1, "", f"the name `{name}` is also used by {others}; agents list one of them"
            )
            skills[skill_id] = replace(skills[skill_id], problems=(*skills[skill_id].problems, fault))
    return skills
