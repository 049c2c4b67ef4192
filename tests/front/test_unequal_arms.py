"""Arms of a block that show more than they declare: such runs are void, live and offline, and the exit code says so."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SEEING = """
def pytest_skilleval_runner():
    return seen


def seen(job):
    '''The stand-in's run, with what a gateway would have seen of it and what the arm declared.'''
    import msgspec

    from pytest_skilleval.core.arms import installed_skills
    from pytest_skilleval.core.declared import FILE, declared
    from pytest_skilleval.core.model_requests import SKILLS_OF_CLAUDE
    from pytest_skilleval.gateway.values import RequestRecord, to_lines

    record = run(job)
    folder = job.archive.run(job.row.run_id)
    skills = installed_skills(job.arm, job.row.skill, job.loaded.catalogue)
    folder.write(FILE, declared(job.arm, job.row.skill, skills, job.loaded.instructions.get(job.row.arm, b"")))
    listing = "".join(f"- {one.name}: {one.description}\\n" for one in skills.values())
    extra = SMUGGLED.get(job.row.run_id, "")
    body = {"model": "m", "system": f"Be kind.{extra}", "messages": [{"role": "system", "content": f"{SKILLS_OF_CLAUDE}\\n\\n{listing}"}]}
    text = msgspec.json.encode(body).decode()
    call = RequestRecord(number=1, at=0.0, api="anthropic", method="POST", path="/v1/messages", model="m", body=text)
    (folder.path / "requests.jsonl").write_bytes(to_lines([call]))
    return record
"""


@pytest.fixture
def seeing(project):
    """A project of three arms whose runs have a first request; `smuggled` adds to those of some runs."""

    def make(smuggled=None):
        path = project.spec()
        more = "  other: {role: reference, exclude: [tidy-up]}\ncontrasts: {primary"
        path.write_text(path.read_text().replace("contrasts: {primary", more))
        project.conftest(f"SMUGGLED = {smuggled or {}!r}\n{SEEING}")
        return project

    return make


def runs_of(project):
    """Rows of report.json by run id."""
    return {run["id"]: run for run in json.loads((project.results() / "report.json").read_text())["runs"]}


def test_arms_that_differ_as_declared_are_measured(seeing):
    """Every run of every block is compared, and provenance says with what result."""
    project = seeing()
    result = project.evaluate("--skill-arms=without,with,other")
    assert result.ret == 0
    report = json.loads((project.results() / "report.json").read_text())
    assert report["provenance"]["shared"]["first_request"] == "differs in its block by the declared bytes only"


def test_a_smuggled_byte_voids_its_run(seeing):
    """The run that deviates is void, named with the line that differs; no figure counts it, and the session exits 1."""
    project = seeing({"one.with.scripted.default.r1": " Ask first."})
    result = project.evaluate("--skill-arms=without,with,other")
    assert result.ret == 1
    assert project.last_line(result) == "Exit 1: 1 of 12 runs could not be measured (arm 1)"
    void = {run_id: run for run_id, run in runs_of(project).items() if run["status"] == "void"}
    assert list(void) == ["one.with.scripted.default.r1"]
    assert (void["one.with.scripted.default.r1"]["blame"], void["one.with.scripted.default.r1"]["verdict"]) == ("arm", None)
    page = (project.results() / "report.md").read_text()
    assert "one.with.scripted.default.r1" in page
    assert "'Be kind. Ask first.' in system" in page
    rates = json.loads((project.results() / "report.json").read_text())["rates"]
    assert {rate["arm"]: (rate["scored"], rate["void"]) for rate in rates} == {"without": (4, 0), "with": (3, 1), "other": (4, 0)}


def test_of_two_arms_neither_is_averaged(seeing):
    """One against one: which of them is not as declared can't be told, so both runs are void."""
    project = seeing({"one.without.scripted.default.r2": " Hurry."})
    project.evaluate("--skill-arms=without,with")
    void = [run_id for run_id, run in runs_of(project).items() if run["status"] == "void"]
    assert sorted(void) == ["one.with.scripted.default.r2", "one.without.scripted.default.r2"]


def test_offline_it_is_found_again(seeing):
    """`skilleval report` comes to the same void runs from the recorded files."""
    project = seeing({"two.other.scripted.default.r1": " Hurry."})
    project.evaluate("--skill-arms=without,with,other")
    live = json.loads((project.results() / "report.json").read_text())
    command = [sys.executable, "-m", "pytest_skilleval", "report", str(project.results())]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    again = json.loads((project.results() / "report.json").read_text())
    assert again | {"generated_at": 0} == live | {"generated_at": 0}
    assert runs_of(project)["two.other.scripted.default.r1"]["status"] == "void"
