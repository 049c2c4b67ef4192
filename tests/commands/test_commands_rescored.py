"""What rescoring finds out about money and tokens from the requests that the gateway recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_recorded import HEAD, record_session, write_spec
from msgspec.structs import replace

from pytest_skilleval.archive import PLAN, Archive
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway.values import RequestRecord, to_lines
from pytest_skilleval.rescoring import measure, recorded_spec

MODEL = "claude-opus-4-8"


def measured(
    project: Path,
    usages: list[Usage],
    sizes: dict[str, str],
    *,
    doses: tuple[float, ...] = (0.5, 0.5),
    head: str = HEAD,
    stop_reason: str | None = None,
) -> MeasuredRun:
    """A run whose model calls used this, each with so much of the skill's text in context, and whose arm recorded these sizes.

    `stop_reason`: of the last call.
    """
    folder = record_session(write_spec(project, cases=1, head=head), {"without": ["p"], "with": ["p"]})
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
            dose=dose,
            turn=1,
            listed=("tidy-up",),
            stop_reason=stop_reason if number == len(usages) else None,
        )
        for number, (usage, dose) in enumerate(zip(usages, doses, strict=False), start=1)
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


CALLS = [Usage(input=10, output=5, known=True)] * 2


def test_loads_are_held_against_the_dose(project: Path) -> None:
    """Text that came before the model during the run, with no load to be seen, is told; text that was there from the start is not."""
    came = measured(project, CALLS, {}, doses=(0.0, 1.0))
    assert came.score is not None
    assert came.score.against_dose == "turn 1: 100 % of the skill's text was before the model, but no load was seen"
    there = measured(project, CALLS, {}, doses=(1.0, 1.0))
    assert there.score is not None
    assert there.score.against_dose == ""


def test_sham_is_not_held_against_the_dose_of_the_real_text(project: Path) -> None:
    """The gateway measures the catalogue's text; where the arm installs another one its dose tells nothing of loads."""
    sham = "real: {role: treatment}\n  with: {role: reference, sham: {description: real, body: inert}}"
    head = HEAD.replace("with: {role: treatment}", sham).replace("[[without, with]]", "[[without, real]]")
    shammed = measured(project, CALLS, {}, doses=(0.0, 1.0), head=head)
    assert shammed.score is not None
    assert shammed.score.against_dose == ""


def test_a_refusal_that_the_cli_does_not_tell_of_is_known_from_the_gateway(project: Path) -> None:
    """Codex shows an empty turn when the model refuses: the last model call of the turn tells that it did."""
    told = [measured(project, CALLS, {}, stop_reason=stop_reason).score for stop_reason in ("refusal", None)]
    assert [score.refused for score in told if score] == [True, False]
