"""--skill-dry-run and --skill-rehearse, and what is said before, during and after an evaluation."""

from __future__ import annotations

from pathlib import Path

from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.planning import Request, make_plan
from pytest_skilleval.terminal import size


def test_dry_run(project):
    """A dry run prints the plan and every command, starts nothing, writes nothing, and exits 0; -n changes nothing."""
    project.spec()
    result = project.evaluate("--skill-dry-run", "-n", "2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "dry run: 8 of 8 runs, nothing is started",
            "1/8 tidy-up: *",
            "  sandbox #1: make-nothing --for-nobody",
            "  turn 1 #3: python3 *",
            "Exit 0: dry run of 8 runs",
        ]
    )
    assert not project.diary()
    assert not (project.path / "skill-results").exists()


def test_a_dry_run_tells_once_what_many_runs_share(project):
    """Runs are told in the order in which they would start; what was told before is referred to by its number."""
    project.spec()
    result = project.evaluate("--skill-dry-run", "--skill-repeats=40")
    assert result.ret == 0
    lines = [line for line in result.outlines if line.startswith(("  ", *"123456789"))]
    runs = [int(line.partition("/")[0]) for line in lines if not line.startswith(" ")]
    assert runs == list(range(1, 161))
    numbered = [line.partition(":")[0].split("#") for line in lines if "#" in line and not line.startswith("  as above: ")]
    assert [int(number) for _, number in numbered] == [1, 2, 3, 4]
    assert [title.strip() for title, _ in numbered] == ["sandbox", "arm", "turn 1", "arm"]
    referred = [line for line in lines if line.startswith("  as above: ")]
    assert len(referred) == 159
    assert set(referred[1:]) <= {"  as above: sandbox #1, arm #2, turn 1 #3", "  as above: sandbox #1, arm #4, turn 1 #3", referred[0]}


def test_a_dry_run_refuses_a_sandbox_that_nobody_knows(project):
    """Exit 4, as without --skill-dry-run; a backend that is known is not tried."""
    project.spec()
    result = project.evaluate("--skill-dry-run", "--skill-sandbox=nope")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--skill-sandbox: no sandbox backend is called 'nope'*"])


def test_a_dry_run_names_what_the_environment_needs_and_tells_no_value(project, monkeypatch):
    """The agent's variables are listed by name only."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-" + "x" * 20)
    project.spec()
    result = project.run("--skill-eval=tidy-up", "--skill-agent=claude-code", "--skill-dry-run")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  turn 1 #*: *DISABLE_AUTOUPDATER=... *claude -p *"])
    result.stdout.no_fnmatch_line("*sk-ant-*")


def test_rehearsals_that_go_as_written(project):
    """Rehearsals are planned as runs of their own, in the arm that they are written for; all as written: exit 0."""
    project.spec()
    project.behaves({"*.bad": "fail"})
    result = project.evaluate("--skill-rehearse")
    assert result.ret == 0
    assert sorted(project.opened()) == [
        "one.with.scripted.default.r1.good", "one.without.scripted.default.r1.bad",
        "two.with.scripted.default.r1.good", "two.without.scripted.default.r1.bad",
    ]  # fmt: skip
    assert project.last_line(result) == "Exit 0: 4 rehearsals went as written; every check can hold and can trip (judge checks aside)"


def test_rehearsals_that_prove_nothing(project):
    """A rehearsal with another verdict than written FAILS, and a check that nothing trips is told; exit 1."""
    project.spec()
    result = project.evaluate("--skill-rehearse")
    assert result.ret == 1
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "rehearsal bad: the verdict is pass, expected fail*",
            "specs/tidy-up/spec.yaml:*: one/bad: does not trip says-yes; written to trip says-yes, trips nothing",
            "specs/tidy-up/spec.yaml:*: one: no rehearsal trips says-yes",
        ]
    )


def test_opening(project):
    """Before the first run: size, sandbox with its reason, expected time and money, random seed, results folder."""
    project.spec()
    result = project.evaluate()
    result.stdout.fnmatch_lines(
        [
            "*skilleval: warmed up",
            "skilleval: tidy-up",
            "  8 runs: 2 cases x 2 arms x 2 repeats (scripted default)",
            "  sandbox: none: stand-in (--skill-sandbox=none)",
            "  expected: about *, no money; assumed*",
            "  random seed: *",
            f"  results: {project.results()}",
        ]
    )
    result.stdout.no_fnmatch_line("*isolates nothing*")


def test_the_size_tells_why_it_is_no_product():
    """Trigger cases run only in arms that install the skill: where that makes fewer runs, the line says so."""
    spec = load_spec(Path(__file__).parents[2] / "specs" / "docker-compose-patterns" / "spec.yaml")
    told = {arms: size(make_plan([spec], Request(agents=("scripted",), repeats=1, arms=arms))) for arms in (("without", "with"), ("with",))}
    why = " x 1 repeat, trigger cases only in arms that install the skill (scripted default)"
    assert told["without", "with"].endswith(f"2 arms{why}")
    assert told[("with",)].endswith("1 arm x 1 repeat (scripted default)")


def test_progress(project, monkeypatch):
    """Progress is a line now and then, not one a run."""
    monkeypatch.setattr("pytest_skilleval.terminal.PAUSE", 0.5)
    project.spec()
    project.behaves({"two.with.*": "fail", "*": "slow"})
    result = project.evaluate("--skill-repeats=5")
    lines = [line for line in result.outlines if "/20 runs" in line]
    assert 1 <= len(lines) <= 10
    assert "passed" in lines[-1]
    assert "not met" in lines[-1]
    assert "to go" in lines[-1]
