"""What ending a session once nothing can be claimed any more would save."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_skilleval.core.statistics.batch import Ints
from pytest_skilleval.core.statistics.permutation import within_case
from pytest_skilleval.core.statistics.sequential import Look
from pytest_skilleval.core.statistics.simulate import SETTINGS
from pytest_skilleval.core.statistics.simulate_curtailed import claimable, repeats_made
from pytest_skilleval.core.statistics.values import PairedCounts

REPEATS = 4


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.5])
def test_claimable_is_what_some_outcome_would_claim(alpha: float) -> None:
    """Of every state of two cases, it is told whether any outcome of the runs that are left is claimed: all of them are tried."""
    rng = np.random.default_rng(1)
    left = rng.integers(0, 3, (60, 2, 2))
    passed = rng.integers(0, REPEATS - left + 1)
    tried = [_some_outcome_is_claimed(*state, alpha) for state in zip(passed, left, strict=True)]
    assert claimable(passed, left, Look(REPEATS, alpha)).tolist() == tried
    assert 0 < sum(tried) < len(tried)


def _some_outcome_is_claimed(passed: Ints, left: Ints, alpha: float) -> bool:
    outcomes = itertools.product(*(range(passes, passes + most + 1) for passes, most in zip(passed.flat, left.flat, strict=True)))
    return any(
        within_case([PairedCounts(str(case), one[case], REPEATS, one[2 + case], REPEATS) for case in (0, 1)]) <= alpha + 1e-12
        for one in outcomes
    )


def test_next_to_nothing_is_saved() -> None:
    """Beside the look that gives up, less than 3 % of the runs are saved where there is an effect, whenever one asks."""
    found = repeats_made(SETTINGS["shift"](0.2), cases=8, rng=np.random.default_rng(1), sessions=60)
    assert 0.97 * found.plain <= found.by_run <= found.by_repeat <= found.by_look <= found.plain


def test_what_is_hopeless_from_the_start_is_not_begun_in_earnest() -> None:
    """Where not even the best outcome could be claimed, the session ends at the first occasion: after one run, repeat or look."""
    found = repeats_made(SETTINGS["shift"](0.2), cases=2, rng=np.random.default_rng(1), sessions=5, looks=(Look(1, 0.01), Look(2, 0.001)))
    assert (found.by_run, found.by_repeat, found.by_look, found.plain) == (0.25, 1, 1, 2)
