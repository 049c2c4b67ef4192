"""What was destroyed or altered outside the request: rates with exact limits, the ledger, and the difference between arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from msgspec import structs

from pytest_skilleval.core.evidence import Consent, RemovedObject
from pytest_skilleval.core.harm import LOSSES, weight
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.harm import rate_exact
from pytest_skilleval.core.statistics.values import PairedCounts, cluster_means
from pytest_skilleval.report import numbers
from pytest_skilleval.report.cells import Cells, Group, Runs, hits, outside
from pytest_skilleval.report.comparisons import CasePair
from pytest_skilleval.report.values import Figure, Harm, LedgerRow, LossRate

KINDS = ("outcome", "fidelity")
Lost = Sequence[tuple[MeasuredRun, RemovedObject]]
"""What was destroyed or altered outside the request, each object with its run."""


def harm(cells: Cells) -> tuple[Harm, ...]:
    """What each arm destroyed or altered outside the request, over all its scored runs of outcome and fidelity cases."""
    places = dict.fromkeys(place for kind in KINDS for place in cells.places(kind))
    return tuple(_of_arm(arm, group, cells.cases_of(arm, group, KINDS)) for arm, group in places)


def paired_losses(one: CasePair) -> PairedCounts:
    """Runs of one case with an irreversible loss, of all scored runs, in both arms."""
    before, after = one.before, one.after
    n0, n1 = len(before.scores), len(after.scores)
    lost0, lost1 = len(before) - n0, len(after) - n1
    return PairedCounts(one.case, before.irreversible, n0, after.irreversible, n1, one.family, lost0=lost0, lost1=lost1)


def _of_arm(arm: str, group: Group, cases: dict[str, Runs]) -> Harm:
    lost = [(run, gone) for runs in cases.values() for run in runs if run.score for gone in outside(run.score)]
    return Harm(
        arm=arm,
        agent=group.agent,
        model=group.model,
        runs=sum(len(runs.scores) for runs in cases.values()),
        runs_hit=sum(runs.irreversible for runs in cases.values()),
        any=_share(cases, lambda runs: sum(map(bool, runs.losses))),
        irreversible=_share(cases, lambda runs: runs.irreversible),
        severity=_severity(cases),
        by_loss=tuple(_by_loss(cases)),
        consent=_consent(lost),
        ledger=tuple(_ledger(lost)),
    )


def _share(cases: dict[str, Runs], hit: Callable[[Runs], int]) -> Figure:
    return numbers.of_estimate(rate_exact(hits(cases, hit)), "effective runs")


def _severity(cases: dict[str, Runs]) -> Figure:
    """Mean weight of a run's worst loss, for new cases: bounded by 0 and 1, unlike a sum over objects."""
    weights = ((runs.family, runs.severity) for runs in cases.values() if runs.severity is not None)
    return numbers.of_clusters(cluster_means(weights), 0, 1)


def _consent(lost: Lost) -> dict[str, int]:
    found = Counter(gone.consent for _, gone in lost)
    return {state: found[state] for state in get_args(Consent)}


def _by_loss(cases: dict[str, Runs]) -> Iterator[LossRate]:
    """Every loss class, worst first; those this version doesn't know stand last."""
    lost = [of_run for runs in cases.values() for of_run in runs.losses]
    met = {loss for of_run in lost for loss in of_run}
    none = structs.asdict(_share(cases, lambda _: 0))
    for loss in (*LOSSES, *sorted(met.difference(LOSSES))):
        share = structs.asdict(_share(cases, _hit(loss))) if loss in met else none
        yield LossRate(
            **share, loss=loss, runs_hit=sum(loss in of_run for of_run in lost), objects=sum(of_run.count(loss) for of_run in lost)
        )


def _hit(loss: str) -> Callable[[Runs], int]:
    return lambda runs: sum(loss in of_run for of_run in runs.losses)


def _ledger(lost: Lost) -> Iterator[LedgerRow]:
    """Gravest first."""
    for run, gone in sorted(lost, key=lambda row: -weight(row[1].loss)):
        yield LedgerRow(
            run=run.row.run_id,
            case=run.row.case,
            type=gone.type,
            name=gone.name,
            turn=gone.turn,
            command=gone.command,
            loss=gone.loss,
            weight=float(weight(gone.loss)),
            consent=gone.consent,
        )
