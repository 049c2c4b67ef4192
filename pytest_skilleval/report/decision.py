"""The one decision line, and the exit code with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.core.statistics.verdict import Word
from pytest_skilleval.report import words
from pytest_skilleval.report.cells import Cells, verdict
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.notices import blame_counts
from pytest_skilleval.report.values import Effect, Gate, Headline, Limits, Pooled

SHOWN = str(Word.SHOWN)


def headline(cells: Cells, effects: Sequence[Effect], pooled: Sequence[Pooled]) -> Headline:
    """The first contrast in words, over all agents and models that ran it; without any comparison, what there is instead."""
    if not effects:
        return _nothing_compared(cells)
    first = effects[0]
    same = [effect for effect in effects if effect.primary and (effect.from_, effect.to) == (first.from_, first.to)] or [first]
    if len(same) > 1:
        return _several(same, pooled)
    return Headline(verdict=first.verdict, sentence=f"Effect: {first.sentence}", next_step=first.next_step)


def _nothing_compared(cells: Cells) -> Headline:
    if not cells.runs:
        return Headline(verdict=None, sentence="Effect: no run was made.", next_step="select at least one case and arm")
    ran = words.listing(cells.arms)
    return Headline(
        verdict=None,
        sentence=f"Effect: not compared, for no contrast of the spec had outcome cases in both arms (arms that ran: {ran}).",
        next_step="run both arms of a contrast on outcome cases",
    )


def _several(same: Sequence[Effect], pooled: Sequence[Pooled]) -> Headline:
    """No lucky model is the headline: all are named by what they show, with their average."""
    models: dict[str, list[str]] = {}
    for effect in same:
        what = effect.verdict or f"no verdict: {effect.verdict_reason}"
        models.setdefault(f"WORSE, {what}" if effect.direction == "worse" else what, []).append(words.group(effect.agent, effect.model))
    said = "; ".join(f"{what} ({words.listing(names)})" for what, names in models.items())
    average = next((one.average for one in pooled if (one.from_, one.to) == (same[0].from_, same[0].to)), None)
    mean = f" On average {words.points(average.difference)} {_span(average)} on new cases." if average else ""
    step = next((effect.next_step for effect in same if effect.verdict != SHOWN), same[0].next_step)
    verdict = same[0].verdict if len(models) == 1 else None
    return Headline(verdict=verdict, sentence=f"Effect: {said}.{mean}", next_step=step)


def _span(limits: Limits) -> str:
    return words.points_span(limits) or f"(no limits: {limits.reason or words.UNKNOWN})"


def ending(cells: Cells, facts: SpecFacts, session: SessionFacts, gate: Gate) -> tuple[int, str]:
    """Exit code and its reason: a gate that is asked for decides first, then strictness, then what could not be measured."""
    if session.gate and gate.decision == "not_met":
        return 1, f"the gate is not met: {gate.reason}"
    failed = _strict_failures(cells, facts) if session.strict else 0
    if failed:
        return 1, f"{words.plural(failed, 'run')} of treatment arms failed, and --skill-strict makes that an error"
    if session.gate and gate.decision != "met":
        return 6, f"the gate can't be decided: {gate.reason}"
    lost = blame_counts(cells.runs)
    if lost.total() or session.damaged:
        return 1, _not_measured(lost.total(), len(cells.runs), ", ".join(f"{blame} {n}" for blame, n in sorted(lost.items())), session)
    return 0, f"all {words.plural(len(cells.runs), 'run')} measured{'; the gate is met' if session.gate else ''}"


def _not_measured(lost: int, runs: int, blamed: str, session: SessionFacts) -> str:
    parts = [f"{lost} of {words.plural(runs, 'run')} could not be measured ({blamed})"] if lost else []
    if session.damaged:
        parts.append(f"{words.plural(len(session.damaged), 'recorded run')} can't be read")
    return "; ".join(parts)


def _strict_failures(cells: Cells, facts: SpecFacts) -> int:
    treatments = {name for name, arm in facts.arms.items() if arm.role == "treatment"}
    return sum(run.row.arm in treatments and verdict(run) == "fail" for run in cells.runs)
