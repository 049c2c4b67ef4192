"""How much could be measured, by whose fault not, and from what it was made."""

from __future__ import annotations

import json
from collections import Counter

from pytest_skilleval.report import words
from pytest_skilleval.report.sections.shapes import Section, Table, columns
from pytest_skilleval.report.values import Document, RunRow

MOST_RUNS = 1000


def unmeasured(document: Document) -> Section | None:
    """Runs without a verdict: lost by blame and arm, undecided by reason."""
    lost = [run for run in document.runs if run.status != "scored"]
    undecided = [run for run in document.runs if run.verdict == "undecided"]
    dropped = sorted({case for effect in document.effects for case in effect.dropped})
    if not (lost or undecided or dropped or document.judge.checks):
        return None
    sentences = [f"{len(lost)} of {words.plural(len(document.runs), 'run')} could not be measured; {len(undecided)} undecided."]
    if dropped:
        sentences.append(f"Left out of a comparison, for want of a verdict in one arm: {', '.join(dropped)}.")
    if document.judge.checks:
        judge = document.judge
        sentences.append(
            f"Judge: {words.plural(judge.checks, 'check')}, {judge.held} held, {judge.violated} violated, {judge.undecided} undecided."
        )
    tables = tuple(table for table in (_blame(lost), _reasons(undecided), _lost(lost)) if table.rows)
    return Section("What could not be measured", tuple(sentences), tables)


def gate(document: Document) -> Section | None:
    """The gate and its conditions."""
    if document.gate.decision is None:
        return None
    rows = tuple((part.name, part.subject, part.decision.replace("_", " "), part.reason, part.method) for part in document.gate.parts)
    table = Table(columns("condition", "of", "decision", "because", "interval"), rows)
    return Section("Gate", (f"{document.gate.decision.replace('_', ' ')}: {document.gate.reason}",), (table,) if rows else ())


def warnings(document: Document) -> Section | None:
    """All warnings."""
    return Section("Warnings", document.warnings) if document.warnings else None


def provenance(document: Document) -> Section | None:
    """What these results were made with."""
    found = document.provenance
    rows = [*((name, _plain(value)) for name, value in found.session.items()), *found.shared.items()]
    rows += [(name, _with_counts(values)) for name, values in found.differing.items()]
    return Section("Provenance", (), (Table(columns("fact", "value"), tuple(rows)),), folded=True) if rows else None


def runs(document: Document) -> Section | None:
    """Every run on one line."""
    rows = tuple(
        (run.id, run.verdict or run.status, run.reason, f"{run.seconds:.0f} s", words.number(run.cost_usd, "$"))
        for run in document.runs[:MOST_RUNS]
    )
    left = len(document.runs) - len(rows)
    sentences = (f"{left} more are in report.json.",) if left else ()
    table = Table(columns("run", "verdict", "reason", "#agent time", "#cost"), rows)
    return Section("Every run", sentences, (table,), folded=True) if rows else None


def _with_counts(values: dict[str, int]) -> str:
    return "; ".join(f"{value} ({words.plural(count, 'run')})" for value, count in values.items())


def _blame(lost: list[RunRow]) -> Table:
    found = Counter((run.arm, run.status, run.blame or "") for run in lost)
    rows = tuple((arm, status, blame, str(count)) for (arm, status, blame), count in sorted(found.items()))
    return Table(columns("arm", "status", "blame", "#runs"), rows, "Lost runs by blame")


def _reasons(undecided: list[RunRow]) -> Table:
    found = Counter((run.arm, run.reason) for run in undecided)
    rows = tuple((arm, reason, str(count)) for (arm, reason), count in sorted(found.items()))
    return Table(columns("arm", "reason", "#runs"), rows, "Undecided runs by reason")


def _lost(lost: list[RunRow]) -> Table:
    rows = tuple((run.id, run.status, run.blame or "", run.reason) for run in lost[:MOST_RUNS])
    return Table(columns("run", "status", "blame", "detail"), rows, "Lost runs")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
