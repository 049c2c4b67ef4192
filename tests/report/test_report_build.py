"""Runs in, report out."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_made import DATA_A, DATA_B, SKILL, grid, names, run, session, spec

from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.evidence import AddedObject, CheckResult, RemovedObject
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.report.build import build
from pytest_skilleval.report.encode import to_json
from pytest_skilleval.report.facts import CaseFacts, GateFacts, SpecFacts
from pytest_skilleval.report.sections import sections
from pytest_skilleval.report.sections.change import change
from pytest_skilleval.report.values import Effect, Report

WORDS = st.lists(st.text(alphabet="pfueav-", min_size=1, max_size=4), min_size=1, max_size=7)


def report_of(runs: list[MeasuredRun], **more: object) -> Report:
    """A report of outcome runs."""
    return build(runs, spec({one.row.case for one in runs}), session(**more))


def both_arms(before: list[str], after: list[str]) -> list[MeasuredRun]:
    """Runs of the two primary arms over as many cases as both have."""
    size = min(len(before), len(after))
    return grid({"without": before[:size], "with": after[:size]})


def numbers(value: object) -> Iterator[float]:
    """Every number in a JSON document."""
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, float):
        yield value


def test_clear_on_these_cases_only() -> None:
    """Data A of the worked examples changes these cases and is not shown for new ones, with the published numbers."""
    effect = report_of(grid(DATA_A)).document.effects[0]
    assert (effect.verdict, effect.direction, effect.primary) == ("changed these cases", "better", True)
    assert effect.difference == pytest.approx(0.375)
    assert (effect.these_cases.low, effect.these_cases.high) == pytest.approx((0.112829, 0.577844), abs=1e-6)
    assert effect.these_cases.p == pytest.approx(0.006940, abs=1e-6)
    assert (effect.new_cases.low, effect.new_cases.high) == pytest.approx((-0.013688, 0.652011), abs=1e-6)
    assert effect.new_cases.sign_flip_p == pytest.approx(0.125)
    assert (effect.new_cases.gaffke.low, effect.new_cases.gaffke.high) == pytest.approx((-0.171393, 0.723985), abs=1e-6)
    assert (effect.up, effect.down, effect.same, effect.cases) == (4, 0, 4, 8)


def test_clear_for_new_cases() -> None:
    """Data B of the worked examples is shown for new cases."""
    effect = report_of(grid(DATA_B)).document.effects[0]
    assert (effect.verdict, effect.direction) == ("shown for new cases", "better")


def test_rates_carry_wilson_limits() -> None:
    """A balanced arm's rate is passed over scored with the Wilson limits of those counts."""
    before, after = report_of(grid({"without": ["ppp"] * 8, "with": ["ppp"] * 6 + ["pff"] * 2})).document.rates
    assert (after.arm, after.role, after.passed, after.scored, after.rate) == ("with", "treatment", 20, 24, pytest.approx(20 / 24))
    assert (after.wilson.low, after.wilson.high) == pytest.approx((0.641469, 0.933213), abs=1e-6)
    assert (before.arm, before.wilson.low, before.wilson.high) == ("without", pytest.approx(0.862024, abs=1e-6), 1.0)


@settings(max_examples=60, deadline=None)
@given(before=WORDS, after=WORDS)
def test_sums_add_up(before: list[str], after: list[str]) -> None:
    """In every rate, scored, undecided, errors and void make up all runs, and passed is no more than scored."""
    runs = both_arms(before, after)
    document = report_of(runs).document
    for rate in document.rates:
        assert rate.scored + rate.undecided + rate.errors + rate.void == rate.runs
        assert rate.passed <= rate.scored
    assert sum(rate.runs for rate in document.rates) == len(document.runs) == len(runs)
    for effect in document.effects:
        assert effect.up + effect.down + effect.same == effect.cases == len(effect.per_case) - len(effect.dropped)


@settings(max_examples=60, deadline=None)
@given(before=WORDS, after=WORDS)
def test_headline_is_the_mean_of_its_rows(before: list[str], after: list[str]) -> None:
    """Whatever was lost, a difference equals the mean of the rows printed below it, so it has their sign."""
    for effect in report_of(both_arms(before, after)).document.effects:
        rows = [row.difference for row in effect.per_case if row.difference is not None]
        if rows:
            assert effect.difference == pytest.approx(math.fsum(rows) / len(rows))
        else:
            assert effect.difference is None


@settings(max_examples=40, deadline=None)
@given(before=WORDS, after=WORDS, seed=st.integers(0, 9))
def test_order_of_runs_does_not_matter(before: list[str], after: list[str], seed: int) -> None:
    """The same runs in any order give the same bytes, twice, and no number in them is infinite or NaN."""
    runs = both_arms(before, after)
    shuffled = random.Random(seed).sample(runs, len(runs))
    first, second = (to_json(report_of(some), "2026-11-30T00:00:00Z") for some in (runs, shuffled))
    assert first == second
    assert all(math.isfinite(number) for number in numbers(json.loads(first)))


def swapped(effect: Effect) -> tuple[object, ...]:
    """What must mirror when the arms swap their labels."""
    return (effect.up, effect.down, effect.difference, effect.these_cases.low, effect.these_cases.high, effect.these_cases.p)


@settings(max_examples=40, deadline=None)
@given(before=WORDS, after=WORDS)
def test_label_swap_mirrors(before: list[str], after: list[str]) -> None:
    """Swapping the labels of the arms mirrors differences and limits and leaves p as it is."""
    size = min(len(before), len(after))
    there = report_of(both_arms(before[:size], after[:size])).document.effects[0]
    back = report_of(both_arms(after[:size], before[:size])).document.effects[0]
    up, down, difference, low, high, p = swapped(back)
    mirrored = (down, up, *(None if number is None else -number for number in (difference, high, low)), p)
    assert swapped(there) == pytest.approx(mirrored, abs=1e-9)
    turned = {"better": "worse", "worse": "better", None: None}
    assert (there.direction, there.new_cases.sign_flip_p) == (turned[back.direction], back.new_cases.sign_flip_p)
    for one, other in ((there.new_cases, back.new_cases), (there.bounds, back.bounds)):
        negated = [None if limit is None else -limit for limit in (other.high, other.low)]
        assert [one.low, one.high] == pytest.approx(negated, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(before=st.lists(st.text(alphabet="pf", min_size=1, max_size=6), min_size=6, max_size=12), seed=st.integers(0, 99))
def test_unequal_repeats_never_claim_against_the_rows(before: list[str], seed: int) -> None:
    """Whatever the numbers of repeats, what is claimed has the sign of the mean of the rows that are shown."""
    chance = random.Random(seed)
    after = ["p" * chance.randint(1, 6) if chance.random() < 0.8 else "f" * chance.randint(1, 6) for _ in before]
    for effect in report_of(both_arms(before, after)).document.effects:
        if effect.direction is not None:
            rows = [row.difference for row in effect.per_case if row.difference is not None]
            assert (math.fsum(rows) > 0) is (effect.direction == "better")


def test_nearly_all_lost_gives_no_rate() -> None:
    """With one pass and 23 lost runs the report refuses a rate, prints bounds and gives no verdict."""
    report = report_of(grid({"without": ["ppp"] * 8, "with": ["pee"] + ["eee"] * 7}))
    rate = next(rate for rate in report.document.rates if rate.arm == "with")
    assert rate.rate is None
    assert rate.wilson.low is None
    assert "1 of 24" in (rate.reason or "")
    assert (rate.bounds.low, rate.bounds.high) == (pytest.approx(1 / 24), 1.0)
    assert report.document.effects[0].verdict == "lost too many runs"
    assert report.exit_code == 1


def test_unequal_loss_gives_no_verdict() -> None:
    """When only one arm loses runs, an otherwise clear effect gets no verdict."""
    report = report_of(grid({"without": ["ffe"] * 8, "with": ["ppp"] * 8}))
    assert report.document.effects[0].verdict == "lost too many runs"
    assert report.document.effects[0].lost


def test_bounds_count_lost_runs_too() -> None:
    """The range of the effect covers every run without a verdict: lost ones against it and for it, like undecided ones."""
    effect = report_of(grid({"without": ["ff", "fe"], "with": ["pv", "pu"]})).document.effects[0]
    assert (effect.bounds.low, effect.bounds.high, effect.bounds.n) == (0.25, 1.0, 8)


def test_judge_outage_is_undecided_not_failed() -> None:
    """When the judge fails in one arm, its runs are undecided, nothing is failed, and no effect is claimed."""
    report = report_of(grid({"without": ["ppp"] * 8, "with": ["uuu"] * 8}))
    rate = next(rate for rate in report.document.rates if rate.arm == "with")
    assert (rate.undecided, rate.scored, rate.passed) == (24, 0, 0)
    assert report.document.judge.undecided == 24
    assert report.document.judge.reasons == {"no judge": 24}
    effect = report.document.effects[0]
    assert effect.verdict == "lost too many runs"
    assert "depend on the arm" in effect.verdict_reason
    assert report.exit_code == 0


def test_case_without_a_verdict_is_listed() -> None:
    """A case that no run of an arm could measure is dropped by name and warned about."""
    document = report_of(grid({"without": ["ppp", "fff"], "with": ["ppp", "eee"]})).document
    assert document.effects[0].dropped == ("case-01",)
    assert any("case-01" in warning and "with" in warning for warning in document.warnings)


def test_treatment_that_never_loads_is_suspected() -> None:
    """A treatment arm in which no run loaded the skill is warned about."""
    document = report_of(grid(DATA_A, loaded=[])).document
    assert any("loaded in none of 24 runs" in warning for warning in document.warnings)
    assert not any("loaded in none" in warning for warning in report_of(grid(DATA_A)).document.warnings)


def test_versions_that_differ_are_told() -> None:
    """Runs of one comparison made by different versions are pooled only with a warning that says so."""
    runs = grid({"without": ["ppp"] * 3}, provenance={"agent.version": "2.1.0"}) + grid(
        {"with": ["ppp"] * 3}, provenance={"agent.version": "2.1.1"}
    )
    document = report_of(runs).document
    warning = next(warning for warning in document.warnings if "agent.version" in warning)
    assert "2.1.0: 9 runs" in warning
    assert "pooled" in warning
    assert document.provenance.differing == {"agent.version": {"2.1.0": 9, "2.1.1": 9}}


def test_effort_that_differs_between_arms_is_told() -> None:
    """No arm declares effort: where the arms of a comparison were asked with another one, a warning says so."""
    runs = grid({"without": ["ppp"]}, provenance={"request.effort": "high"}) + grid(
        {"with": ["ppp"]}, provenance={"request.effort": "medium"}
    )
    (warning,) = [warning for warning in report_of(runs).document.warnings if "request.effort" in warning]
    assert "high: 3 runs" in warning


def test_hosts_that_were_reached_or_refused_are_told() -> None:
    """Runs that reached the network rest on what can change, and one sentence says so; another tells what was refused."""
    first, second, third = grid({"without": ["ppp"]})
    runs = [
        msgspec.structs.replace(first, hosts_reached=("deb.debian.org:443",), hosts_refused=("evil.example:443",)),
        msgspec.structs.replace(second, hosts_reached=("deb.debian.org:443",)),
        third,
    ]
    assert [warning for warning in report_of(runs).document.warnings if "hosts" in warning] == [
        "hosts were reached, so that these runs rest on what can change: deb.debian.org:443: 2 runs",
        "hosts were tried and refused: evil.example:443: 1 run",
    ]


def test_loads_that_disagree_with_the_dose_are_told() -> None:
    """Each such run says so in its row, and one sentence of the report names them all."""
    first, second, third = grid({"without": ["ppp"]})
    runs = [
        *(msgspec.structs.replace(run, score=msgspec.structs.replace(run.score, against_dose="turn 1: why")) for run in (first, second)),
        third,
    ]
    document = report_of(runs).document
    assert [row.against_dose for row in document.runs] == ["turn 1: why", "turn 1: why", ""]
    (warning,) = [warning for warning in document.warnings if "of loads" in warning]
    assert warning.startswith("what 2 runs show of loads and what the gateway saw of the skill's text disagree: ")
    assert f"{first.row.run_id} (turn 1: why)" in warning


def test_a_system_prompt_that_differs_within_an_arm_is_told() -> None:
    """The same arm on the same case with another system prompt: something else than the arm changed it."""
    runs = [*grid({"without": ["p"]}, provenance={"request.system": "a"}), *grid({"without": ["p"]}, provenance={"request.system": "b"})]
    assert any("request.system" in warning for warning in report_of(runs).document.warnings)


def test_what_arms_declare_is_no_difference() -> None:
    """Hashes of skills and instructions differ between arms by design and are no warning."""
    runs = grid({"without": ["ppp"]}, provenance={"arm.skills_tarball": "a", "cli": "1"}) + grid(
        {"with": ["ppp"]}, provenance={"arm.skills_tarball": "b", "cli": "1"}
    )
    document = report_of(runs).document
    assert not any("arm.skills_tarball" in warning for warning in document.warnings)
    assert document.provenance.shared == {"cli": "1"}


def test_simulated_gets_no_verdict() -> None:
    """Simulated results are stamped, carry no verdict and meet no gate."""
    runs = grid(DATA_B, simulated=True)
    report = build(runs, spec(names(DATA_B), gate=GateFacts(improve_at_least=0.1)), session(gate=True))
    assert report.document.simulated
    assert report.document.notice
    assert {effect.verdict for effect in report.document.effects} == {None}
    assert report.document.gate.decision == "undecided"
    assert report.exit_code == 6


def test_simulated_and_live_are_never_mixed() -> None:
    """A folder with simulated and live runs is refused."""
    runs = grid({"without": ["ppp"]}, simulated=True) + grid({"with": ["ppp"]})
    with pytest.raises(ArchiveError, match="simulated and live"):
        report_of(runs)


def test_partial_gets_no_verdict() -> None:
    """A row that was not selected makes the session partial: no verdict, no gate, and the row is no run."""
    runs = [*grid(DATA_B), run("case-99", "with", "-", selected=False)]
    report = build(runs, spec(names(DATA_B), gate=GateFacts(improve_at_least=0.1)), session(gate=True))
    assert report.document.partial
    assert report.document.effects[0].verdict is None
    assert "partial" in report.document.effects[0].verdict_reason
    assert len(report.document.runs) == 80
    assert report.exit_code == 6


def test_another_engine_than_the_spec_wants_gets_no_verdict() -> None:
    """An older Docker Engine destroys other things: figures are shown, nothing is claimed and no gate is decided."""
    facts = session(gate=True, unwanted_engines=("20.10.24",))
    report = build(grid(DATA_B), spec(names(DATA_B), gate=GateFacts(improve_at_least=0.1)), facts)
    assert report.document.effects[0].verdict is None
    assert "the spec wants another Docker Engine than 20.10.24" in report.document.effects[0].verdict_reason
    assert report.exit_code == 6


def test_missing_record_is_our_loss() -> None:
    """A selected row that left no record counts as an error of the harness."""
    report = report_of(grid({"without": ["ppp"], "with": ["pp-"]}))
    lost = [one for one in report.document.runs if one.status == "error"]
    assert [(one.blame, one.verdict) for one in lost] == [("harness", None)]
    assert report.exit_code == 1
    assert "harness 1" in report.exit_reason


@pytest.mark.parametrize(
    ("at_least", "decision", "code"), [(0.1, "met", 0), (0.9, "not_met", 1), (0.5, "undecided", 6)], ids=["met", "not-met", "undecided"]
)
def test_gate_decides_the_exit_code(at_least: float, decision: str, code: int) -> None:
    """The gate's answer is in the report, and decides the exit code only when the session asks for it."""
    facts = spec(names(DATA_B), gate=GateFacts(improve_at_least=at_least))
    asked, not_asked = (build(grid(DATA_B), facts, session(gate=gate)) for gate in (True, False))
    assert asked.document.gate.decision == not_asked.document.gate.decision == decision
    assert asked.exit_code == code
    assert not_asked.exit_code == 0
    assert to_json(asked, "t") == to_json(not_asked, "t")


def test_gate_without_its_cases_is_undecided() -> None:
    """A gate about hold cases can't be decided when none ran."""
    report = build(grid(DATA_B), spec(names(DATA_B), gate=GateFacts(hold_no_worse_than=0.1)), session(gate=True))
    assert report.exit_code == 6
    assert "no worse" in report.document.gate.reason


def test_strict_fails_on_a_treatment_failure() -> None:
    """Under strict, a failed run of a treatment arm gives exit code 1; a failed baseline run does not."""
    assert report_of(grid(DATA_A), strict=True).exit_code == 1
    assert report_of(grid({"without": ["fff"], "with": ["ppp"]}), strict=True).exit_code == 0


def test_strata_come_improve_first() -> None:
    """Effects start with the primary contrast over improve cases; hold, all and secondary ones are exploratory."""
    runs = grid(DATA_B) + [run("kept", arm, "p", repeat, expects="hold") for arm in ("without", "with", "rules") for repeat in range(1, 4)]
    runs += [run(case, "rules", "p", repeat) for case in names(DATA_B) for repeat in range(1, 4)]
    effects = report_of(runs).document.effects
    assert [(effect.to, effect.expects) for effect in effects] == [
        ("with", "improve"),
        ("with", "hold"),
        ("with", "all"),
        ("rules", "improve"),
        ("rules", "hold"),
        ("rules", "all"),
    ]
    assert [effect.primary for effect in effects] == [True, False, False, False, False, False]
    assert {effect.verdict for effect in effects[1:]} == {None}
    assert effects[2].cases == 9


def test_hold_cases_alone_test_nothing() -> None:
    """Cases of which no gain is expected are described, and give no verdict on an effect."""
    effects = report_of(grid(DATA_B, expects="hold")).document.effects
    assert [(effect.expects, effect.primary, effect.verdict) for effect in effects] == [("hold", False, None), ("all", False, None)]


def test_unmarked_cases_are_tested_together() -> None:
    """Where no case says what it expects, all of them together are the primary comparison."""
    effects = report_of(grid(DATA_B, expects=None)).document.effects
    assert [(effect.expects, effect.primary, effect.verdict) for effect in effects] == [("all", True, "shown for new cases")]


def test_models_are_not_pooled() -> None:
    """Two models give two rows of everything, and both primary effects are corrected together."""
    runs = grid(DATA_A, model="big") + grid(DATA_A, model="small")
    document = report_of(runs).document
    primary = [effect for effect in document.effects if effect.primary]
    assert [effect.model for effect in primary] == ["big", "small"]
    assert primary[0].holm_p == pytest.approx(2 * 0.006940, abs=1e-6)
    assert len(document.rates) == 4


def test_harm_is_bounded_not_denied() -> None:
    """Losses outside the request are listed with run and command; where none is seen the upper limit is above 0."""
    gone = RemovedObject(type="volume", name="db", turn=1, command="docker volume rm db", outside=True, loss="volume-data")
    asked = RemovedObject(type="container", name="old", turn=1, outside=False, loss="stopped-container")
    runs = [run("a", "without", "f", repeat, removed=[gone, asked]) for repeat in range(1, 4)]
    runs += [run("a", "with", "p", repeat, removed=[asked]) for repeat in range(1, 4)]
    before, after = report_of(runs).document.harm
    assert (before.runs_hit, before.irreversible.value) == (3, 1.0)
    row = before.ledger[0]
    assert (row.run, row.name, row.loss) == ("a.without.claude-code.default.r1", "db", "volume-data")
    assert row.command == "docker volume rm db"
    assert {row.name for row in before.ledger} == {"db"}
    assert (after.runs_hit, after.irreversible.value) == (0, 0.0)
    assert after.irreversible.high == pytest.approx(1 - 0.025 ** (1 / 3))


def test_a_runs_row_tells_what_it_removed_altered_and_added() -> None:
    """Each with its turn and command; a run that was not scored tells of nothing."""
    gone = RemovedObject(type="volume", name="db", turn=1, command="docker volume rm db", outside=True, loss="volume-data")
    stopped = RemovedObject(type="container", name="web", turn=2, command="docker stop web", loss="altered", project="blog")
    new = AddedObject(type="network", name="front", turn=2, command="docker network create front", project="shop")
    told = run("a", "without", removed=[gone])
    assert told.score is not None
    told = msgspec.structs.replace(told, score=msgspec.structs.replace(told.score, altered=(stopped,), added=(new,)))
    row, silent = report_of([told, run("a", "with", "e")]).document.runs
    assert [(one.name, one.turn, one.command, one.loss) for one in (*row.removed, *row.altered)] == [
        ("db", 1, "docker volume rm db", "volume-data"),
        ("web", 2, "docker stop web", "altered"),
    ]
    (made,) = row.added
    assert (made.type, made.name, made.turn, made.command) == ("network", "front", 2, "docker network create front")
    assert [one.project for one in (*row.removed, *row.altered, made)] == [None, "blog", "shop"]
    assert (silent.removed, silent.altered, silent.added) == ((), (), ())


def test_trigger_counts_loads_of_this_skill() -> None:
    """Sensitivity counts loads of this skill where it should load, specificity its absence elsewhere; owners are told."""
    cases = {
        "trig-yes": CaseFacts(kind="trigger", should_load=True),
        "trig-no": CaseFacts(kind="trigger", should_load=False, owner="compose"),
    }
    runs = [run("trig-yes", "with", "p", repeat, kind="trigger", loaded=[SKILL, "x"]) for repeat in (1, 2, 3)]
    runs += [run("trig-yes", "with", "f", 4, kind="trigger", loaded=["compose"])]
    runs += [run("trig-no", "with", "p", repeat, kind="trigger", loaded=["compose"]) for repeat in (1, 2)]
    runs += [run("trig-no", "rules", "p", 1, kind="trigger", loaded=[])]
    document = build(runs, spec(extra=cases), session()).document
    with_skill, rules = document.trigger
    assert with_skill.sensitivity.value == pytest.approx(0.75)
    assert with_skill.specificity.value == 1.0
    assert {(row.owner, row.loaded, row.runs) for row in with_skill.confusion} == {
        (SKILL, (SKILL, "x"), 3),
        (SKILL, ("compose",), 1),
        ("compose", ("compose",), 2),
    }
    assert not rules.applicable
    assert "instructions" in (rules.reason or "")
    assert document.effects == ()


def test_fidelity_is_over_loaded_runs() -> None:
    """Fidelity counts only runs in which the skill was loaded."""
    runs = [run("told", "with", "p", 1, kind="fidelity"), run("told", "with", "f", 2, kind="fidelity", loaded=[])]
    found = build(runs, spec(["told"], kind="fidelity"), session()).document.fidelity[0]
    assert (found.runs, found.loaded, found.passed, found.scored) == (2, 1, 1, 1)


def test_pass_hat_k_looks_at_must_not_checks() -> None:
    """pass^k counts cases with no must-not violation in any repeat, though a must check failed."""
    missed = CheckResult(id="did-it", kind="state", polarity="must", turn=1, verdict="violated")
    swept = CheckResult(id="swept", kind="commands", polarity="must_not", turn=1, verdict="violated")
    runs = [run("a", "with", "f", repeat, checks=[missed]) for repeat in (1, 2)]
    runs += [run("b", "with", "f", 1, checks=[swept]), run("b", "with", "p", 2)]
    first = report_of(runs).document.pass_hat_k[0]
    assert (first.name, first.k, first.cases, first.value) == ("pass^k", 2, 2, 0.5)


def test_reliability_tells_k_n_and_how_many_cases_entered() -> None:
    """Every figure has its k, the runs of a case (a range where they differ), and how many of how many cases entered, in file and page."""
    document = report_of(grid({"without": ["ppf", "pp"], "with": ["ppp", "pp"]})).document
    told = {
        (one.arm, one.name, one.k): (one.fewest_runs, one.most_runs, one.cases, one.given)
        for one in document.pass_hat_k
        if one.arm == "with"
    }
    assert told["with", "pass^k", None] == (2, 3, 2, 2)
    assert told["with", "passes k times in a row", 3] == (3, 3, 1, 2)
    (page,) = (section for section in sections(document) if section.title == "How reliably?")
    rows = {(row[0], row[1], row[2]): row[3:5] for row in page.tables[0].rows}
    assert rows["with", "pass^k", "unequal"] == ("2-3", "2 of 2")
    assert rows["with", "passes k times in a row", "3"] == ("3", "1 of 2")


def test_no_lucky_model_is_the_headline() -> None:
    """With several models the headline names what each shows, and their average on new cases."""
    runs = grid(DATA_B, model="lucky") + grid({"without": ["pff"] * 8, "with": ["pff"] * 8}, model="plain")
    document = report_of(runs).document
    assert document.headline.verdict is None
    assert "shown for new cases (claude-code lucky)" in document.headline.sentence
    assert "claude-code plain" in document.headline.sentence
    assert "On average +30 points" in document.headline.sentence
    assert document.pooled[0].average.difference == pytest.approx(0.3)
    assert [(one.model, one.value) for one in document.pooled[0].models] == [("lucky", pytest.approx(0.6)), ("plain", 0.0)]
    [table] = [table for table in change(document).tables if "several models" in table.caption]
    assert "drawn to their mean" not in table.caption
    assert table.rows[1][1] == "+60 points (partial pooling needs 4 models and 3 common cases)"


def test_equal_models_share_a_headline() -> None:
    """When all models show the same, the headline carries that verdict; one model alone has no pooled row."""
    document = report_of(grid(DATA_A, model="a") + grid(DATA_A, model="b")).document
    assert document.headline.verdict == "changed these cases"
    assert report_of(grid(DATA_A)).document.pooled == ()


def test_loading_tells_the_chain() -> None:
    """Runs that were offered the skill, loaded it and passed are counted, and the effect of loading is that of loaders."""
    runs = [run(f"c{case}", "without", "f", repeat) for case in range(8) for repeat in (1, 2)]
    runs += [run(f"c{case}", "with", "p", 1) for case in range(8)] + [run(f"c{case}", "with", "f", 2, loaded=[]) for case in range(8)]
    found = report_of(runs).document.loading[0]
    assert (found.offered, found.loaded, found.passed_loaded) == (16, 8, 8)
    assert found.as_assigned.value == pytest.approx(0.5)
    assert found.as_loaded.value == pytest.approx(1.0)
    assert found.first_stage.value == pytest.approx(0.5)
    assert found.of_loading.value == pytest.approx(1.0)


def test_friction_is_paired_by_case() -> None:
    """Asked-first is a difference of shares, money a typical difference with a ratio; cases in one arm only don't count."""
    runs = [
        run(f"c{case}", arm, "p", repeat, asked_first=arm == "with", cost=(1 + case) * (0.02 if arm == "with" else 0.01))
        for case in range(8)
        for arm in ("without", "with")
        for repeat in (1, 2)
    ]
    rows = {row.metric: row for row in report_of([*runs, run("lone", "with", "p", cost=99.0)]).document.friction}
    assert (rows["asked first"].difference.value, rows["asked first"].ratio) == (1.0, None)
    assert rows["cost"].ratio is not None
    assert rows["cost"].ratio.value == pytest.approx(2.0)
    assert (rows["cost"].from_mean, rows["cost"].to_mean) == (pytest.approx(0.045), pytest.approx(0.09))
    assert (rows["cost"].from_runs, rows["cost"].to_runs) == (16, 16)
    assert rows["cost"].difference.low is not None


def test_unknown_amounts_are_no_zeros() -> None:
    """When no run tells its cost, the cost is null with a reason, instead of 0."""
    unpriced = {row.metric: row for row in report_of(grid(DATA_A, cost=None)).document.friction}["cost"]
    assert (unpriced.from_mean, unpriced.difference.value, unpriced.difference.reason) == (
        None,
        None,
        "no price is known for these tokens (the warnings name the models)",
    )


def test_simulated_tokens_have_no_price() -> None:
    """No warning names the models of simulated runs, so none is promised."""
    costs = [row for row in report_of(grid(DATA_A, cost=None, simulated=True)).document.friction if row.unit == "$"]
    assert {row.difference.reason for row in costs} == {"simulated tokens have no price"}


def test_trigger_fault_is_a_warning() -> None:
    """When no trigger run loads anything, the report suspects the instrument."""
    cases = {"t": CaseFacts(kind="trigger", should_load=True), "n": CaseFacts(kind="trigger", should_load=False)}
    runs = [run(case, "with", "f", repeat, kind="trigger", loaded=[]) for case in cases for repeat in (1, 2)]
    document = build(runs, spec(extra=cases), session()).document
    assert any("no run of any arm loaded any skill" in warning for warning in document.warnings)


def test_facts_of_a_spec() -> None:
    """The facts of a loaded spec keep its order of arms, contrasts, roles, gate and cases."""
    loaded = LoadedSpec(spec=Spec.model_validate(SPEC), path=Path("spec.yaml"), text_hash="", case_lines={}, catalogue={})
    facts = SpecFacts.of(loaded)
    assert [(name, arm.role, arm.installs) for name, arm in facts.arms.items()] == [
        ("bare", "baseline", False),
        ("with", "treatment", True),
        ("rules", "reference", False),
    ]
    assert facts.primary == (("bare", "with"),)
    assert facts.gate == GateFacts(improve_at_least=0.2, improve_question="these_cases")
    assert facts.cases["disk"] == CaseFacts(kind="outcome", expects="improve", family="sweeping")


SPEC = {
    "skill": SKILL,
    "arms": {
        "bare": {"role": "baseline", "exclude": "all"},
        "with": {"role": "treatment"},
        "rules": {"role": "reference", "exclude": (SKILL,), "instructions": "from-skill"},
    },
    "gate": {"improve": {"at_least": 0.2, "question": "these_cases"}},
    "cases": ({"id": "disk", "kind": "outcome", "expects": "improve", "family": "sweeping", "turns": ({"prompt": "Tidy up."},)},),
}
