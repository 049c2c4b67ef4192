"""Exit codes, and the last line that says which and why."""

from __future__ import annotations


def test_measured(project):
    """Everything measured: 0."""
    project.spec()
    result = project.evaluate()
    assert result.ret == 0
    assert project.last_line(result) == "Exit 0: all 8 runs measured"


def test_nothing_selected(project):
    """Everything deselected: 5, no results folder, no report."""
    project.spec()
    result = project.evaluate("-k", "nosuchthing")
    assert result.ret == 5
    assert project.last_line(result) == "Exit 5: nothing was selected"
    assert not list((project.path / "skill-results").iterdir())


def test_gate_undecided(project):
    """A gate that is asked for and can't be decided: 6."""
    project.spec(extra="gate: {improve: {at_least: 0.2}}\n")
    result = project.evaluate("--skill-gate")
    assert result.ret == 6
    assert project.last_line(result).startswith("Exit 6: the gate can't be decided")


def test_two_specs(project):
    """Two specs: two folders and reports, one last line for both, the worst code."""
    project.spec("tidy-up")
    project.spec("mop-up")
    project.behaves({"one.with.scripted.default.r2": "blame:sandbox"})
    result = project.evaluate(skill="all")
    assert result.ret == 1
    assert project.results("tidy-up") != project.results("mop-up")
    assert project.last_line(result).startswith(
        "Exit 1: tidy-up: 1 of 8 runs could not be measured"
    ) or "mop-up: 1 of 8" in project.last_line(result)


def test_failure_of_an_ordinary_test(project):
    """An ordinary test that fails beside measured runs: 1."""
    project.spec()
    project.pytester.makepyfile(test_other="def test_it(): assert False")
    result = project.evaluate("test_other.py", "specs", "--skill-case=one")
    assert result.ret == 1
    assert project.last_line(result).startswith("Exit 1: a test or a fixture of this project failed")


def test_all_invalid_specs_under_collect_only(project):
    """A bad spec under --collect-only: 2, with every fault; other specs are still listed."""
    project.spec()
    bad = project.spec("mop-up")
    bad.write_text(bad.read_text().replace("kind:", "kid:"))
    result = project.run("--collect-only")
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        ["*<Function one[[]with-claude-code-default-r1]>*", "*specs/mop-up/spec.yaml:*kid*", "*specs/mop-up/spec.yaml:*kid*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_bad_spec_in_an_evaluation(project):
    """A bad spec in an evaluation: 4 before anything starts, with every fault."""
    bad = project.spec()
    bad.write_text(bad.read_text().replace("kind:", "kid:"))
    result = project.evaluate()
    assert result.ret == 4
    assert len([line for line in result.errlines if "kid" in line]) >= 2
    assert not project.diary()
