"""Options and their ini twins."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_skilleval import options
from pytest_skilleval.session.settings import Settings, settings_of


def settings(pytester: pytest.Pytester, *args: str) -> Settings:
    """The settings of a session with these arguments."""
    return settings_of(pytester.parseconfigure(*args))


def test_every_option_has_an_ini_twin(pytester):
    """Every option can be said in an ini file under the name skilleval_<option>."""
    config = pytester.parseconfigure()
    for option in options.OPTIONS:
        assert option.ini == "skilleval_" + option.flag.removeprefix("--skill-").replace("-", "_")
        assert config.getini(option.ini) in (None, False)


def test_command_line_wins_over_ini(pytester):
    """What the command line says wins over the ini file, which wins over the defaults."""
    pytester.makeini("[pytest]\nskilleval_repeats = 5\nskilleval_arms = with, without\nskilleval_strict = true\n")
    found = settings(pytester, "--skill-repeats=7")
    assert (found.repeats, found.arms, found.strict, found.gate) == (7, ("with", "without"), True, False)


def test_lists(pytester):
    """Lists take commas and repetition, and say each name once."""
    assert settings(pytester, "--skill-arms=a,b", "--skill-arms", "c, a").arms == ("a", "b", "c")


def test_settings_are_frozen(pytester):
    """Settings never change during a session."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings(pytester).repeats = 3


def test_paths_start_where_they_were_said(pytester, monkeypatch):
    """A path on the command line starts where pytest was called, one from an ini file at the root folder."""
    pytester.makeini("[pytest]\nskilleval_results = out\n")
    inner = pytester.mkdir("inner")
    monkeypatch.chdir(inner)
    root = pytester.path
    assert settings(pytester).results == root / "out"
    assert settings(pytester, "--skill-results=here").results == inner / "here"


def test_ini_switches_evaluation_on(project):
    """skilleval_eval in an ini file makes every session an evaluation."""
    project.spec()
    project.pytester.makeini(
        "[pytest]\nskilleval_eval = tidy-up\nskilleval_agent = scripted\nskilleval_sandbox = none\nskilleval_repeats = 1\n"
    )
    project.run().assert_outcomes(passed=4)


def test_cost_must_be_said_under_ci(pytester, monkeypatch):
    """A live agent under CI needs --skill-max-cost said; a simulated one does not."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.plan import Plan, Row
    from pytest_skilleval.session import readiness

    monkeypatch.setattr(readiness, "missing", lambda name: None)
    monkeypatch.setattr(readiness, "check_models", lambda plan, environment: None)

    def check(agent: str, *args: str) -> None:
        row = Row(
            index=0,
            run_id="c.a.x.default.r1",
            skill="s",
            case="c",
            kind="outcome",
            arm="a",
            agent=agent,
            model="default",
            repeat=1,
            block=0,
        )
        plan = Plan(random_seed=0, seed_origin="", rows=(row,), locks={"s": ""})
        readiness.check_agents(plan, settings(pytester, *args), {"CI": "true"})

    check("scripted")
    check("claude-code", "--skill-max-cost=5")
    with pytest.raises(UsageProblem, match="--skill-max-cost"):
        check("claude-code")


def test_further_credentials_are_masked(project, monkeypatch):
    """Values of variables that skilleval_credentials names are masked beside the known ones, in workers, too; others are not.

    Nor are words in further headers that the skill says, or the names of runs: masked, the record would be damaged.
    """
    monkeypatch.setenv("CORP_TOKEN", "corp-secret-1")
    monkeypatch.setenv("OPENAI_API_KEY", "known-secret-2")
    monkeypatch.setenv("HARMLESS", "harmless-text-3")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Key: header-secret-4\nX-App: claude-code\nX-Motto: with care")
    project.spec()
    project.conftest(
        """
        import pytest
        from pathlib import Path

        @pytest.fixture
        def skill_job(skill_job, request):
            said = b"corp-secret-1 known-secret-2 harmless-text-3 header-secret-4 claude-code with care"
            (request.config.rootpath / "masked.txt").write_bytes(skill_job.mask(said))
            return skill_job
        """
    )
    project.pytester.makeini("[pytest]\nskilleval_credentials = CORP_TOKEN UNSET_TOKEN\n")
    project.evaluate("-n", "1", apart=True).assert_outcomes(passed=8)
    assert (project.path / "masked.txt").read_text() == "[masked] [masked] harmless-text-3 [masked] claude-code with care"


def test_a_secret_in_place_of_a_name_is_refused(pytester):
    """A value where a name belongs is refused by its place, without being repeated."""
    pytester.makeini("[pytest]\nskilleval_credentials = CORP_TOKEN sk-ant-0123\n")
    with pytest.raises(pytest.UsageError, match="skilleval_credentials: entry 2 is no name") as error:
        settings(pytester)
    assert "sk-ant" not in str(error.value)
