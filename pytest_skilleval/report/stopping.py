"""Whether a planned look ends a session, by the very rules of the report."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.sequential import Look
from pytest_skilleval.report.cells import Cells
from pytest_skilleval.report.comparisons import comparisons
from pytest_skilleval.report.facts import SpecFacts
from pytest_skilleval.report.losses import loss_comparisons, tested
from pytest_skilleval.report.verdicts import judge

CHANGED = "changed"
FUTILE = "futile"


def why_it_ends(measured: Sequence[MeasuredRun], facts: SpecFacts, look: Look, random_seed: int = 0) -> str | None:
    """``changed``: every primary contrast has changed these cases; ``futile``: the rest would hardly show anything; None: go on.

    Parameters
    ----------
    measured
        The runs that the look counts.

    Notes
    -----
    Futile is a session in which every primary contrast has changed or has a p on these cases above the look's limit, and no
    primary loss may yet come out either. A contrast that lost too many runs is never futile.
    """
    compared = comparisons(Cells.of(measured, tuple(facts.arms)), facts, random_seed)
    losses = tested(loss_comparisons(compared))
    primary = [
        (one, judged.found) for one, judged in zip(compared, judge(compared, silence=None, beside=losses, alpha=look.alpha), strict=True)
    ]
    changed = [(one, found.these_cases == "changed") for one, found in primary if found]
    if not changed:
        return None
    if all(has for _, has in changed):
        return CHANGED
    open_losses = any(p is not None and look.alpha < p <= look.futile for p, _ in losses)
    hopeless = (has or (not one.loss.too_many and _above(one.found.these_cases.p, look.futile)) for one, has in changed)
    return FUTILE if look.futile < 1 and not open_losses and all(hopeless) else None


def _above(p: float | None, limit: float) -> bool:
    return p is not None and p > limit
