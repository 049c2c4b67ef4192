"""The kill matrix of a spec, check by rehearsal: as terminal lines and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_skilleval.report.markdown import escaped

if TYPE_CHECKING:
    from pytest_skilleval.core.rehearsing import CheckProof, Generated, Proof

SIMULATED = "Simulated: rehearsals show that the checks work; they say nothing about the skill."


def matrix_lines(proof: Proof) -> Iterator[str]:
    """A line for each case and each of its checks, then the figures of what was generated."""
    width = max((len(row.check) for row in proof.checks), default=0)
    for case, rows in groupby(proof.checks, key=lambda row: row.case):
        yield case
        for row in rows:
            yield f"  {row.check:<{width}}  held {row.held}, {_how_tripped(row)}{_open(row)}"
    yield from figures(proof.generated)


def figures(generated: Generated) -> Iterator[str]:
    """How many generated misbehaviours were caught, and how many right ways were condemned."""
    if generated.misbehaviours:
        share = generated.caught / generated.misbehaviours
        yield f"Generated misbehaviours: {generated.caught} of {generated.misbehaviours} caught ({share:.1%})."
    if generated.right_ways:
        alarms = generated.right_ways - generated.passed
        yield f"Generated right ways: {generated.passed} of {generated.right_ways} passed, {alarms} false alarms."


def proof_markdown(proof: Proof) -> str:
    """The matrix, the figures and what is not proven."""
    lines = [f"# Rehearsals of {escaped(proof.skill)}", "", SIMULATED, "", f"{proof.played} rehearsals were played.", ""]
    lines += ["| case | check | kind | held | tripped by | undecided | not sent |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in proof.checks:
        cells = (row.case, row.check, row.kind, str(row.held), _tripped(row) or "never tripped", str(row.undecided), str(row.not_sent))
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    lines += ["", *figures(proof.generated), "", "## Not proven", ""]
    lines += [f"- {escaped(problem)}" for problem in proof.problems] or ["Nothing: every check can hold and can trip (judge checks aside)."]
    return "\n".join(lines) + "\n"


def _tripped(row: CheckProof) -> str:
    generated = [f"{row.tripped_by_generated} generated"] if row.tripped_by_generated else []
    return ", ".join([*row.tripped_by, *generated])


def _how_tripped(row: CheckProof) -> str:
    return f"tripped by {tripped}" if (tripped := _tripped(row)) else "never tripped"


def _open(row: CheckProof) -> str:
    judge = " (waits for a judge)" if row.kind == "judge" else ""
    return f", undecided {row.undecided}{judge}" if row.undecided else ""
