"""The two reference data sets: repeats passed per case, with and without the skill."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.statistics.values import PairedCounts


def _pairs(without: list[int], with_: list[int], repeats: int) -> tuple[PairedCounts, ...]:
    return tuple(PairedCounts(f"case-{i}", a, repeats, b, repeats) for i, (a, b) in enumerate(zip(without, with_, strict=True)))


@pytest.fixture
def data_a() -> tuple[PairedCounts, ...]:
    """Four of eight cases moved, all of them up."""
    return _pairs([3, 1, 0, 2, 0, 2, 1, 3], [3, 3, 3, 2, 3, 3, 1, 3], 3)


@pytest.fixture
def data_b() -> tuple[PairedCounts, ...]:
    """All eight cases moved up."""
    return _pairs([1, 2, 0, 3, 2, 0, 1, 4], [5, 5, 4, 5, 5, 5, 3, 5], 5)
