"""Loading at the right requests, and signs of a broken instrument."""

from __future__ import annotations

import pytest
from stat_writing import written

from pytest_skilleval.core.statistics.proportions import wilson
from pytest_skilleval.core.statistics.trigger import TriggerCase, confusion, instrument_faults, trigger_rates

GUARD, OTHER = frozenset({"guard"}), frozenset({"compose"})
NOTHING: frozenset[str] = frozenset()


def _case(name: str, owner: str | None, *loads: frozenset[str]) -> TriggerCase:
    return TriggerCase(name, owner, loads)


CASES = [
    _case("own-1", "guard", GUARD, GUARD, NOTHING),
    _case("own-2", "guard", GUARD, GUARD | OTHER, GUARD),
    _case("own-3", "guard", GUARD, GUARD, GUARD),
    _case("near-1", "compose", OTHER, OTHER, GUARD),
    _case("near-2", None, NOTHING, NOTHING, NOTHING),
    _case("near-3", None, NOTHING, OTHER, NOTHING),
]


def test_sensitivity_and_specificity_with_both_intervals() -> None:
    """Own requests give the one, near misses the other; Wilson for these cases, BBB for new ones."""
    rates = trigger_rates("guard", CASES)
    assert rates.sensitivity.value == pytest.approx(8 / 9)
    assert rates.sensitivity.interval.limits == pytest.approx(wilson(8, 9).limits)
    assert rates.specificity.value == pytest.approx(8 / 9)
    assert rates.sensitivity_new_cases.interval.method == "BBB"
    written(rates)


def test_the_confusion_matrix_counts_every_skill_a_run_loaded() -> None:
    """A run with two skills counts under both, a run with none under none."""
    assert confusion(CASES) == {
        "compose": {"compose": 2, "guard": 1},
        "guard": {"compose": 1, "guard": 8, "none": 1},
        "none": {"compose": 1, "none": 5},
    }


def test_without_near_misses_there_is_no_specificity() -> None:
    """Only own requests: the specificity has a reason, not a 1."""
    rates = trigger_rates("guard", CASES[:3])
    assert rates.specificity.value is None
    assert rates.specificity.interval.reason


@pytest.mark.parametrize(
    ("arms", "sign"),
    [
        ({"with": [_case("a", "guard", NOTHING)], "sham": [_case("a", "guard", NOTHING)]}, "no run of any arm"),
        ({"with": [_case("a", "guard", OTHER), _case("b", None, NOTHING)]}, "recall 0"),
        ({"with": [_case("a", "guard", GUARD), _case("b", None, GUARD)]}, "every run"),
    ],
)
def test_signs_of_a_broken_instrument(arms: dict[str, list[TriggerCase]], sign: str) -> None:
    """Nothing loads anywhere, never loads by its own requests, always loads: each is one warning."""
    warnings = instrument_faults("guard", arms)
    assert len(warnings) == 1
    assert sign in warnings[0]


def test_ordinary_results_raise_no_alarm() -> None:
    """Good and middling triggering, and arms without trigger runs, are no fault of the instrument."""
    assert instrument_faults("guard", {"with": CASES}) == ()
    assert instrument_faults("guard", {"with": [_case("a", "guard", GUARD), _case("b", None, NOTHING)]}) == ()
    assert instrument_faults("guard", {"with": []}) == ()
