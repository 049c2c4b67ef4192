"""Loads held against the dose that the gateway saw."""

from __future__ import annotations

import pytest
from evidence_made import SKILL, case, ran, said, scored, seen, took

from pytest_skilleval.core.evidence import RunScore, TurnEvidence
from pytest_skilleval.core.transcript import SkillCall

PATH = f"/home/agent/.claude/skills/{SKILL}/SKILL.md"
SURE = f"cat {PATH}"
UNSURE = f"python3 -c \"print(open('{PATH}').read())\""
TEXT = "Ask before sweeping deletions."


def turn(*lines: str, dose: float | None, closing: str = "complete") -> TurnEvidence:
    """A turn with these commands, each of which printed words."""
    return took(said(*(ran(line, output=TEXT) for line in lines), closing=closing), dose=dose)


def told(*turns: TurnEvidence, shown: float | None = 0.0, dosed: bool = True) -> tuple[list[tuple[int, bool]], str]:
    """Turn and sureness of each load, and what is said of the dose."""
    score = scored(case(turns=[{"prompt": "Please."}] * len(turns)), seen(*turns, shown_dose=shown), dosed=dosed)
    return [(load.turn, load.sure) for load in score.loaded], score.against_dose


@pytest.mark.parametrize("dose", [None, 1.0, 0.5])
def test_what_agrees_says_nothing(dose: float | None) -> None:
    """A load that the dose bears out, and one that no gateway saw, stand as they are."""
    assert told(turn(SURE, dose=dose)) == ([(1, True)], "")
    assert told(turn("ls", dose=None if dose is None else 0.0)) == ([], "")


def test_dose_decides_what_the_stream_leaves_open() -> None:
    """A load that is not sure becomes sure with the text in context, and none where next to nothing of it came; else it stays open."""
    assert told(turn(UNSURE, dose=0.9)) == ([(1, True)], "")
    assert told(turn(UNSURE, dose=0.0)) == ([], "")
    assert told(turn(UNSURE, dose=0.2)) == ([(1, False)], "")
    assert told(turn(UNSURE, dose=None), shown=None) == ([(1, False)], "")


def test_disagreement_is_told_and_the_stream_stands() -> None:
    """A sure load with next to nothing of the text, and most of the text without a load, are told with their turns."""
    loads, why = told(turn(SURE, dose=0.0))
    assert loads == [(1, True)]
    assert why == "turn 1: a load was seen, but next to nothing of the skill's text was before the model"
    loads, why = told(turn("ls", dose=0.0), turn("cat copy.md", dose=1.0))
    assert loads == []
    assert why == "turn 2: 100 % of the skill's text was before the model, but no load was seen"


def test_dose_tells_nothing_new_of_a_text_that_was_there_already() -> None:
    """Once the text is in context, by an earlier turn or by the arm's instructions, later loads are the stream's to tell."""
    assert told(turn(SURE, dose=1.0), turn(UNSURE, dose=1.0)) == ([(1, True), (2, False)], "")
    assert told(turn("ls", dose=1.0), shown=1.0) == ([], "")
    assert told(turn(UNSURE, dose=1.0), shown=1.0) == ([(1, False)], "")


def test_a_line_shared_by_chance_bears_nothing_out() -> None:
    """A CLI's own prompt may hold a short line of the text: what stands in every call anyway is no sign of a load, nor of none."""
    assert told(turn(UNSURE, dose=0.001), shown=0.001) == ([], "")
    assert told(turn(UNSURE, dose=0.001), shown=0.0) == ([], "")
    assert (
        told(turn(SURE, dose=0.001), shown=0.001)[1]
        == "turn 1: a load was seen, but next to nothing of the skill's text was before the model"
    )


def test_turn_without_an_end_refutes_nothing() -> None:
    """An agent that was ended at its load never asked its model with the text in context."""
    assert told(turn(SURE, dose=0.0, closing="cut")) == ([(1, True)], "")
    assert told(turn(UNSURE, dose=0.0, closing="cut")) == ([(1, False)], "")


def test_dose_of_another_text_is_held_against_nothing() -> None:
    """Where the arm installs another text than the gateway measures (a sham's, a revision's) loads stand as they are."""
    assert told(turn(SURE, dose=0.0), dosed=False) == ([(1, True)], "")


def test_other_skills_have_no_dose() -> None:
    """Only loads of the skill under test are held against its dose."""
    other = took(said(skill_calls=(SkillCall(name="docker-compose-patterns", ok=True),)), dose=0.0)
    assert told(other) == ([(1, True)], "")


def trigger(evidence: TurnEvidence) -> RunScore:
    """The score of a trigger case that should not load the skill."""
    return scored(case(kind="trigger", turns=[], prompt="Prune.", should_load=False), seen(evidence, shown_dose=0.0))


def test_trigger_case_is_decided_by_the_dose() -> None:
    """What only might have shown the skill leaves a trigger case undecided without a gateway, and decided with one."""
    assert trigger(turn(UNSURE, dose=None)).verdict == "undecided"
    assert trigger(turn(UNSURE, dose=1.0)).verdict == "fail"
    assert trigger(turn(UNSURE, dose=0.0)).verdict == "pass"


def test_dose_after_the_case_was_decided_does_not_count() -> None:
    """The dose is the whole turn's: where the turn went on after the first state-changing command it tells nothing of what came before."""
    late = turn("docker rm x", SURE, dose=1.0)
    assert (trigger(late).verdict, trigger(late).against_dose) == ("pass", "")
