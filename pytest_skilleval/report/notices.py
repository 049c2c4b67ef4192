"""What a reader must know before believing a number: warnings, provenance, the state of the judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pytest_skilleval.core.listing import shortened
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.cells import Cells, loaded
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.listings import listing_warnings
from pytest_skilleval.report.trigger import trigger_faults
from pytest_skilleval.report.values import Judged, Listing, Provenance
from pytest_skilleval.report.words import listing, named, plural

PER_RUN = frozenset({"skin", "paraphrases", "sandbox.name", "model.reported"})
"""Provenance that differs from run to run by design, or is looked at elsewhere."""

BY_ARM = ("arm.", "request.system", "request.tools")
"""How the names of provenance begin that differs between arms by design."""

BY_CASE = ("seed", "sandbox.command", "sandbox.limits", "sandbox.hosts")
"""How the names of provenance begin that differs between cases and skins by design."""


def warnings(cells: Cells, facts: SpecFacts, session: SessionFacts, shown: Sequence[Listing]) -> tuple[str, ...]:
    """Everything that weakens a number of this report, each as a sentence."""
    return (
        *session.warnings,
        *(f"left aside as damaged: {name}" for name in sorted(session.damaged)),
        *_never_loaded(cells, facts),
        *trigger_faults(cells, facts),
        *listing_warnings(shown),
        *_without_verdict(cells),
        *_differences(cells),
        *_models(cells),
        *_masked(cells.runs),
        *_unread_requests(cells.runs),
        *_against_dose(cells.runs),
        *_hosts(cells.runs),
        *_unpriced(cells.runs),
        *_own_warnings(cells.runs),
    )


def provenance(cells: Cells, session: SessionFacts) -> Provenance:
    """Facts of the session, and those of the runs: once where they agree, else each value with its number of runs."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    recorded = [run.record.provenance for run in cells.runs if run.record and run.record.provenance]
    for facts in recorded:
        for name, value in facts.items():
            values[name][value] += 1
    masked = sum(map(masked_secrets, cells.runs))
    everywhere = {name for name, found in values.items() if len(found) == 1 and found.total() == len(recorded)}
    return Provenance(
        session=_plain({**session.provenance, **({"masked_secrets": masked} if masked else {})}),
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
                    f"{arm} ({named(group)}): the skill was loaded in none of {len(runs)} runs; the figures tell what offering it does, "
                    "and may tell of a wrong installation"
                )
    return found


def _without_verdict(cells: Cells) -> list[str]:
    """One sentence per case, with the arms in which no run of it could be told to pass or fail."""
    arms: dict[str, list[str]] = defaultdict(list)
    for kind in ("outcome", "fidelity", "trigger"):
        for arm, group in cells.places(kind):
            for case, runs in cells.cell(kind, arm, group).items():
                count = runs.tally
                if not count.scored:
                    where = arm if len(cells.groups) == 1 else f"{arm}, {named(group)}"
                    arms[case].append(f"{where}: {count.undecided} undecided, {count.lost} lost")
    return [f"{case} has no run with a verdict ({'; '.join(places)})" for case, places in arms.items()]


def _differences(cells: Cells) -> list[str]:
    found = []
    for group, runs in cells.by_group.items():
        for name, where in _differing(runs):
            found.append(f"{named(group)}: {name} differs between runs that are compared ({where}); they are pooled here all the same")
    return found


def _differing(runs: Sequence[MeasuredRun]) -> list[tuple[str, str]]:
    """Names and values of provenance that should be equal within a comparison and is not."""
    values: dict[str, dict[tuple[str, str, int], Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for run in runs:
        for name, value in (run.record.provenance if run.record else {}).items():
            if name not in PER_RUN:
                values[name][_scope(name, run)][value] += 1
    found = []
    for name, scopes in sorted(values.items()):
        unequal = [scope for scope in scopes.values() if len(scope) > 1]
        if unequal:
            total: Counter[str] = sum(unequal, Counter())
            found.append((name, _each(total)))
    return found


def _scope(name: str, run: MeasuredRun) -> tuple[str, str, int]:
    """Within what a fact should be the same: everywhere, or for one arm, case and skin."""
    row = run.row
    if name.startswith(BY_ARM):
        return row.arm, row.case, row.skin
    return ("", row.case, row.skin) if name.startswith(BY_CASE) else ("", "", 0)


def _models(cells: Cells) -> list[str]:
    found = []
    for group, runs in cells.by_group.items():
        reported = Counter(filter(None, map(_reported, runs)))
        if len(reported) > 1:
            found.append(f"{named(group)}: runs report different models ({_each(reported)}); they are pooled here all the same")
    return found


def _reported(run: MeasuredRun) -> str:
    return ", ".join(run.models_reported) or (run.record.provenance.get("model.reported", "") if run.record else "")


def _each(counts: Counter[str]) -> str:
    return listing([f"{value}: {plural(count, 'run')}" for value, count in sorted(counts.items())])


def masked_secrets(run: MeasuredRun) -> int:
    """How often a credential was found in what was recorded, and removed."""
    return run.record.masked_secrets + sum(turn.masked_secrets for turn in run.record.turns) if run.record else 0


def _masked(runs: Iterable[MeasuredRun]) -> list[str]:
    """One sentence when a credential reached an agent: where, and what to do."""
    found = {run.row.run_id: count for run in runs if (count := masked_secrets(run))}
    if not found:
        return []
    times = plural(sum(found.values()), "time")
    where = f"{times} in {plural(len(found), 'run')} ({listing(sorted(found))})"
    how = "it reached the sandbox, or a model's API sent it back; find out how, and change it"
    return [f"a credential of this machine was masked in what was recorded, {where}: {how}"]


def _unread_requests(runs: Iterable[MeasuredRun]) -> list[str]:
    return [
        f"{run.row.run_id}: {plural(run.damaged_requests, 'line')} of requests.jsonl can't be read and left out; "
        "its tokens, money and dose may be too low"
        for run in runs
        if run.damaged_requests
    ]


def _against_dose(runs: Iterable[MeasuredRun]) -> list[str]:
    """One sentence for the runs whose loads and dose disagree; each says so in its own row, too."""
    found = [f"{run.row.run_id} ({run.score.against_dose})" for run in runs if run.score and run.score.against_dose]
    if not found:
        return []
    shows = "1 run shows" if len(found) == 1 else f"{plural(len(found), 'run')} show"
    return [f"what {shows} of loads and what the gateway saw of the skill's text disagree: {listing(found)}"]


def _hosts(runs: Sequence[MeasuredRun]) -> list[str]:
    """What was reached outside, which may say something else tomorrow; and what was tried and not to be reached."""
    reached = Counter(host for run in runs for host in run.hosts_reached)
    refused = Counter(host for run in runs for host in run.hosts_refused)
    told = [("were reached, so that these runs rest on what can change", reached), ("were tried and refused", refused)]
    return [f"hosts {what}: {_each(found)}" for what, found in told if found]


def _unpriced(runs: Iterable[MeasuredRun]) -> list[str]:
    """One sentence for each model whose tokens are known and whose price is not."""
    live = (run for run in runs if run.record and not run.record.simulated)
    found = Counter(_reported(run) or run.row.model for run in live if run.usage.known and run.cost_usd is None)
    return [
        f"no price is known for {model}: the cost of {plural(count, 'run')} is unknown; "
        "give it with --skill-prices, or now with `skilleval report RESULTS --prices FILE`"
        for model, count in sorted(found.items())
    ]


def _own_warnings(runs: Iterable[MeasuredRun]) -> list[str]:
    """Warnings of the runs themselves, equal ones once with their number; those about a full listing are told by arm."""
    own = (text for run in runs if run.record for text in dict.fromkeys(run.record.warnings))
    found = Counter(text for text in own if not shortened(text))
    return [text if count == 1 else f"{text} ({count} runs)" for text, count in sorted(found.items())]


def _plain(facts: Mapping[str, object]) -> dict[str, object]:
    return {name: facts[name] for name in sorted(facts)}
