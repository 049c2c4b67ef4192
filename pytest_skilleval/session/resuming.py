"""``--skill-resume``: going on with a results folder. Its plan stands; only runs that were not measured are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_skilleval import options
from pytest_skilleval.archive import PLAN, PROVENANCE, Archive
from pytest_skilleval.core.choosing import choose
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.locks import departures, refusal
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.rescoring import recorded_spec
from pytest_skilleval.session.settings import Settings

FIXED = (
    options.AGENT,
    options.MODEL,
    options.ARMS,
    options.CASE,
    options.REPEATS,
    options.LOOKS,
    options.PRICES,
    options.RANDOM_SEED,
    options.RELEASE,
    options.REHEARSE,
)
"""Options that made the plan, or by which its runs are counted; they can't change it any more."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """An earlier session: its plan, every row selected again, and which rows are measured already."""

    archive: Archive
    plan: Plan
    file: Path
    done: frozenset[tuple[str, str]]

    @property
    def skill(self) -> str:
        """The skill under test."""
        return self.plan.skills[0]


def resumed(config: pytest.Config, settings: Settings) -> Resumed:
    """Read the folder that --skill-resume names.

    Raises
    ------
    UsageProblem
        The spec is another than then, an option would change the plan, or nothing is missing.
    ArchiveError
        It is no results folder, or can't be read.
    """
    said = [option.flag for option in FIXED if config.getoption(option.dest) is not None]
    if said:
        raise UsageProblem(f"{options.RESUME.flag} goes on with the plan of the folder; leave out {', '.join(said)}")
    assert settings.resume is not None
    archive = Archive.open(settings.resume)
    plan = archive.read(PLAN, Plan)
    skill = plan.skills[0]
    if settings.skills:
        choose(settings.skills, (skill,), what=f"skill in {settings.resume}:", option=options.EVAL.flag)
    file = options.specs_folder(config) / skill / "spec.yaml"
    _same_spec(archive, plan, file)
    done = frozenset((skill, run_id) for run_id, record in archive.records()[0].items() if record.status == "scored")
    rows = tuple(row if plan.beyond(row) else msgspec.structs.replace(row, selected=True, reason=None) for row in plan.rows)
    if all(row.key in done for row in rows if row.selected):
        raise UsageProblem(f"{options.RESUME.flag}: all {len(done)} runs are measured; see them with `skilleval report {settings.resume}`")
    return Resumed(archive, msgspec.structs.replace(plan, rows=rows), file, done)


def _same_spec(archive: Archive, plan: Plan, file: Path) -> None:
    """UsageProblem when the spec is no longer what the plan locked."""
    now = load_spec(file)
    changed = departures(plan, recorded_spec(archive), now)
    if changed:
        told = refusal(plan, now, changed, archive.read(PROVENANCE, dict[str, Any]))
        raise UsageProblem(
            f"{options.RESUME.flag}: {file} is not what {archive.folder} was made with; {told}, or start a session of its own"
        )
