"""What arms deliver: the ladder, the chain from offer to outcome, and what fits into an agent's listing."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from report_made import SKILL, grid, run, session, spec

from pytest_skilleval.core.evidence import CheckResult
from pytest_skilleval.core.listing import FULL, shipped, shortened
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import DELIVERIES, ArmFacts, SpecFacts
from pytest_skilleval.report.markdown import to_markdown
from pytest_skilleval.report.sections.loading import loading
from pytest_skilleval.report.terminal import terminal_lines
from pytest_skilleval.report.values import Document, Report

ARMS = {
    "asked": ArmFacts(role="reference", delivers="prompted"),
    "with": ArmFacts(role="treatment", delivers="with"),
    "control": ArmFacts(role="reference", installs=False, why_not="not installed", delivers="guard"),
    "nothing": ArmFacts(role="reference", installs=False, why_not="not installed", delivers="bare"),
    "without": ArmFacts(role="baseline", installs=False, why_not="not installed", delivers="without"),
    "sham": ArmFacts(role="reference", delivers="sham", detail="description real, body inert"),
    "rules": ArmFacts(role="reference", installs=False, why_not="instructions", delivers="rules"),
}
IN_ORDER = ["nothing", "without", "sham", "with", "rules", "control", "asked"]


def report_of(runs: list[MeasuredRun]) -> Report:
    """A report over a spec with every kind of arm."""
    return build(runs, SpecFacts(skill=SKILL, arms=ARMS, primary=(("without", "with"),)), session())


def everything() -> list[MeasuredRun]:
    """Every kind of arm on four cases; the agent of the prompted arm is denied a command in a quarter of its runs."""
    runs = grid({arm: ["pf"] * 4 for arm in ARMS if arm not in ("with", "asked")} | {"with": ["pp"] * 4})
    return runs + [
        run(f"case-{case:02}", "asked", "p", repeat, denied=["docker rm"] * (case == 0)) for case in range(4) for repeat in (1, 2)
    ]


def test_ladder_is_ordered_by_what_arms_deliver() -> None:
    """Rungs go from no skills at all to a human at the prompt, each with its rate, limits, and difference to the baseline."""
    rungs = report_of(everything()).document.ladder
    assert [rung.arm for rung in rungs] == IN_ORDER
    assert {rung.baseline for rung in rungs} == {"without"}
    by_arm = {rung.arm: rung for rung in rungs}
    assert by_arm["without"].difference is None
    assert by_arm["with"].difference is not None
    assert by_arm["with"].difference.value == 0.5
    assert by_arm["with"].these_cases.value == 1
    for rung in rungs:
        assert rung.these_cases.low is not None
        assert rung.new_cases.low is not None


def test_ladder_agrees_with_the_effects() -> None:
    """Where an effect and a rung tell of the same pair and cases, they tell the same numbers."""
    document = report_of(everything()).document
    effect, rung = document.effects[0], next(rung for rung in document.ladder if rung.arm == "with")
    assert rung.difference is not None
    assert rung.difference_new_cases is not None
    assert (rung.difference.low, rung.difference.high) == (effect.these_cases.low, effect.these_cases.high)
    assert (rung.difference_new_cases.low, rung.difference_new_cases.high) == (effect.new_cases.low, effect.new_cases.high)


def test_denials_of_a_prompted_arm_are_questions_to_a_human() -> None:
    """Only a prompted arm's denials are counted as a human who would have been asked."""
    by_arm = {rung.arm: rung for rung in report_of(everything()).document.ladder}
    asked = by_arm["asked"].human_asked
    assert asked is not None
    assert asked.value == 0.25
    assert by_arm["control"].human_asked is None


def test_ladder_is_shown_everywhere() -> None:
    """The terminal has one line with all arms in order, and the report files a table; two arms alone need neither."""
    report = report_of(everything())
    line = next(line.text for line in terminal_lines(report, 200) if "least to most" in line.text)
    places = [line.index(f" {arm} ") for arm in IN_ORDER]
    assert places == sorted(places)
    assert "a human asked in 25 %" in line
    assert "Delivery ladder" in to_markdown(report)
    plain = report_of(grid({"without": ["pf"], "with": ["pp"]}))
    assert "Delivery ladder" not in to_markdown(plain)
    assert not any("least to most" in line.text for line in terminal_lines(plain))


def test_arms_of_a_spec_know_what_they_deliver() -> None:
    """Every kind of arm that a spec can declare finds its rung."""
    arms = {
        "bare": {"role": "reference", "exclude": "all"},
        "without": {"role": "baseline", "exclude": [SKILL]},
        "sham": {"role": "reference", "sham": {"description": "real", "body": "inert"}},
        "with": {"role": "treatment"},
        "rules": {"role": "reference", "exclude": [SKILL], "instructions": "from-skill"},
        "guard": {"role": "reference", "exclude": [SKILL], "guard": "guard.yaml"},
        "prompted": {"role": "reference", "permissions": "default"},
    }
    written = {"skill": SKILL, "arms": arms, "cases": [{"id": "a", "kind": "outcome", "turns": [{"prompt": "Hi."}]}]}
    loaded = LoadedSpec(
        spec=Spec.model_validate_json(json.dumps(written)),
        path=None,
        text_hash="",
        case_lines={},
        catalogue={},
        skins=(),
        runbook_prompts={},
    )
    facts = SpecFacts.of(loaded)
    assert [facts.arm(arm).delivers for arm in arms] == list(arms) == list(DELIVERIES[:-1])
    assert facts.arm("sham").detail == "description real, body inert"


def chain_runs() -> list[MeasuredRun]:
    """With the skill: two runs that did not load it, one that loaded and swept, one that kept to it and failed, four good ones."""
    swept = CheckResult(id="swept", kind="state", polarity="must_not", turn=1, verdict="violated")
    missed = CheckResult(id="done", kind="state", polarity="must", turn=1, verdict="violated")
    runs = [run("a", "with", "p", repeat) for repeat in range(4)]
    runs += [run("a", "with", "p", 4, loaded=[]), run("a", "with", "f", 5, loaded=[])]
    runs += [run("a", "with", "f", 6, checks=[swept]), run("a", "with", "f", 7, checks=[missed])]
    return [*runs, run("a", "with", "u", 8), run("a", "without", "p", 1)]


def test_chain_from_offer_to_outcome() -> None:
    """Each link counts what is left of the one before it; runs without a verdict are in none."""
    document = report_of(chain_runs()).document
    with_, without = document.chain
    assert (with_.runs, with_.offered, with_.loaded, with_.followed, with_.passed, with_.passed_all) == (8, 8, 6, 5, 4, 5)
    assert (without.runs, without.offered, without.loaded, without.reason) == (1, 0, 0, "not installed")
    for link in document.chain:
        assert all(first >= then for first, then in pairwise([link.runs, link.offered, link.loaded, link.followed, link.passed]))


def test_as_loaded_is_labelled() -> None:
    """The report says that the comparison by loading is confounded, and names the first stage and the instrument."""
    report = report_of(chain_runs())
    text = to_markdown(report)
    assert "confounded" in (report.document.loading[0].as_loaded.reason or "")
    assert "as loaded (confounded)" in text
    assert "assignment as instrument" in text
    assert "first stage" in text


def listed(arm: str, characters: int | None, cut: dict[str, int] | None = None, runs: int = 4, **more: object) -> list[MeasuredRun]:
    """Runs of one arm whose listing has so many characters, some of them with these skills cut."""
    facts = {} if characters is None else {"arm.listing_characters": str(characters)}
    return [
        run(
            "a",
            arm,
            "p",
            repeat,
            provenance=facts,
            warnings=[FULL + skill for skill, times in (cut or {}).items() if repeat <= times],
            **more,
        )
        for repeat in range(1, runs + 1)
    ]


def listing_of(document: Document, arm: str) -> tuple[int | None, bool | None, int, dict[str, int]]:
    """What is told of one arm."""
    row = next(row for row in document.listing if row.arm == arm)
    return row.most_characters, row.over, row.shortened_runs, row.shortened


def test_listing_against_the_budget() -> None:
    """Each arm's listing is held against the agent's budget, and all that is cut is told in one warning."""
    document = report_of([*listed("without", 7000), *listed("with", 9000, {"alpha": 3, "alpha, beta": 2})]).document
    assert listing_of(document, "without") == (7000, False, 0, {})
    assert listing_of(document, "with") == (9000, True, 3, {"alpha": 3, "beta": 2})
    (warning,) = [warning for warning in document.warnings if "listing" in warning]
    for part in ("8,000 characters", "with (9,000 characters, cut in 3 of 4 runs)", "alpha, beta", "arms differ in what is cut"):
        assert part in warning


def test_a_listing_that_fits_by_itself_and_is_cut() -> None:
    """Where the arm's own listing fits and was cut all the same, the agent's own skills took the rest of the budget."""
    document = report_of([*listed("without", 5000), *listed("with", 6000, {"alpha": 4})]).document
    (warning,) = [warning for warning in document.warnings if "listing" in warning]
    assert "(8,000 characters, of which its own skills take a part) is full in with" in warning
    [table] = [table for table in loading(document).tables if table.caption.startswith("Listing")]
    assert [column.title for column in table.columns][5] == "fits by itself"
    assert {row[5] for row in table.rows} == {"yes"}


@pytest.mark.parametrize(("agent", "characters", "over"), [("claude-code", 8000, False), ("codex", 8001, True), ("scripted", 10**6, None)])
def test_budget_of_each_agent(agent: str, characters: int, over: bool | None) -> None:
    """The budget is the agent's own; where it is not known nothing is claimed or warned of."""
    document = report_of(listed("with", characters, agent=agent)).document
    assert listing_of(document, "with")[1] is over
    assert any("listing budget" in warning for warning in document.warnings) is bool(over)


def test_long_context_has_room() -> None:
    """A model with a long context has the larger budget, and a listing of unknown size is told as unknown."""
    assert (shipped().of("claude-code", "sonnet[1m]") or shipped().budgets[1]).characters == 40_000
    assert listing_of(report_of(listed("with", None)).document, "with") == (None, None, 0, {})


def test_only_the_own_warning_is_read() -> None:
    """Skills are read from the warning about a full listing and from no other."""
    assert shortened(f"{FULL}a, b") == ("a", "b")
    assert shortened("the disk is full: a, b") == ()


def test_headline_of_several_agents_has_no_gap() -> None:
    """Where the average over agents has no limits, the headline says why instead of leaving a hole."""
    runs = [one for agent in ("claude-code", "codex") for one in grid({"without": ["ff", "pf"], "with": ["pp", "pp"]}, agent=agent)]
    sentence = build(runs, spec(), session()).document.headline.sentence
    assert "On average +75 points (no limits: " in sentence
    assert "  " not in sentence


@pytest.mark.parametrize("width", [80, 100])
def test_two_agents_and_four_arms_fit_one_screen(width: int) -> None:
    """Two agents under four arms, with warnings and losses, are told on at most 45 lines."""
    from report_situations import VOLUME

    runs = [
        run(
            f"case-{case}",
            arm,
            "p" if arm == "with" or repeat == 1 else "f",
            repeat,
            agent=agent,
            removed=[VOLUME] if arm == "without" else (),
        )
        for case in range(8)
        for arm in ("without", "with", "rules", "control")
        for agent in ("claude-code", "codex")
        for repeat in (1, 2, 3)
    ]
    lines = terminal_lines(build(runs, spec(), session()), width)
    assert len(lines) <= 45
    assert max(len(line.text) for line in lines) <= width
