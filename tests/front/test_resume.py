"""--skill-resume: going on with a results folder."""

from __future__ import annotations

import json

RESUME = "--skill-resume=skill-results/first"


def first_session(project, *args: str) -> None:
    """A session of which one run was not measured, in skill-results/first."""
    project.spec()
    project.behaves({"one.with.*.r1": "blame:sandbox"})
    project.evaluate(*args)
    project.results().rename(project.path / "skill-results/first")
    (project.path / "diary.txt").unlink()
    project.behaves({})


def resume(project, *args: str):
    """Go on with skill-results/first."""
    return project.run("--skill-sandbox=none", RESUME, *args)


def test_only_what_is_missing_is_made(project):
    """Runs that were not measured or left out are made in the same folder; the whole is reported, and no longer partial."""
    first_session(project, "-k", "one")
    result = resume(project)
    assert result.ret == 0
    assert sorted(project.opened()) == sorted(
        ["one.with.scripted.default.r1", *(f"two.{arm}.scripted.default.r{n}" for arm in ("with", "without") for n in (1, 2))]
    )
    assert [path.name for path in (project.path / "skill-results").iterdir()] == ["first"]
    report = json.loads((project.path / "skill-results/first/report.json").read_text())
    assert len(report["runs"]) == 8
    assert report["partial"] is False
    assert (project.path / "skill-results/first/runs/one.with.scripted.default.r1/attempts/1/run.json").exists()
    assert "3 of them are measured already" in result.stdout.str()


def test_the_plan_stands(project):
    """Options that would change the plan are refused, and so is a spec that changed."""
    first_session(project)
    refused = resume(project, "--skill-arms=with")
    assert refused.ret == 4
    assert "leave out --skill-arms" in refused.stderr.str()
    spec = project.path / "specs/tidy-up/spec.yaml"
    spec.write_text(spec.read_text().replace("repeats: 2", "repeats: 3"))
    changed = resume(project)
    assert changed.ret == 4
    said = " ".join(changed.stderr.str().split())
    assert "is not what" in said
    assert "what differs: defaults" in said
    assert "put back the spec that was locked" in said


def test_other_contrasts_are_another_spec(project):
    """What is compared is locked, too: a contrast added after the first runs is named and refused, and nothing is run."""
    first_session(project)
    spec = project.path / "specs/tidy-up/spec.yaml"
    spec.write_text(spec.read_text().replace("[[without, with]]", "[[with, without]]"))
    refused = resume(project)
    assert refused.ret == 4
    assert "the primary contrasts" in " ".join(refused.stderr.str().split())
    assert project.opened() == []


def test_looks_are_fixed(project):
    """Looks that the first plan had not can't be added, nor taken away."""
    first_session(project)
    refused = resume(project, "--skill-looks")
    assert refused.ret == 4
    assert "leave out --skill-looks" in refused.stderr.str()


def test_nothing_is_missing(project):
    """A folder in which every run is measured is refused, with the command that shows it."""
    project.spec()
    project.evaluate()
    project.results().rename(project.path / "skill-results/first")
    result = resume(project)
    assert result.ret == 4
    assert "all 8 runs are measured" in result.stderr.str()


def test_no_results_folder(project):
    """Anything but a results folder is refused."""
    project.spec()
    result = resume(project)
    assert result.ret == 4
    assert "no plan.json in it" in result.stderr.str()
