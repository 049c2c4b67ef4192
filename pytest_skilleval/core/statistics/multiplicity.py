"""Several primary contrasts in one report."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-adjusted p values in the given order; None (a contrast without a test) stays None and counts for nothing.

    The i-th smallest of m is multiplied by m - i + 1, at most 1, and is never below a smaller one's. (Written out because
    statsmodels' version runs the garbage collector, which takes longer than all else here.)

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6:65.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    least = 0.0
    for rank, (p, place) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - rank)))
        adjusted[place] = least
    return adjusted
