"""The one decision line, and the exit code with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.report import words
from pytest_skilleval.report.cells import Cells, verdict
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.notices import blame_counts
from pytest_skilleval.report.values import Effect, Gate, Headline


def headline(cells: Cells, effects: Sequence[Effect]) -> Headline:
    """The first effect in words; without any comparison, what there is instead."""
    if effects:
        first = effects[0]
        return Headline(verdict=first.verdict, sentence=f"Effect: {first.sentence}", next_step=first.next_step)
    if not cells.runs:
        return Headline(verdict=None, sentence="Effect: no run was made.", next_step="select at least one case and arm")
    ran = words.listing(cells.arms)
    return Headline(
        verdict=None,
        sentence=f"Effect: not compared, for no contrast of the spec had outcome cases in both arms (arms that ran: {ran}).",
        next_step="run both arms of a contrast on outcome cases",
    )


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
