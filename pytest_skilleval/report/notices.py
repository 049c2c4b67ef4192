"""What a reader must know before believing a number: warnings, provenance, the state of the judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.cells import Cells, Group, has_verdict, loaded, tally
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.values import Judged, Provenance

PER_RUN = frozenset({"sandbox_command", "sandbox_name", "paraphrase", "paraphrases", "skin", "session_id", "request_id", "started_at"})
"""Provenance that differs from run to run by design."""

BY_ARM = ("arm", "instructions", "skills", "guard", "catalogue", "first_request", "prompt", "tool", "request")
"""Words in the names of provenance that differs between arms by design."""

BY_CASE = ("seed",)
"""Words in the names of provenance that differs between cases by design."""


def warnings(cells: Cells, facts: SpecFacts, session: SessionFacts) -> tuple[str, ...]:
    """Everything that weakens a number of this report, each as a sentence."""
    return (
        *session.warnings,
        *(f"{name} could not be read and was left aside" for name in sorted(session.damaged)),
        *_never_loaded(cells, facts),
        *_without_verdict(cells),
        *_differences(cells),
        *_models(cells),
        *_own_warnings(cells.runs),
    )


def provenance(cells: Cells, session: SessionFacts) -> Provenance:
    """Facts of the session, and those of the runs: once where they agree, else each value with its number of runs."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    recorded = [run.record.provenance for run in cells.runs if run.record]
    for facts in recorded:
        for name, value in facts.items():
            values[name][value] += 1
    everywhere = {name for name, found in values.items() if len(found) == 1 and found.total() == len(recorded)}
    return Provenance(
        session=_plain(session.provenance),
        shared={name: next(iter(values[name])) for name in sorted(everywhere)},
        differing={name: dict(sorted(values[name].items())) for name in sorted(set(values) - everywhere - PER_RUN)},
    )


def judged(runs: Sequence[MeasuredRun]) -> Judged:
    """Judge checks by verdict, and why some are undecided."""
    checks = [check for run in runs if run.score for check in run.score.checks if check.kind == "judge"]
    by_verdict = Counter(check.verdict for check in checks)
    reasons = Counter(check.detail or "no reason recorded" for check in checks if check.verdict == "undecided")
    return Judged(
        checks=len(checks),
        held=by_verdict["held"],
        violated=by_verdict["violated"],
        undecided=by_verdict["undecided"],
        not_sent=by_verdict["not_sent"],
        reasons=dict(sorted(reasons.items())),
    )


def blame_counts(runs: Iterable[MeasuredRun]) -> Counter[str]:
    """Number of runs that could not be measured, by whose fault it is."""
    return Counter(run.blame or "harness" for run in runs if run.status != "scored")


def _never_loaded(cells: Cells, facts: SpecFacts) -> list[str]:
    found = []
    for group in cells.groups:
        for arm in cells.arms:
            known = facts.arm(arm)
            runs = [run for run in cells.runs_of(arm, group, ("outcome", "fidelity", "trigger")) if run.score]
            if known.role == "treatment" and known.installs and runs and not any(loaded(run, facts.skill) for run in runs):
                found.append(
                    f"{arm} ({_named(group)}): the skill was loaded in none of {len(runs)} runs; the figures tell what offering it does, "
                    "and may tell of a wrong installation"
                )
    return found


def _without_verdict(cells: Cells) -> list[str]:
    found = []
    for kind in ("outcome", "fidelity", "trigger"):
        for arm, group in cells.places(kind):
            for case, runs in cells.cell(kind, arm, group).items():
                if not any(has_verdict(run) for run in runs):
                    count = tally(runs)
                    what = f"{count.undecided} undecided, {count.lost} not measured"
                    found.append(f"{case} has no run with a verdict in {arm} ({_named(group)}): {what}")
    return found


def _differences(cells: Cells) -> list[str]:
    found = []
    for group in cells.groups:
        runs = [run for run in cells.runs if (run.row.agent, run.row.model) == group]
        for name, where in _differing(runs):
            found.append(f"{_named(group)}: {name} differs between runs that are compared ({where}); they are pooled here all the same")
    return found


def _differing(runs: Sequence[MeasuredRun]) -> list[tuple[str, str]]:
    """Names and values of provenance that should be equal within a comparison and is not."""
    values: dict[str, dict[tuple[str, str], Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for run in runs:
        for name, value in (run.record.provenance if run.record else {}).items():
            if name not in PER_RUN:
                values[name][_scope(name, run)][value] += 1
    found = []
    for name, scopes in sorted(values.items()):
        unequal = [scope for scope in scopes.values() if len(scope) > 1]
        if unequal:
            total: Counter[str] = sum(unequal, Counter())
            found.append((name, ", ".join(f"{value}: {count} runs" for value, count in sorted(total.items()))))
    return found


def _scope(name: str, run: MeasuredRun) -> tuple[str, str]:
    arm = run.row.arm if any(word in name for word in BY_ARM) else ""
    case = run.row.case if arm or any(word in name for word in BY_CASE) else ""
    return arm, case


def _models(cells: Cells) -> list[str]:
    found = []
    for group in cells.groups:
        reported = Counter(
            ", ".join(run.models_reported) for run in cells.runs if (run.row.agent, run.row.model) == group and run.models_reported
        )
        if len(reported) > 1:
            each = "; ".join(f"{models} in {count} runs" for models, count in sorted(reported.items()))
            found.append(f"{_named(group)}: runs report different models ({each}); they are pooled here all the same")
    return found


def _own_warnings(runs: Iterable[MeasuredRun]) -> list[str]:
    """Warnings of the runs themselves, equal ones once with their number."""
    found = Counter(text for run in runs if run.record for text in dict.fromkeys(run.record.warnings))
    return [text if count == 1 else f"{text} ({count} runs)" for text, count in sorted(found.items())]


def _named(group: Group) -> str:
    return group.agent if group.model == "default" else f"{group.agent}, {group.model}"


def _plain(facts: Mapping[str, object]) -> dict[str, object]:
    return {name: facts[name] for name in sorted(facts)}
