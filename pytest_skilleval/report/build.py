"""Runs and facts -> Report: pure, and the same whatever the order of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report import harm, notices, rates
from pytest_skilleval.report.cells import Cells
from pytest_skilleval.report.comparisons import comparisons
from pytest_skilleval.report.decision import ending, headline
from pytest_skilleval.report.design import design, level_of, unlocked
from pytest_skilleval.report.effects import effects
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.friction import friction
from pytest_skilleval.report.gates import gate
from pytest_skilleval.report.ladder import ladder
from pytest_skilleval.report.listings import listings
from pytest_skilleval.report.loading import chains, loading
from pytest_skilleval.report.losses import harm_effects, loss_comparisons, tested
from pytest_skilleval.report.pooled import pooled
from pytest_skilleval.report.rows import run_row
from pytest_skilleval.report.trigger import trigger
from pytest_skilleval.report.values import BANNER, Document, Report
from pytest_skilleval.report.verdicts import CHANGED, judge, why_silent

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec


def build(measured: Sequence[MeasuredRun], spec: LoadedSpec | SpecFacts, session: SessionFacts) -> Report:
    """The report of one session.

    Parameters
    ----------
    measured
        Every row of the plan with what became of it, in any order; rows that were not selected make the session partial.

    Raises
    ------
    ArchiveError
        Simulated and live runs stand side by side: they are never mixed.
    """
    facts = spec if isinstance(spec, SpecFacts) else SpecFacts.of(spec)
    simulated = _simulated(measured)
    partial = session.partial or any(not run.row.selected for run in measured)
    cells = Cells.of(measured, tuple(facts.arms))
    compared = comparisons(cells, facts, session.random_seed)
    compared = unlocked(compared) if session.changed else compared
    alpha = level_of(session)
    losses = loss_comparisons(compared)
    silence = why_silent(simulated=simulated, partial=partial, unwanted_engines=session.unwanted_engines)
    found = effects(compared, judge(compared, silence=silence, beside=tested(losses), alpha=alpha))
    pools, shown = pooled(compared), listings(cells)
    decided = gate(facts.gate, compared, silence or (CHANGED if session.changed else None), alpha, strict=session.release)
    code, why = ending(cells, facts, session, decided)
    document = Document(
        skill=facts.skill,
        simulated=simulated,
        partial=partial,
        notice=BANNER if simulated else None,
        design=design(facts, session),
        headline=headline(cells, found, pools),
        runs=tuple(map(run_row, cells.runs)),
        rates=rates.rates(cells, facts),
        effects=found,
        pooled=pools,
        ladder=ladder(cells, facts),
        harm=harm.harm(cells),
        harm_effects=harm_effects(
            compared,
            losses,
            facts.gate.hold_no_worse_than if facts.gate else None,
            open_to_claims=silence is None,
            alpha=alpha,
        ),
        chain=chains(cells, facts),
        loading=loading(cells, facts),
        listing=shown,
        trigger=trigger(cells, facts),
        fidelity=rates.fidelity(cells, facts.skill),
        pass_hat_k=rates.pass_hat_k(cells),
        friction=friction(cells, facts),
        judge=notices.judged(cells.runs),
        gate=decided,
        warnings=notices.warnings(cells, facts, session, shown),
        provenance=notices.provenance(cells, session),
    )
    return Report(document=document, exit_code=code, exit_reason=why, folder=session.folder)


def _simulated(measured: Sequence[MeasuredRun]) -> bool:
    kinds = {run.record.simulated for run in measured if run.record}
    if len(kinds) > 1:
        raise ArchiveError("simulated and live runs stand in one folder; report on each kind by itself")
    return True in kinds
