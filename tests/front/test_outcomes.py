"""What becomes of a run, in pytest's words and in the exit code."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest


def test_a_fail_is_a_measurement(project):
    """A run whose checks are violated is shown as "not met", and the session exits 0."""
    project.spec()
    project.behaves({"*.without.*": "fail"})
    result = project.evaluate("-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*one[[]without-scripted-default-r1] NOT MET*", "*4 passed, 4 not met*"])


def test_strict_fails_treatments_only(project):
    """Under --skill-strict a treatment run that does not meet its checks is FAILED and exits 1; a baseline's stays a measurement."""
    project.spec()
    project.behaves({"*": "fail"})
    result = project.evaluate("--skill-strict")
    assert result.ret == 1
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["*4 failed, 4 not met*"])
    assert project.last_line(result).startswith("Exit 1: 4 runs of treatment arms failed")


@pytest.mark.parametrize("blame", ["sandbox", "seed", "agent_api", "agent_crash", "timeout_idle", "harness"])
def test_a_run_that_could_not_be_measured_is_an_error(project, blame):
    """Whatever keeps a run from being measured is an ERROR that names blame, detail, run and files, without a traceback; exit 1."""
    project.spec()
    project.behaves({"one.with.*.r1": f"blame:{blame}"})
    result = project.evaluate()
    assert result.ret == 1
    result.assert_outcomes(passed=7, errors=1)
    result.stdout.fnmatch_lines([f"not measured (error, blame {blame}): made up", "  run one.with.scripted.default.r1", "  files *"])
    result.stdout.no_fnmatch_line("*standin*")
    assert project.last_line(result).startswith("Exit 1: 1 of 8 runs could not be measured")


def test_a_contaminated_run_is_void(project):
    """A run whose arm was not as declared is an ERROR that says void."""
    project.spec()
    project.behaves({"one.with.*.r1": "void"})
    result = project.evaluate()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["void: the arm was not as declared: made up"])


def test_undecided_is_skipped_with_its_reason(project):
    """A run that no check decides is skipped, with the reason."""
    project.spec(cases=(CASE_JUDGED,))
    result = project.evaluate("-rs")
    assert result.ret == 0
    result.assert_outcomes(skipped=4)
    result.stdout.fnmatch_lines(["SKIPPED*undecided: *judge*"])


def test_a_bug_of_the_runner_costs_one_run(project):
    """An exception nobody foresaw is recorded as an error of the harness, and the other runs go on."""
    project.spec()
    project.behaves({"one.with.*.r1": "bug"})
    result = project.evaluate()
    result.assert_outcomes(passed=7, errors=1)
    record = json.loads((project.results() / "runs/one.with.scripted.default.r1/run.json").read_text())
    assert (record["status"], record["blame"]) == ("error", "harness")
    assert "a bug in the runner" in record["detail"]


def test_a_failed_teardown_is_a_warning(project):
    """Trouble after a run was recorded is a warning, even where warnings are errors; its figures stand."""
    project.spec()
    project.behaves({"one.with.*.r1": "messy"})
    result = project.evaluate("-W", "error")
    assert result.ret == 0
    result.assert_outcomes(passed=8, warnings=1)
    result.stdout.fnmatch_lines(["*TeardownWarning: the sandbox could not be removed*"])


def test_a_run_is_recorded_before_it_is_scored(project):
    """When scoring breaks, the run is on disk and its sandbox closed."""
    project.spec()
    project.conftest(
        """
        import pytest

        @pytest.fixture
        def skill_measured(skill_record, skill_archive, skill_row):
            assert skill_archive.run(skill_row.run_id).record() is not None
            raise RuntimeError("scoring breaks")
        """
    )
    result = project.evaluate("--skill-case=one", "--skill-repeats=1")
    result.assert_outcomes(errors=2)
    assert [what for what, *_ in project.diary()] == ["open", "close"] * 2


def test_summary_travels_in_junit_xml(project):
    """The junit file carries each run's summary as a property."""
    project.spec()
    project.behaves({"one.with.*.r1": "blame:seed"})
    project.evaluate("--junitxml=out.xml")
    properties = ET.parse(project.path / "out.xml").getroot().iter("property")
    values = [element.get("value") for element in properties if element.get("name") == "skilleval"]
    assert len(values) == 8
    assert sum("'verdict': 'pass'" in value for value in values) == 7
    assert sum("'blame': 'seed'" in value for value in values) == 1


CASE_JUDGED = """\
  - id: told
    kind: outcome
    expects: improve
    turns:
      - prompt: Please put things in order.
        must:
          - {id: kind, judge: The reply is kind.}
"""
