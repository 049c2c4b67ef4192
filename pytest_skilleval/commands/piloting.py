"""A pilot: recorded runs of a spec, for what they tell about the size of the next evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.statistics.planning import Price
    from pytest_skilleval.core.statistics.values import PairedCounts
    from pytest_skilleval.report.cells import Cells, Group


@dataclass(frozen=True, slots=True)
class Pilot:
    """The first primary contrast of a recorded session, for one agent and model, over the cases to improve."""

    pairs: tuple[PairedCounts, ...]
    price: Price
    """Of one run of these cases."""
    agent: str
    model: str
    simulated: bool


def pilot_in(folder: Path, skill: str, *, agent: str | None, model: str | None) -> Pilot:
    """Read a results folder of `skill`.

    Raises
    ------
    UsageProblem
        It is of another skill, compared nothing, or holds several agents or models and none is named.
    ArchiveError
        It is no results folder, or can't be read.
    """
    from pytest_skilleval.archive import PLAN, Archive
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.report.cells import Cells
    from pytest_skilleval.report.comparisons import case_pairs, contrasts, paired
    from pytest_skilleval.report.facts import SpecFacts
    from pytest_skilleval.report.verdicts import price_of
    from pytest_skilleval.rescoring import measure, recorded_spec

    archive = Archive.open(folder)
    plan, loaded = archive.read(PLAN, Plan), recorded_spec(archive)
    if loaded.spec.skill != skill:
        raise UsageProblem(f"--results: {folder} is of {loaded.spec.skill}, not of {skill}")
    measured, _ = measure(archive, loaded, plan.rows)
    facts = SpecFacts.of(loaded)
    cells = Cells.of(measured, tuple(facts.arms))
    group = _group(cells, folder, agent, model)
    compared = [pair for pair, primary in contrasts(cells, facts) if primary]
    cases = case_pairs(cells, "outcome", compared[0], group) if compared else []
    chosen = [one for one in cases if one.expects == "improve"] or cases
    if not chosen:
        raise UsageProblem(f"--results: {folder} has no primary contrast with outcome cases in both arms")
    runs = [run for one in chosen for run in (*one.before, *one.after)]
    simulated = any(run.record.simulated for run in runs if run.record)
    return Pilot(tuple(map(paired, chosen)), price_of(runs), *group, simulated)


def _group(cells: Cells, folder: Path, agent: str | None, model: str | None) -> Group:
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.report.words import named

    fitting = [group for group in cells.groups if agent in (None, group.agent) and model in (None, group.model)]
    if len(fitting) == 1:
        return fitting[0]
    there = _listed([named(group) for group in cells.groups])
    raise UsageProblem(f"--results: {folder} holds {there}; name one of them with --agent and --model")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "no runs"
