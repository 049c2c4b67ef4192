"""The whole statistics of a large evaluation stay quick."""

from __future__ import annotations

import time

import numpy as np

from pytest_skilleval.core.statistics.missing import loss
from pytest_skilleval.core.statistics.paired import paired_effect
from pytest_skilleval.core.statistics.passk import every_repeat, k_in_a_row
from pytest_skilleval.core.statistics.proportions import rate_new_cases, rate_these_cases
from pytest_skilleval.core.statistics.values import PairedCounts, RunCounts
from pytest_skilleval.core.statistics.verdict import Contrast, verdicts


def test_a_hundred_cases_five_arms_three_models_take_a_second() -> None:
    """Rates, pass^k, contrasts and verdicts of 100 cases x 10 repeats x 5 arms x 3 models take at most a second."""
    passes = np.random.default_rng(3).binomial(10, 0.6, size=(3, 5, 100)).tolist()
    paired_effect([PairedCounts(str(i), 0, 3, 3, 3) for i in range(3)], random_seed=1)
    contrasts: list[Contrast] = []
    start = time.process_time()
    for arms in passes:
        for arm in arms:
            counts = [RunCounts(str(i), good, 10) for i, good in enumerate(arm)]
            rate_these_cases(counts), rate_new_cases(counts), every_repeat("pass^k", counts), k_in_a_row("passes", counts, 3)
        for arm in arms[1:]:
            pairs = [PairedCounts(str(i), a, 10, b, 10) for i, (a, b) in enumerate(zip(arms[0], arm, strict=True))]
            paired_effect(pairs, random_seed=1)
            contrasts.append(Contrast("", tuple(pairs), loss(0, 1000, 0, 1000)))
    verdicts(contrasts)
    assert time.process_time() - start <= 1
