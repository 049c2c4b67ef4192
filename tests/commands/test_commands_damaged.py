"""``skilleval report`` on folders that were edited, damaged or can't be written: exit 4 with the mend, or the run is left aside."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commands_recorded import Skilleval, record_session, write_spec

from pytest_skilleval.gateway.values import RequestRecord, to_lines


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


def test_rehearsals_are_no_evaluation(recorded: Path, skilleval: Skilleval) -> None:
    """A folder of rehearsals is passed over and named, and no report is written into it; the others are reported on."""
    played = recorded.with_name("20260101T000000Z-tidy-up")
    shutil.copytree(recorded, played)
    plan = json.loads((played / "plan.json").read_text())
    (played / "plan.json").write_text(json.dumps(plan | {"rehearsal": True}))
    code, output, errors = skilleval("report", recorded.parent)
    assert code == 0
    assert f"{played}: passed over, it holds rehearsals" in errors
    assert not (played / "report.json").exists()
    assert (recorded / "report.json").exists()
    assert "2 runs" in output


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


def test_requests_that_cannot_be_read_are_counted(recorded: Path, skilleval: Skilleval) -> None:
    """Damaged lines of requests.jsonl are counted and told as a warning of their run; the run is scored by the others."""
    call = RequestRecord(number=1, at=0.0, api="anthropic", method="POST", path="/v1/messages", model="m", status=200)
    runs = recorded / "runs"
    (runs / "case-0.with.scripted.default.r1" / "requests.jsonl").write_bytes(to_lines([call]) + b'{"number": 2, "at\n\xff\n')
    (runs / "case-0.without.scripted.default.r1" / "requests.jsonl").write_bytes(to_lines([call]))
    code, output, _ = skilleval("report", recorded)
    assert code == 0
    told = [line for line in _warnings(recorded) if "requests.jsonl" in line]
    assert told == [
        "case-0.with.scripted.default.r1: 2 lines of requests.jsonl can't be read and left out; its tokens, money and dose may be too low"
    ]
    assert "2 lines of requests.jsonl" in " ".join(output.split())


def test_a_masked_secret_is_a_warning(recorded: Path, skilleval: Skilleval) -> None:
    """How often a credential had to be masked, and in which runs, is a warning and in the provenance; none is not told."""
    assert skilleval("report", recorded)[0] == 0
    assert not [line for line in _warnings(recorded) if "masked" in line]
    record = recorded / "runs" / "case-0.with.scripted.default.r1" / "run.json"
    text = record.read_text()
    none = '"masked_secrets": 0'
    assert text.count(none) == 2, "in its one turn, and besides"
    record.write_text(text.replace(none, '"masked_secrets": 1', 1).replace(none, '"masked_secrets": 2'))
    assert skilleval("report", recorded)[0] == 0
    (told,) = [line for line in _warnings(recorded) if "masked" in line]
    assert "3 times in 1 run (case-0.with.scripted.default.r1)" in told
    assert json.loads((recorded / "report.json").read_bytes())["provenance"]["session"]["masked_secrets"] == 3


def _warnings(folder: Path) -> list[str]:
    warnings: list[str] = json.loads((folder / "report.json").read_bytes())["warnings"]
    return warnings
