"""Several primary contrasts in one report."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-adjusted p values in the given order; None (a contrast without a test) stays None and counts for nothing.

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6:65.
    """
    tested = [p for p in p_values if p is not None]
    if not tested:
        return [None] * len(p_values)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(tested, method="holm")[1])
    return [None if p is None else float(next(adjusted)) for p in p_values]
