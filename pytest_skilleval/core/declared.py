"""What an arm declared and installed in one run (``arm.json``): all that later explains what its model was shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from pytest_skilleval.core.record import FORMAT

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import Skill
    from pytest_skilleval.core.spec import Arm

FILE = "arm.json"


class InstalledSkill(msgspec.Struct, frozen=True, kw_only=True):
    """One skill as it was installed."""

    name: str
    description: str
    sha256: str
    """Of all its files, with their names and modes."""


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One arm of one run.

    `exclude`, `sham`, `revision` and `permissions` are what the spec said when the run was made; `instructions` is the text
    that the arm appends to the stock file; `skills` is what was installed, by skill id.
    """

    format: int = FORMAT
    skill: str
    """The skill under test."""
    exclude: tuple[str, ...] | str = ()
    """``all``, or ids."""
    sham: str | None = None
    revision: str | None = None
    permissions: str = "bypass"
    instructions: str = ""
    skills: dict[str, InstalledSkill] = {}

    def treatment(self, skill: str) -> str | None:
        """How this arm says that it treats a skill of the catalogue: two arms with the same answer must show the same of it.

        None: it leaves the skill out.
        """
        if self.exclude == "all" or skill in self.exclude:
            return None
        shammed = f"sham {self.sham}" if self.sham and skill == self.skill else "real"
        return f"{shammed} as of {self.revision}" if self.revision else shammed


def declared(arm: Arm, skill: str, installed: Mapping[str, Skill], instructions: bytes) -> Declared:
    """What is recorded of an arm: `installed` by skill id, `instructions` as appended."""
    return Declared(
        skill=skill,
        exclude=arm.exclude if arm.exclude == "all" else tuple(arm.exclude),
        sham=f"description {arm.sham.description}, body {arm.sham.body}" if arm.sham else None,
        revision=arm.revision,
        permissions=arm.permissions,
        instructions=instructions.decode("utf-8", "replace"),
        skills={
            skill_id: InstalledSkill(name=one.name, description=one.description, sha256=_digest(one))
            for skill_id, one in sorted(installed.items())
        },
    )


def _digest(skill: Skill) -> str:
    total = hashlib.sha256()
    for name, (mode, content) in sorted(skill.files.items()):
        total.update(f"{name}\0{mode & 0o111}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()
