"""Recorded runs of a block held against each other: a first request that differs by more than its arm declares voids its run.

The rule is :mod:`pytest_skilleval.core.arm_equality`'s; here are the files: ``arm.json`` and ``requests.jsonl`` of each run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from pytest_skilleval.archive import Archive, RunFolder
from pytest_skilleval.core.arm_equality import Side, compare
from pytest_skilleval.core.declared import FILE, Declared
from pytest_skilleval.core.errors import ArmError
from pytest_skilleval.core.model_requests import Body
from pytest_skilleval.core.record import MeasuredRun, RunRecord
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.values import from_lines

COMPARED = "first_request"
"""Name of the provenance of a run whose first request was compared with those of its block."""
EQUAL = "differs in its block by the declared bytes only"


def held_against_each_other(archive: Archive, runs: Iterable[MeasuredRun]) -> tuple[MeasuredRun, ...]:
    """The same runs; those that differ from their block by undeclared bytes are void, and warned of is what was cut differently.

    Runs without a gateway, runs that were not measured, and a run that is alone in its block are as they were.
    """
    runs = tuple(runs)
    blocks: dict[tuple[int, str, str], list[MeasuredRun]] = defaultdict(list)
    for run in runs:
        if run.status == "scored" and run.row.rehearsal is None:
            blocks[run.row.block, run.row.agent, run.row.model].append(run)
    found: dict[str, MeasuredRun] = {}
    for block in blocks.values():
        sides = {run.row.run_id: (run, side) for run in block if (side := _side(archive, run)) is not None}
        if len(sides) > 1:
            found |= _compared(sides)
    return tuple(found.get(run.row.run_id, run) for run in runs)


def _side(archive: Archive, run: MeasuredRun) -> Side | None:
    folder = archive.run(run.row.run_id)
    body = _first_body(folder)
    if not body or not (folder.path / FILE).exists():
        return None
    return Side(run_id=run.row.run_id, arm=run.row.arm, declared=folder.read(FILE, Declared), body=body)


def _first_body(folder: RunFolder) -> Body:
    """The run's first model call; only as much of the file is read as that takes."""
    try:
        with (folder.path / "requests.jsonl").open("rb") as lines:
            return next((body for line in lines if (body := reading.first_request(from_lines(line)))), {})
    except FileNotFoundError:
        return {}


def _compared(sides: Mapping[str, tuple[MeasuredRun, Side]]) -> dict[str, MeasuredRun]:
    found = compare([side for _, side in sides.values()])
    void = {one.run_id: one.reason for one in found.unequal}
    warnings = (
        (f"the arms of a block show {', '.join(found.recut)} cut differently: they list more or fewer skills",) if found.recut else ()
    )
    return {run_id: _void(run, void[run_id]) if run_id in void else _equal(run, warnings) for run_id, (run, _) in sides.items()}


def _void(run: MeasuredRun, reason: str) -> MeasuredRun:
    detail = f"the first request differs in its block by more than the arm {run.row.arm} declares: {reason}"
    record = msgspec.structs.replace(_record(run), status="void", blame=ArmError.blame, detail=detail)
    return MeasuredRun(row=run.row, record=record, family=run.family, expects=run.expects)


def _equal(run: MeasuredRun, warnings: tuple[str, ...]) -> MeasuredRun:
    record = _record(run)
    record = msgspec.structs.replace(record, provenance={**record.provenance, COMPARED: EQUAL}, warnings=(*record.warnings, *warnings))
    return msgspec.structs.replace(run, record=record)


def _record(run: MeasuredRun) -> RunRecord:
    assert run.record is not None  # a scored run has one
    return run.record
