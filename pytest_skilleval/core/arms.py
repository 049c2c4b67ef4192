"""What an arm installs: which skills, in which shape, and how the result is recognised again."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_skilleval.core.loaded import SKILL_FILE, Skill
from pytest_skilleval.core.ports import SandboxFile

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Arm, Sham

NEUTRAL = "General notes about day-to-day work in a repository, kept short and plain. "
INERT = "Work carefully, keep notes as you go, and prefer small steps over large ones.\n"


def installed_skills(arm: Arm, skill: str, catalogue: Mapping[str, Skill]) -> dict[str, Skill]:
    """The catalogue as this arm shows it: minus `exclude`, the skill under test shammed where the arm says so."""
    if arm.exclude == "all":
        return {}
    kept = {name: entry for name, entry in catalogue.items() if name not in arm.exclude}
    if arm.sham is not None and skill in kept:
        kept[skill] = sham_of(kept[skill], arm.sham)
    return kept


def sham_of(skill: Skill, sham: Sham) -> Skill:
    """A stand-in of the same length: a neutral description, an inert body, or both. Other files stay only with a real body."""
    description = skill.description if sham.description == "real" else filler(NEUTRAL, len(skill.description))
    body = skill.body if sham.body == "real" else filler(INERT, len(skill.body))
    text = f"---\nname: {json.dumps(skill.name)}\ndescription: {json.dumps(description, ensure_ascii=False)}\n---\n{body}"
    files = dict(skill.files) if sham.body == "real" else {}
    files[SKILL_FILE] = (0o644, text.encode())
    return replace(skill, description=description, body=body, files=files)


def filler(sentence: str, length: int) -> str:
    """`sentence` over and over, cut to `length` characters."""
    return (sentence * (length // len(sentence) + 1))[:length]


def skills_as_files(skills: Mapping[str, Skill], folder: str) -> tuple[SandboxFile, ...]:
    """Every file of every skill, as it lies under the agent's skills folder."""
    return tuple(
        SandboxFile(path=f"{folder}/{skill_id}/{name}", content=content, mode=mode & 0o755 | 0o644)
        for skill_id, skill in sorted(skills.items())
        for name, (mode, content) in sorted(skill.files.items())
    )


def tarball(files: Iterable[SandboxFile]) -> bytes:
    """One reproducible tar archive: same files, same bytes, whatever the day and the machine. Folders are made explicitly."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        folders: set[str] = set()
        for file in sorted(files, key=lambda file: file.path):
            _add_folders(archive, file.path, folders)
            entry = tarfile.TarInfo(file.path.lstrip("/"))
            entry.size, entry.mode, entry.mtime = len(file.content), file.mode, TIMESTAMP
            archive.addfile(entry, io.BytesIO(file.content))
    return buffer.getvalue()


def unpacked(archive: bytes) -> Iterator[SandboxFile]:
    """The regular files of a tar archive, paths relative; links, devices and paths that lead out are left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        for member in content:
            file = content.extractfile(member) if member.isfile() else None
            if file is not None and ".." not in member.name.split("/"):
                yield SandboxFile(path=member.name.lstrip("/"), content=file.read(), mode=member.mode)


TIMESTAMP = 1_735_689_600
"""Modification time of every installed file (1 January 2025): the same in every run, and old enough to look at home."""


def _add_folders(archive: tarfile.TarFile, path: str, known: set[str]) -> None:
    parts = path.strip("/").split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder not in known:
            known.add(folder)
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, TIMESTAMP
            archive.addfile(entry)


def digest(content: bytes) -> str:
    """SHA-256 in hex: how files are compared and recorded."""
    return hashlib.sha256(content).hexdigest()


def skill_digests(skills: Mapping[str, Skill]) -> dict[str, str]:
    """Skill id -> digest of its SKILL.md: what the manipulation check expects to find."""
    return {skill_id: digest(skill.files[SKILL_FILE][1]) for skill_id, skill in skills.items()}
