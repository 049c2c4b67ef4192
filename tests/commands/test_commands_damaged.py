"""``skilleval report`` on folders that were edited, damaged or can't be written: exit 4 with the mend, or the run is left aside."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_recorded import Skilleval, record_session, write_spec


@pytest.fixture
def recorded(project: Path) -> Path:
    """A results folder of one case."""
    return record_session(write_spec(project, cases=1), {"without": ["p"], "with": ["p"]}, simulated=True)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"case-0"', '"case-7"', "case 'case-7'"),
        ('"arm": "with"', '"arm": "wuth"', "arm 'wuth'"),
        ('"skin": 0', '"skin": 7', "skin 7"),
        ('"tidy-up"', '"mop-up"', "skill 'mop-up', no lock"),
    ],
)
def test_a_plan_that_does_not_fit(recorded: Path, skilleval: Skilleval, old: str, new: str, told: str) -> None:
    """A plan.json with rows that the spec does not have is refused: the file, what is wrong, the mend."""
    plan = recorded / "plan.json"
    text = plan.read_text()
    assert old in text
    plan.write_text(text.replace(old, new))
    code, _, errors = skilleval("report", recorded)
    assert code == 4
    assert f"{plan}: has {told}" in errors
    assert "put the recorded plan back" in errors


def test_a_damaged_spec(recorded: Path, skilleval: Skilleval) -> None:
    """A spec.json that is no spec is refused by its place."""
    spec = recorded / "spec.json"
    spec.write_text(spec.read_text().replace('"outcome"', '"outcomx"'))
    code, _, errors = skilleval("report", recorded)
    assert code == 4
    assert f"{spec}: damaged (cases.0.kind" in errors


def test_an_event_stream_that_cannot_be_read(recorded: Path, skilleval: Skilleval) -> None:
    """A run whose events can't be read is named and left aside; the other one is scored."""
    (recorded / "runs" / "case-0.with.scripted.default.r1" / "events.jsonl").mkdir()
    code, output, _ = skilleval("report", recorded)
    assert code == 1
    assert "1 of 2 runs could not be measured" in output
    assert "left aside as damaged: case-0.with.scripted.default.r1" in output


def test_a_report_that_cannot_be_written(recorded: Path, skilleval: Skilleval) -> None:
    """Where the report can't be written: 4, the path and the reason."""
    (recorded / "report.html").mkdir()
    code, _, errors = skilleval("report", recorded)
    assert code == 4
    assert f"{recorded / 'report.html'}: can't be read or written (Is a directory)" in errors
