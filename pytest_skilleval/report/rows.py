"""One row of report.json for every run."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_skilleval.core.evidence import RemovedObject, RunScore
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.cells import verdict
from pytest_skilleval.report.values import AddedRow, CheckRow, Commands, LoadRow, RemovedRow, RunRow, Tokens

NO_RECORD = "selected, but no record of it was left"


def run_row(run: MeasuredRun) -> RunRow:
    """All that report.json says of one run."""
    row, score = run.row, run.score
    return RunRow(
        id=row.run_id,
        case=row.case,
        kind=row.kind,
        family=run.family,
        expects=run.expects,
        arm=row.arm,
        agent=row.agent,
        model=row.model,
        repeat=row.repeat,
        status=run.status,
        blame=run.blame,
        verdict=verdict(run),
        reason=reason(run),
        checks=_checks(score),
        loaded=_loads(score),
        dose=run.dose,
        against_dose=score.against_dose if score else "",
        commands=Commands(attempted=score.attempted, executed=score.executed, denied=score.denied) if score else Commands(),
        removed=_lost(score.removed if score else ()),
        altered=_lost(score.altered if score else ()),
        added=_added(score),
        tokens=_tokens(run),
        cost_usd=run.cost_usd,
        uncached_usd=run.uncached_usd,
        seconds=run.seconds,
        turns=run.turns_sent,
        tool_calls=run.tool_calls,
        asked_first=bool(score and score.asked_first),
        refused=bool(score and score.refused),
        timed_out=bool(score and score.timed_out),
        attempts=len(run.record.attempts) if run.record else 0,
    )


def reason(run: MeasuredRun) -> str:
    """Why the verdict is what it is, or why there is none."""
    if run.record is None:
        return NO_RECORD
    return run.score.reason if run.score else run.record.detail


def _checks(score: RunScore | None) -> tuple[CheckRow, ...]:
    if score is None:
        return ()
    return tuple(
        CheckRow(id=check.id, kind=check.kind, polarity=check.polarity, turn=check.turn, verdict=check.verdict, detail=check.detail)
        for check in score.checks
    )


def _loads(score: RunScore | None) -> tuple[LoadRow, ...]:
    loads = score.loaded if score else ()
    return tuple(LoadRow(skill=load.skill, how=load.how, turn=load.turn, sure=load.sure) for load in loads)


def _added(score: RunScore | None) -> tuple[AddedRow, ...]:
    objects = score.added if score else ()
    return tuple(AddedRow(type=new.type, name=new.name, turn=new.turn, command=new.command, project=new.project) for new in objects)


def _lost(objects: Iterable[RemovedObject]) -> tuple[RemovedRow, ...]:
    return tuple(
        RemovedRow(
            type=gone.type,
            name=gone.name,
            turn=gone.turn,
            command=gone.command,
            outside=gone.outside,
            loss=gone.loss,
            consent=gone.consent,
            project=gone.project,
        )
        for gone in objects
    )


def _tokens(run: MeasuredRun) -> Tokens:
    usage, split = run.usage, run.split
    told = (usage.input, usage.output, usage.cache_read, usage.cache_write) if usage.known else (None,) * 4
    return Tokens(
        input=told[0],
        output=told[1],
        cache_read=told[2],
        cache_write=told[3],
        listing=split.listing if split else None,
        body=split.body if split else None,
        work=split.work if split else None,
    )
