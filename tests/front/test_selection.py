"""What pytest's own selection leaves out is recorded, and makes a session partial."""

from __future__ import annotations

import json

import pytest


def left_out(project) -> dict[str, str]:
    """Run id -> reason of the rows that are not selected."""
    return {row["run_id"]: row["reason"] for row in project.plan()["rows"] if not row["selected"]}


def report(project) -> dict[str, object]:
    """What report.json says."""
    return json.loads((project.results() / "report.json").read_text())


def test_a_whole_session_is_not_partial(project):
    """An evaluation as asked is not partial, however few arms and cases it asks for."""
    project.spec()
    project.evaluate("--skill-case=one", "--skill-repeats=1")
    assert not left_out(project)
    assert report(project)["partial"] is False


@pytest.mark.parametrize(("flags", "reason"), [(("-k", "one"), "-k 'one'"), (("-m", "skill_run(case='one')"), "-m")])
def test_keywords_and_markers(project, flags, reason):
    """-k and -m leave rows out by name; the session is partial and no gate is decided."""
    project.spec(extra="gate: {improve: {at_least: 0.2}}\n")
    result = project.evaluate("--skill-gate", *flags)
    assert set(left_out(project)) == {row["run_id"] for row in project.plan()["rows"] if row["case"] == "two"}
    assert all(reason in text for text in left_out(project).values())
    assert report(project)["partial"] is True
    assert result.ret == 6
    assert "4 of the plan left out, so this session is partial" in result.stdout.str()


def test_selection_under_xdist(project):
    """The controller, which collects nothing, learns the selection from its workers."""
    project.spec()
    result = project.evaluate("-n", "2", "-k", "one and with and not without", apart=True)
    assert result.ret == 0
    assert {row["run_id"] for row in project.plan()["rows"] if row["selected"]} == {f"one.with.scripted.default.r{n}" for n in (1, 2)}
    assert report(project)["partial"] is True


def test_nothing_selected_under_xdist(project):
    """Everything deselected on workers: exit 5."""
    project.spec()
    result = project.evaluate("-n", "2", "-k", "nosuchthing", apart=True)
    assert result.ret == 5
    assert project.last_line(result) == "Exit 5: nothing was selected"


def test_stop_at_the_first_error(project):
    """-x leaves the rest not reached; what was measured is reported."""
    project.spec()
    project.behaves({"*": "blame:seed"})
    result = project.evaluate("-x")
    assert result.ret == 1
    assert len(project.opened()) == 1
    assert len(left_out(project)) == 7
    assert all("not reached" in text for text in left_out(project).values())


def test_last_failed(project):
    """--lf runs what could not be measured, as a partial session."""
    project.spec()
    project.behaves({"one.with.*.r1": "blame:seed"})
    flags = ("-p", "no:randomly", "--skill-eval=tidy-up", "--skill-agent=scripted", "--skill-sandbox=none")
    project.pytester.runpytest_inprocess(*flags)
    project.behaves({})
    for folder in project.path.glob("skill-results/*"):
        folder.rename(project.path / "first")
    result = project.pytester.runpytest_inprocess(*flags, "--lf")
    result.assert_outcomes(passed=1, deselected=7)
    assert set(left_out(project).values()) == {"left out by --lf"}


def test_the_plan_is_on_disk_before_the_first_run(project):
    """plan.json and spec.json exist when the first run starts."""
    project.spec()
    project.conftest(
        """
        def pytest_skilleval_begin(plan, folders):
            for folder in folders.values():
                assert (folder / "plan.json").exists() and (folder / "spec.json").exists()
            note("begin", type("Job", (), {"row": plan.rows[0]}))
        """
    )
    project.evaluate()
    assert [what for what, *_ in project.diary()][:2] == ["begin", "open"]


def test_the_cost_limit_stops_the_session(project):
    """Once the money is spent nothing more is started, and the rest is not reached."""
    project.spec()
    project.conftest(
        """
        import msgspec
        import pytest

        @pytest.fixture
        def skill_measured(skill_measured):
            record = msgspec.structs.replace(skill_measured.record, simulated=False)
            return msgspec.structs.replace(skill_measured, cost_usd=1.0, record=record)
        """
    )
    result = project.evaluate("--skill-max-cost=3")
    assert len(project.opened()) == 3
    assert len(left_out(project)) == 5
    assert all("cost limit of $3.00" in text for text in left_out(project).values())
    result.assert_outcomes(passed=3, skipped=5)
