"""What each arm's skill listing takes of the agent's budget for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_skilleval.core import listing as budgets
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.cells import Cells, Group
from pytest_skilleval.report.rates import KINDS
from pytest_skilleval.report.values import Listing
from pytest_skilleval.report.words import listing, named, plural

CHARACTERS = "arm.listing_characters"
NOT_RECORDED = "the runs don't tell the size of their listing"


def listings(cells: Cells) -> tuple[Listing, ...]:
    """One row per agent, model and arm."""
    return tuple(_listing(arm, group, runs) for group in cells.groups for arm in cells.arms if (runs := _recorded(cells, arm, group)))


def listing_warnings(rows: Sequence[Listing]) -> Iterator[str]:
    """One sentence per agent and model whose listing does not fit, or is cut differently in the arms."""
    for group in dict.fromkeys(Group(row.agent, row.model) for row in rows):
        mine = [row for row in rows if (row.agent, row.model) == group]
        full = [row for row in mine if row.over or row.shortened_runs]
        if full:
            yield f"{named(group)}: {_full(full)}{_unequal(mine)}"


def _recorded(cells: Cells, arm: str, group: Group) -> list[MeasuredRun]:
    return [run for run in cells.runs_of(arm, group, KINDS) if run.record]


def _listing(arm: str, group: Group, runs: Sequence[MeasuredRun]) -> Listing:
    told = [run.record.provenance[CHARACTERS] for run in runs if run.record and CHARACTERS in run.record.provenance]
    sizes = [int(one) for one in told if one.isdecimal()]
    cut = [{skill for text in run.record.warnings for skill in budgets.shortened(text)} for run in runs if run.record]
    budget = budgets.shipped().of(group.agent, group.model)
    return Listing(
        arm=arm,
        agent=group.agent,
        model=group.model,
        runs=len(runs),
        fewest_characters=min(sizes, default=None),
        most_characters=max(sizes, default=None),
        budget=budget.characters if budget else None,
        rule=f"{budget.rule} ({budgets.shipped().dated})" if budget else "this agent's budget is not known",
        over=max(sizes) > budget.characters if budget and sizes else None,
        shortened_runs=sum(map(bool, cut)),
        shortened=dict(sorted(Counter(skill for of_run in cut for skill in of_run).items())),
        reason=None if sizes else NOT_RECORDED,
    )


def _full(rows: Sequence[Listing]) -> str:
    budget = f"{rows[0].budget:,} characters" if rows[0].budget else "size not known"
    beside = ", of which its own skills take a part" if any(row.shortened_runs and not row.over for row in rows) else ""
    skills = sorted({skill for row in rows for skill in row.shortened})
    seen = f"; the model saw no whole description of {listing(skills)}" if skills else ""
    return f"the agent's listing budget ({budget}{beside}) is full in {', '.join(map(_arm, rows))}{seen}"


def _arm(row: Listing) -> str:
    size = [f"{row.most_characters:,} characters"] if row.most_characters is not None else []
    cut = [f"cut in {row.shortened_runs} of {plural(row.runs, 'run')}"] if row.shortened_runs else []
    return f"{row.arm} ({', '.join([*size, *cut])})"


def _unequal(rows: Sequence[Listing]) -> str:
    """Of skills that only some arms cut; arms that list nothing have nothing to cut."""
    shown = {frozenset(row.shortened) for row in rows if row.most_characters != 0}
    return "; the arms differ in what is cut, so they differ in more than they declare" if len(shown) > 1 else ""
