"""What can't be carried out is refused before anything starts: exit 4, with the mend."""

from __future__ import annotations

import pytest


def refused(project, *args: str, skill: str = "tidy-up") -> str:
    """The error text of an evaluation that is refused."""
    result = project.evaluate(*args, skill=skill)
    assert result.ret == 4
    assert not project.diary()
    return "\n".join(result.errlines)


def test_unknown_skill(project):
    """An unknown skill is named, with the nearest that there is."""
    project.spec()
    assert "no spec for skill 'tidy-pu'; did you mean `tidy-up`?" in refused(project, skill="tidy-pu")


def test_no_specs_at_all(project):
    """Without any spec the error says how to make one."""
    assert "skilleval new" in refused(project)


def test_unknown_names_all_at_once(project):
    """Unknown arm and case are told together, each with the nearest name."""
    project.spec()
    text = refused(project, "--skill-arms=wiht", "--skill-case=twoo")
    assert "has no arm 'wiht'; did you mean `with`?" in text
    assert "no case 'twoo'; did you mean `two`?" in text


def test_unknown_agent(project):
    """An unknown agent is told with the nearest name."""
    project.spec()
    result = project.run("--skill-eval=tidy-up", "--skill-agent=codecs", "--skill-sandbox=none")
    assert result.ret == 4
    assert "no agent 'codecs'; did you mean `codex`?" in result.stderr.str()


def test_agent_that_the_spec_does_not_support(project):
    """An agent that the spec does not list is refused, and the error names those that it does."""
    path = project.spec()
    path.write_text(path.read_text().replace("agents: [claude-code, codex]", "agents: [claude-code]"))
    result = project.run("--skill-eval=tidy-up", "--skill-agent=codex", "--skill-sandbox=none")
    assert result.ret == 4
    assert "does not support 'codex', only claude-code, scripted" in result.stderr.str()


def test_default_agent_that_can_not_run_here(project, monkeypatch):
    """Where the spec's default agent can't run, the error names what is missing and the agent that needs nothing."""
    project.spec()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("SKILLEVAL_AGENT_PREFIX", raising=False)
    result = project.run("--skill-eval=tidy-up", "--skill-sandbox=none")
    assert result.ret == 4
    assert "claude-code can't run here" in result.stderr.str()
    assert "--skill-agent=scripted" in result.stderr.str()


def test_unknown_sandbox(project):
    """A sandbox backend that nobody knows is refused by name."""
    project.spec()
    assert "nosuch" in refused(project, "--skill-sandbox=nosuch")


def test_sandbox_that_is_not_available(project):
    """A backend that can't work here is refused with its own reason."""
    project.spec()
    project.conftest(
        """
        class Broken(NoBackend):
            def probe(self):
                from pytest_skilleval.core.ports import Probe
                return Probe(available=False, reason="no such kernel; use another machine")

        def pytest_skilleval_backend(name):
            return Broken() if name == "none" else None
        """
    )
    assert "none: no such kernel; use another machine" in refused(project)


@pytest.mark.parametrize("flags", [("--ff",), ("--nf",), ("--sw",)])
def test_selection_by_outcome(project, flags):
    """Options of pytest that order or select by outcome are refused."""
    project.spec()
    result = project.pytester.runpytest_inprocess(
        "-p", "no:randomly", "--skill-eval=tidy-up", "--skill-agent=scripted", "--skill-sandbox=none", *flags
    )
    assert result.ret == 4
    assert f"{flags[0]} can't be used with --skill-eval" in result.stderr.str()


def test_reruns(project):
    """Re-running failures is refused, also when another plugin offers it."""
    project.spec()
    project.conftest("def pytest_addoption(parser):\n    parser.addoption('--reruns', type=int, default=0)\n")
    assert "--reruns can't be used" in refused(project, "--reruns=2")


@pytest.mark.parametrize("how", ["loadfile", "loadscope", "each"])
def test_distributions(project, how):
    """Distributions that keep a block on one worker, or run it on all, are refused before any worker starts."""
    project.spec()
    assert f"--dist {how} can't be used with --skill-eval" in refused(project, "--dist", how, "-n", "2")


def test_judge_is_the_model_under_test(project):
    """A judge that is the model under test is refused, whatever date or provider its name carries."""
    path = project.spec(cases=(JUDGED,))
    path.write_text(path.read_text() + "judge: {model: claude-haiku-4-5}\n")
    assert "is the model under test" in refused(project, "--skill-model=anthropic/claude-haiku-4-5-20251001")


def test_judge_without_a_model(project):
    """A judge that is to vote must be named in the spec."""
    project.spec(cases=(JUDGED,))
    assert "judge: {model: ...}` is missing" in refused(project, "--skill-judge=api")


def test_a_judge_that_there_is_not(project):
    """A judge that would never vote is refused, rather than leaving its checks open in silence."""
    project.spec()
    assert "--skill-judge=api: there is no judge yet" in refused(project, "--skill-judge=api")


def test_simulated_beside_live(project):
    """Scripted and real agents never share a session."""
    project.spec()
    result = project.run("--skill-eval=tidy-up", "--skill-agent=scripted,claude-code", "--skill-sandbox=none")
    assert result.ret == 4
    assert "never mixed with live ones" in result.stderr.str()


def test_drafts_and_held_out_cases(project):
    """Drafts run when named exactly only, held-out cases with --skill-release only; the error says so."""
    one, two = project.cases
    project.spec(
        cases=(
            one.replace("kind: outcome", "kind: outcome\n    draft: true"),
            two.replace("kind: outcome", "kind: outcome\n    split: held-out"),
        )
    )
    assert "every case is a draft or held out" in refused(project)
    assert "only matches drafts; name one exactly: one" in refused(project, "--skill-case=o*")
    assert "two is held out; add --skill-release" in refused(project, "--skill-case=two")
    project.evaluate("--skill-case=one", "--skill-repeats=1").assert_outcomes(passed=2)
    project.evaluate("--skill-release", "--skill-repeats=1").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--skill-repeats=none", "--skill-repeats: 'none' is not a whole number of at least 1"),
        ("--skill-repeats=0", "--skill-repeats: '0' is not a whole number of at least 1"),
        ("--skill-max-cost=-1", "--skill-max-cost: '-1' is not a number of at least 0"),
        ("--skill-turn-timeout=inf", "--skill-turn-timeout: 'inf' is not a number"),
        ("--skill-judge=me", "--skill-judge: 'me' is none of off, api, sandboxed"),
    ],
)
def test_bad_values(project, flag, message):
    """A value that can't be meant is refused by the name of its option."""
    project.spec()
    assert message in refused(project, flag)


def test_bad_ini_value(project):
    """The same holds for ini files, by the name of the key."""
    project.spec()
    project.pytester.makeini("[pytest]\nskilleval_repeats = many\n")
    assert "ini skilleval_repeats: 'many' is not a whole number" in refused(project)


def test_results_that_can_not_be_written(project):
    """Results that can't be written are refused before the first run."""
    project.spec()
    project.write("taken", "")
    assert "can't write to" in refused(project, "--skill-results=taken/results")


JUDGED = """\
  - id: told
    kind: outcome
    expects: improve
    turns:
      - prompt: Please put things in order.
        must:
          - {id: kind, judge: The reply is kind.}
"""


def test_sandboxes_that_can_not_be_prepared(project):
    """When what every sandbox needs can't be built, nothing starts; leftovers of dead sessions are removed first, and named."""
    project.spec()
    project.conftest(
        """
        class Poor(NoBackend):
            def reap(self):
                return ("sandbox-7",)

            def warm(self, report):
                from pytest_skilleval.core.errors import SandboxError
                raise SandboxError("no room for a root tree; free 1 GB")

        def pytest_skilleval_backend(name):
            return Poor() if name == "none" else None
        """
    )
    result = project.evaluate()
    assert result.ret == 4
    assert "none can't be made ready: no room for a root tree; free 1 GB" in result.stderr.str()
    assert "removed sandbox-7, left by a session that died" in result.stdout.str()
    assert not list((project.path / "skill-results").iterdir())


@pytest.mark.parametrize("option", ["--skill-eval", "--skill-resume", "--skill-arms", "--skill-case", "--skill-results", "--skill-sandbox"])
def test_empty_values(project, option):
    """An option with an empty value (a shell variable that is not set) is refused, and never means everything or nothing."""
    project.spec()
    skill = "" if option == "--skill-eval" else "tidy-up"
    text = refused(project, *([] if option == "--skill-eval" else [f"{option}="]), skill=skill)
    assert f"{option}: its value is empty" in text


def test_too_many_repeats(project):
    """A plan that no memory holds is refused at once."""
    project.spec()
    assert "--skill-repeats: '1000000' is not a whole number of at least 1 and at most 1000" in refused(project, "--skill-repeats=1000000")


def test_an_arm_of_a_commit_that_is_not_there(project):
    """An arm that installs the catalogue as of an unknown commit is refused before anything starts, and nothing stays behind."""
    spec = project.spec()
    spec.write_text(spec.read_text().replace("  with: {role: treatment}", "  with: {role: treatment, revision: HEAD~7}"))
    assert "the catalogue as of 'HEAD~7' can't be read" in refused(project)


def test_a_spec_file_that_is_none(project):
    """Where no file is a spec, those that are called so are named, with what they lack."""
    spec = project.spec()
    spec.write_text("".join(f"  {line}" for line in spec.read_text().splitlines(keepends=True)))
    pets = project.write("specs/pets/spec.yaml", "openapi: 3.1.0\n")
    text = refused(project, skill="all")
    assert "specs/tidy-up/spec.yaml:1: is not taken as a spec: its `skill:` and `cases:` must stand at the start of a line" in text
    assert f"{pets} is none: it has no `skill:` and `cases:` at its top" in text


def test_a_gate_over_checks_that_nothing_proves(project):
    """A gate is refused where a check has no rehearsal that trips it or no right way that holds it; without a gate that is a warning."""
    spec = project.spec(extra="gate: {improve: {at_least: 0.2}}\n")
    spec.write_text(
        spec.read_text().replace('expect: fail, trips: [says-yes], turns: [{reply: "no"}]', "expect: undecided, turns: [{}]", 1)
    )
    text = refused(project, "--skill-gate")
    assert "--skill-gate: a gate rests on every check, so each must be proven; add rehearsals" in text
    assert "no rehearsal trips `says-yes`" in text
    result = project.evaluate("--skill-repeats=1")
    assert result.ret == 0
    assert "no rehearsal trips `says-yes`" in result.stdout.str()


def test_a_named_spec_that_is_not_taken_as_one(project):
    """A skill whose spec.yaml is too broken to be taken as a spec is refused by name, with the line."""
    project.spec("other")
    project.spec().write_text("skill: tidy-up\n\tcases: []\n")
    assert "specs/tidy-up/spec.yaml:2: is not taken as a spec: it is not YAML" in refused(project, skill="tidy-up,other")


def test_a_spec_that_is_passed_over_is_told(project):
    """Where all skills are meant, the one whose spec.yaml is none is a warning, and the others run."""
    project.spec("other")
    project.spec().write_text("skill: tidy-up\narms: {}\n")
    result = project.evaluate("--skill-repeats=1", skill="all")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  warning: specs/tidy-up/spec.yaml:1: is not taken as a spec: it has no `cases:` at its top"])
