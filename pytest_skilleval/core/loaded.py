"""A spec with everything its files refer to, read once and frozen: what planning, running and scoring work from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.errors import Fault
    from pytest_skilleval.core.spec import Spec

SKILL_FILE = "SKILL.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skin:
    """One set of names and ages; a block draws one, the same for all its arms. ``${key}`` in texts is replaced by a name."""

    names: Mapping[str, str] = field(default_factory=dict)
    age_days: float = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill of the catalogue.

    `files` maps a path relative to the skill's folder to (mode, bytes); symlinks are resolved or refused by the loader.
    """

    id: str
    name: str
    description: str
    body: str
    """SKILL.md below the front-matter, byte for byte."""
    files: Mapping[str, tuple[int, bytes]]
    hidden: bool = False
    """The skill says that no agent may load it by itself (``disable-model-invocation``, ``allow_implicit_invocation: false``)."""
    problems: tuple[Fault, ...] = ()
    """Where SKILL.md departs from the Agent Skills standard, and what of the folder can't be installed."""
    left_out: tuple[Fault, ...] = ()
    """Those of `problems` about what can't be installed: an arm that has the skill would have less of it than lies there."""
    refused_by: Mapping[str, str] = field(default_factory=dict)
    """Agent -> why it would not list this skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpec:
    """A valid spec and what belongs to it."""

    spec: Spec
    path: Path
    text_hash: str
    """SHA-256 of spec.yaml and every file it refers to."""
    case_lines: Mapping[str, int]
    """1-based line of each case, for locations in reports."""
    catalogue: Mapping[str, Skill]
    skins: tuple[Skin, ...] = (Skin(),)
    guards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Arm -> command prefixes its guard denies."""
    instructions: Mapping[str, bytes] = field(default_factory=dict)
    """Arm -> text appended to the stock instructions, byte for byte."""
    runbook_prompts: Mapping[int, str] = field(default_factory=dict)
    """Number -> title."""
    warnings: tuple[Fault, ...] = ()
    unproven: tuple[Fault, ...] = ()
    """Checks that no rehearsal trips or holds; also among the warnings, and errors under ``--skill-rehearse`` and a gate."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Every file the spec refers to, and all beside a seed in a folder of its own: path in the spec's folder -> bytes when loaded."""

    def text(self) -> bytes:
        """All that the spec, the files it refers to and the catalogue say."""
        skills = (skill.id.encode() + b"".join(content for _, content in skill.files.values()) for skill in self.catalogue.values())
        return b"\n".join([self.spec.model_dump_json().encode(), *self.files.values(), *skills])

    @property
    def folder(self) -> Path:
        """The folder of spec.yaml; relative paths in the spec start here."""
        return self.path.parent
