"""What rescoring finds out about money and tokens from the requests that the gateway recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_recorded import record_session, write_spec
from msgspec.structs import replace

from pytest_skilleval.archive import PLAN, Archive
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway.values import RequestRecord, to_lines
from pytest_skilleval.rescoring import measure, recorded_spec

MODEL = "claude-opus-4-8"


def measured(project: Path, usages: list[Usage], sizes: dict[str, str]) -> MeasuredRun:
    """A run whose model calls used this, each with half of the skill's text in context, and whose arm recorded these sizes."""
    folder = record_session(write_spec(project, cases=1), {"without": ["p"], "with": ["p"]})
    archive = Archive.open(folder)
    plan, spec = archive.read(PLAN, Plan), recorded_spec(archive)
    row = next(row for row in plan.rows if row.arm == "with")
    place = archive.run(row.run_id)
    place.finish(replace(archive.records()[0][row.run_id], provenance=sizes))
    calls = [
        RequestRecord(
            number=number,
            at=0.0,
            api="anthropic",
            method="POST",
            path="/v1/messages",
            model=MODEL,
            status=200,
            usage=usage,
            dose=0.5,
            listed=("tidy-up",),
        )
        for number, usage in enumerate(usages, start=1)
    ]
    (place.path / "requests.jsonl").write_bytes(to_lines(calls))
    return measure(archive, spec, (row,))[0][0]


def test_cost_without_cache_does_not_depend_on_who_filled_it(project: Path) -> None:
    """A run that fills the cache and one that finds it full cost the same without one."""
    first = measured(project, [Usage(input=10, cache_write_5m=1000, output=5, known=True)], {})
    second = measured(project, [Usage(input=10, cache_read=1000, output=5, known=True)], {})
    assert first.uncached_usd is not None
    assert first.uncached_usd == pytest.approx(second.uncached_usd)


def test_tokens_are_split_by_recorded_sizes(project: Path) -> None:
    """Listing and body are those that the arm recorded; without their sizes nothing is split."""
    usages = [Usage(input=1000, output=20, known=True)] * 2
    told = measured(project, usages, {"arm.listing_characters": "400", "arm.body_characters": "800"})
    assert told.split is not None
    assert (told.split.listing, told.split.body, told.split.work) == (200, 200, 2040 - 400)
    assert measured(project, usages, {}).split is None
