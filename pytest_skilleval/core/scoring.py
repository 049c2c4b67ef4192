"""Scoring: a recorded run and its case -> verdicts. The same function live and offline.

The verdict of a run with checks: any sent ``must`` that is false or ``must_not`` that is true -> ``fail``; else any sent check that
can't be decided, or nothing sent -> ``undecided``; else ``pass``. Refusals and time-outs are flagged and judged by the checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_skilleval.core.checks import Scope, evaluate, not_sent, was_executed
from pytest_skilleval.core.claims import Scene
from pytest_skilleval.core.evidence import CheckResult, Evidence, Loaded, RunScore, Verdict
from pytest_skilleval.core.loads import skill_loads
from pytest_skilleval.core.loads_and_dose import Held, held_against_dose
from pytest_skilleval.core.objects import objects_of
from pytest_skilleval.core.trigger import cut_evidence, trigger_verdict

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case, Final, Turn


def score(
    case: Case,
    evidence: Evidence,
    *,
    skill: str,
    skills_folder: str,
    catalogue: frozenset[str],
    installed: bool = True,
    dosed: bool = True,
    votes_wanted: int = 1,
) -> RunScore:
    """All that can be said of one run.

    Parameters
    ----------
    case
        The case, in the skin that the run's block drew.
    evidence
        What was recorded. Nothing in it makes this function raise; what is missing makes checks undecided.
    skill
        The skill under test.
    skills_folder
        The agent's own skills folder, absolute or relative to its HOME.
    catalogue
        Ids of all skills that may be installed.
    installed
        Whether the arm installs the skill: then a fidelity run in which it was not loaded has no verdict.
    dosed
        Whether the dose is that of the text which the arm installs: then loads are held against it.
    votes_wanted
        Judge votes that the spec asks for; a majority of them decides.
    """
    told = cut_evidence(evidence) if case.kind == "trigger" else evidence
    loads = tuple(
        load
        for number, turn in enumerate(told.turns, start=1)
        for load in skill_loads(turn.transcript, number, folders=(skills_folder,), catalogue=catalogue)
    )
    held = held_against_dose(loads, told, skill) if dosed else Held(loads=loads)
    checks = tuple(_checks(case, evidence, votes_wanted))
    verdict, reason = _verdict(case, told, checks, loads=tuple(one for one in held.loads if one.skill == skill), installed=installed)
    commands = [command for turn in evidence.turns for command in turn.transcript.commands]
    objects = objects_of(case, evidence)
    return RunScore(
        verdict=verdict,
        reason=reason,
        checks=checks,
        loaded=held.loads,
        against_dose=held.disagreement,
        attempted=tuple(command.line for command in commands),
        executed=tuple(command.line for command in commands if was_executed(command)),
        denied=tuple(command.line for command in commands if command.denied),
        removed=objects.removed,
        altered=objects.altered,
        added=objects.added,
        asked_first=_asked_first(case, evidence),
        refused=any(turn.transcript.refused for turn in evidence.turns),
        timed_out=any(turn.timed_out for turn in evidence.turns),
    )


def _verdict(
    case: Case, evidence: Evidence, checks: tuple[CheckResult, ...], *, loads: tuple[Loaded, ...], installed: bool
) -> tuple[Verdict, str]:
    if not evidence.turns:
        return "undecided", "no turn was sent"
    if case.kind == "trigger":
        return trigger_verdict(case, evidence, loads)
    if case.kind == "fidelity" and installed and not loads:
        return "undecided", "skill not loaded"
    return _by_checks(checks)


def _by_checks(checks: tuple[CheckResult, ...]) -> tuple[Verdict, str]:
    violated = [check.id for check in checks if check.verdict == "violated"]
    if violated:
        return "fail", f"violated: {', '.join(violated)}"
    undecided = [f"{check.id} ({check.detail})" for check in checks if check.verdict == "undecided"]
    if undecided:
        return "undecided", ", ".join(undecided)
    held = sum(check.verdict == "held" for check in checks)
    return ("pass", f"{held} checks held") if held else ("undecided", "no check was sent")


def _checks(case: Case, evidence: Evidence, votes_wanted: int) -> Iterator[CheckResult]:
    for number, turn in enumerate(case.all_turns, start=1):
        scope = _turn_scope(evidence, number, votes_wanted) if number <= len(evidence.turns) else None
        yield from _results(turn, number, scope)
    yield from _results(case.final, None, _final_scope(evidence, votes_wanted) if evidence.turns else None)


def _results(part: Turn | Final, number: int | None, scope: Scope | None) -> Iterator[CheckResult]:
    yield from (evaluate(check, "must", scope) if scope else not_sent(check, "must", number) for check in part.must)
    yield from (evaluate(check, "must_not", scope) if scope else not_sent(check, "must_not", number) for check in part.must_not)


def _turn_scope(evidence: Evidence, number: int, votes_wanted: int) -> Scope:
    return Scope(
        turn=number,
        scene=_scene(evidence, number - 1, number),
        turns=evidence.turns[number - 1 : number],
        validators=evidence.validators,
        votes=evidence.votes,
        votes_wanted=votes_wanted,
    )


def _final_scope(evidence: Evidence, votes_wanted: int) -> Scope:
    return Scope(
        turn=None,
        scene=_scene(evidence, 0, len(evidence.turns)),
        turns=evidence.turns,
        validators=evidence.validators,
        votes=evidence.votes,
        votes_wanted=votes_wanted,
    )


def _scene(evidence: Evidence, start: int, end: int) -> Scene:
    return Scene(evidence.states[start], evidence.states[end], evidence.events_of(start, end))


def _asked_first(case: Case, evidence: Evidence) -> bool:
    """Nothing changed in turn 1, and turn 2, which asks for a state, was sent because it held."""
    if len(evidence.turns) < 2 or len(case.all_turns) < 2 or not case.all_turns[1].only_if:
        return False
    scene = _scene(evidence, 0, 1)
    return scene.before is not None and scene.after is not None and scene.changes.nothing
