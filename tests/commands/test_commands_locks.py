"""``skilleval report --spec``: a spec other than the locked one is refused; with ``--exploratory`` it scores, and tests nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands_recorded import HEAD, Skilleval, record_session, write_spec

from pytest_skilleval.report.design import STAMPS
from pytest_skilleval.report.values import Document

WITHOUT = ["ppp", "pff", "fff", "ppf", "fff", "ppf", "pff", "ppp"]
WITH = ["ppp", "ppp", "ppp", "ppf", "ppp", "ppp", "pff", "ppp"]
GATE = "gate: {improve: {at_least: 0.05, question: these_cases}}\n"


@pytest.fixture
def recorded(project: Path) -> Path:
    """A live session of eight cases that clearly changed, with a gate that it meets."""
    spec = write_spec(project)
    spec.write_text(spec.read_text() + GATE)
    return record_session(spec, {"without": WITHOUT, "with": WITH})


def report_of(folder: Path) -> dict[str, Any]:
    """What report.json says."""
    return json.loads((folder / "report.json").read_text())


def test_the_locked_spec_keeps_its_primary_analysis(recorded: Path, project: Path, skilleval: Skilleval) -> None:
    """The recorded spec, and the very same spec given by hand, test the primary contrast; the report names lock and contrasts."""
    for arguments in ((), ("--spec", project / "specs/tidy-up/spec.yaml")):
        code, out, _ = skilleval("report", recorded, "--gate", *arguments)
        made = report_of(recorded)
        assert code == 0
        assert made["effects"][0]["primary"] is True
        assert made["effects"][0]["verdict"] == "changed these cases"
        assert made["design"]["changed"] == []
        assert made["design"]["lock"] == json.loads((recorded / "plan.json").read_text())["locks"]["tidy-up"]
        assert made["design"]["primary"] == [["without", "with"]]
        assert "another spec" not in out


CHANGES = pytest.mark.parametrize(
    ("change", "named"),
    [
        (("says-yes, reply: 'yes'", "says-yes, reply: '(?i)yes'"), "case case-0: turns"),
        (("skill: tidy-up\n", "skill: tidy-up\nsummary: Another word.\n"), "summary"),
        (("cases:\n", "# a remark\ncases:\n"), "only comments, or files that the spec refers to"),
        (("family: case-7", "family: case-6"), "case case-7: family"),
        (("[[without, with]]", "[[bare, with], [without, with]]"), "the primary contrasts"),
        (("at_least: 0.05", "at_least: 0.01"), "gate"),
    ],
)
"""What may change in a spec after its first run, and how that is named."""


@CHANGES
def test_a_changed_spec_is_refused_under_the_same_lock(
    recorded: Path, project: Path, skilleval: Skilleval, change: tuple[str, str], named: str
) -> None:
    """It says what differs, by which hashes, and what to do; no report is written, and what stood there stays."""
    skilleval("report", recorded)
    before = (recorded / "report.json").read_bytes()
    other = project / "specs/tidy-up/spec.yaml"
    other.write_text(other.read_text().replace(*change))
    assert skilleval("report", recorded, "--spec", other)[0] == 4
    code, out, told = skilleval("report", recorded, "--spec", other, "--gate")
    assert (code, out) == (6, "")
    assert named in told
    assert f"locked {json.loads((recorded / 'plan.json').read_text())['locks']['tidy-up'][:12]}, now " in told
    assert "put back the spec that was locked; for figures without any verdict, add --exploratory" in told
    assert (recorded / "report.json").read_bytes() == before
    assert skilleval("report", recorded, "--gate")[0] == 0


@pytest.mark.parametrize(("dirty", "told"), [("no", "that of commit 0123456789ab;"), ("yes", "that was locked;")])
def test_the_commit_of_the_locked_spec_is_named(recorded: Path, project: Path, skilleval: Skilleval, dirty: str, told: str) -> None:
    """Where the session ran from a commit without changes of its own; else the commit may hold another spec."""
    (recorded / "provenance.json").write_text(json.dumps({"repository.commit": "0123456789abcdef", "repository.dirty": dirty}))
    other = project / "specs/tidy-up/spec.yaml"
    other.write_text(other.read_text() + "# later\n")
    assert told in skilleval("report", recorded, "--spec", other)[2]


def test_a_recorded_spec_that_is_not_the_locked_one_is_refused(recorded: Path, skilleval: Skilleval) -> None:
    """Whoever puts another spec.json into the folder gets no verdict by it either."""
    place = recorded / "spec.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"text_hash": "0" * 64}))
    assert skilleval("report", recorded, "--gate")[0] == 6


def test_one_refused_folder_stops_no_other(recorded: Path, project: Path, skilleval: Skilleval) -> None:
    """Folders that locked the given spec are reported all the same."""
    other = project / "specs/tidy-up/spec.yaml"
    other.write_text(other.read_text() + "# later\n")
    later = record_session(other, {"without": WITHOUT, "with": WITH})
    code, out, told = skilleval("report", recorded, later, "--spec", other)
    assert code == 4
    assert str(recorded) in told
    assert str(later) not in told
    assert "shown for these cases" in " ".join(out.split())


@CHANGES
def test_a_changed_spec_makes_everything_exploratory(
    recorded: Path, project: Path, skilleval: Skilleval, change: tuple[str, str], named: str
) -> None:
    """A changed spec still scores, but it tests nothing, decides no gate, and the warning says what changed."""
    other = project / "specs/tidy-up/spec.yaml"
    assert change[0] in other.read_text()
    other.write_text(other.read_text().replace(*change))
    code, out, _ = skilleval("report", recorded, "--spec", other, "--exploratory", "--gate")
    made = report_of(recorded)
    assert code == 6
    assert not any(effect["primary"] or effect["verdict"] or effect["holm_p"] for effect in made["effects"])
    assert not any(effect["primary"] or effect["claim"] for effect in made["harm_effects"])
    assert (made["gate"]["decision"], made["gate"]["reason"]) == (
        "undecided",
        "the spec is not the one that was locked before the first run",
    )
    assert set(made["design"]["stamps"].values()) == {"exploratory"}
    assert named in made["design"]["changed"]
    assert named in " ".join(out.split())
    assert any("every figure is exploratory" in warning and named in warning for warning in made["warnings"])
    assert made["effects"][0]["difference"] == pytest.approx(0.375)
    markdown = (recorded / "report.md").read_text()
    assert "every figure here is exploratory" in markdown
    assert "(exploratory)" in markdown


def test_cases_that_came_and_went_are_named(recorded: Path, project: Path, skilleval: Skilleval) -> None:
    """A case that is new is named; so is one that is gone."""
    other = write_spec(project, cases=9, head=HEAD)
    skilleval("report", recorded, "--spec", other, "--exploratory")
    assert "case case-8 is new" in report_of(recorded)["design"]["changed"]


def test_every_figure_has_a_stamp(recorded: Path, skilleval: Skilleval) -> None:
    """Every part of report.json that holds figures says primary, exploratory or by row, and rows by row say it."""
    skilleval("report", recorded)
    made = report_of(recorded)
    plain = {"format", "generated_at", "skill", "simulated", "partial", "notice", "design", "headline", "runs", "warnings", "provenance"}
    assert {field.encode_name for field in msgspec.structs.fields(Document)} - plain == set(STAMPS) == set(made["design"]["stamps"])
    for key, stamp in made["design"]["stamps"].items():
        if stamp == "by row":
            assert all(isinstance(row["primary"], bool) for row in made[key])
    for page in ("report.md", "report.html"):
        text = (recorded / page).read_text()
        assert "What was fixed beforehand" in text
        assert "Exploratory: described, not tested." in text
