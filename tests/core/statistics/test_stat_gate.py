"""The gate and the harm figures behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stat_writing import written

from pytest_skilleval.core.statistics.bounded import bbb
from pytest_skilleval.core.statistics.gate import Decision, gate, hold, improve, loss_at_most
from pytest_skilleval.core.statistics.harm import hold_minimum, irreversible_loss, rate_exact
from pytest_skilleval.core.statistics.missing import loss
from pytest_skilleval.core.statistics.values import PairedCounts, RunCounts

Pairs = tuple[PairedCounts, ...]
NONE_LOST = loss(0, 24, 0, 24)
MANY_LOST = loss(5, 24, 0, 24)


def _alike(number: int, passed0: int, passed1: int, repeats: int = 5, undecided1: int = 0) -> Pairs:
    return tuple(PairedCounts(str(i), passed0, repeats, passed1, repeats, None, 0, undecided1) for i in range(number))


@pytest.mark.parametrize(("margin", "cases"), [(0.1, 21), (0.2, 10), (0.23, 9), (0.24, 8), (0.5, 6)])
def test_fewest_cases_that_can_hold(margin: float, cases: int) -> None:
    """The minimum is the first number of unmoved cases whose lower limit clears the margin."""
    assert hold_minimum(margin) == cases
    low = bbb([0.0] * cases).low
    assert low is not None
    assert low > -margin


@pytest.mark.parametrize("margin", [0, 1, -0.1])
def test_a_margin_must_be_a_difference(margin: float) -> None:
    """A margin outside (0, 1) is refused."""
    with pytest.raises(ValueError, match="margin"):
        hold_minimum(margin)


@pytest.mark.parametrize(
    ("cases", "at_least", "decision"),
    [
        (_alike(12, 0, 5), 0.5, Decision.MET),
        (_alike(12, 0, 5), 0.9, Decision.OPEN),
        (_alike(40, 2, 2), 0.2, Decision.NOT_MET),
        (_alike(8, 2, 2), 0.2, Decision.OPEN),
        (_alike(5, 0, 5), 0.2, Decision.OPEN),
        (_alike(2, 0, 5), 0.2, Decision.OPEN),
        ((), 0.2, Decision.OPEN),
    ],
)
def test_improve_for_new_cases(cases: Pairs, at_least: float, decision: Decision) -> None:
    """Met only with the whole interval above, not met only with it below, both from six cases on."""
    criterion = improve(cases, NONE_LOST, at_least)
    assert criterion.decision is decision
    assert criterion.reason
    if len(cases) == 2:
        assert "one or two kinds of case" in criterion.reason


def test_improve_on_these_cases_needs_no_six(data_a: Pairs) -> None:
    """The question about these cases can be met by a few cases; data A does not reach it for new ones."""
    assert improve(data_a, NONE_LOST, 0.1, "these_cases").decision is Decision.MET
    assert improve(data_a, NONE_LOST, 0.1).decision is Decision.OPEN


def test_a_strict_gate_takes_the_wider_interval(data_b: Pairs) -> None:
    """A release gate needs Gaffke's lower limit: data B passes the plain gate only."""
    assert improve(data_b, NONE_LOST, 0.1).decision is Decision.MET
    assert improve(data_b, NONE_LOST, 0.1, strict=True).decision is Decision.OPEN
    assert hold(_alike(22, 3, 3), NONE_LOST, 0.1, strict=True).decision is Decision.OPEN


@pytest.mark.parametrize(
    ("cases", "decision"),
    [
        (_alike(21, 3, 3), Decision.MET),
        (_alike(20, 3, 3), Decision.OPEN),
        (_alike(40, 5, 1), Decision.NOT_MET),
        (_alike(2, 3, 3), Decision.OPEN),
    ],
)
def test_hold_within_a_tenth(cases: Pairs, decision: Decision) -> None:
    """No worse by more than .1 takes 21 cases even when nothing moves."""
    criterion = hold(cases, NONE_LOST, 0.1)
    assert criterion.decision is decision
    if len(cases) == 20:
        assert "21" in criterion.reason


@pytest.mark.parametrize(
    ("losses", "decision"),
    [(_alike(12, 0, 0, 6), Decision.MET), (_alike(8, 3, 0, 3), Decision.OPEN), (_alike(8, 0, 2, 3), Decision.NOT_MET), ((), Decision.OPEN)],
)
def test_irreversible_loss_has_an_exact_limit(losses: Pairs, decision: Decision) -> None:
    """None in 72 runs meets 5 %, none in 24 does not."""
    criterion = loss_at_most(losses, NONE_LOST, 0.05)
    assert criterion.decision is decision
    assert criterion.reason


def test_none_seen_is_not_none() -> None:
    """The exact upper limit of 0 in 24 runs, and of the treatment arm in the loss effect."""
    limit = 1 - 0.025 ** (1 / 24)
    assert rate_exact([RunCounts(str(i), 0, 3) for i in range(8)]).interval.high == pytest.approx(limit)
    effect = irreversible_loss(_alike(8, 2, 0, 3), random_seed=1)
    assert effect.with_.interval.high == pytest.approx(limit)
    assert effect.without.value == pytest.approx(2 / 3)
    assert effect.difference.difference is not None
    assert effect.difference.difference < 0
    written(effect)


def test_undecided_runs_keep_a_gate_open() -> None:
    """A decision that the undecided runs could turn is none."""
    assert improve(_alike(12, 0, 5), NONE_LOST, 0.4).decision is Decision.MET
    lost = [replace(case, lost1=5) for case in _alike(12, 0, 5)]
    assert improve(lost, NONE_LOST, 0.4).decision is Decision.OPEN
    doubtful = improve(_alike(12, 0, 5, undecided1=5), NONE_LOST, 0.4)
    assert (doubtful.decision, doubtful.reason) == (Decision.OPEN, "depends on undecided or lost runs")


def test_lost_runs_keep_every_gate_open() -> None:
    """With too many lost runs nothing is decided."""
    for criterion in (
        improve(_alike(12, 0, 5), MANY_LOST, 0.4),
        hold(_alike(21, 3, 3), MANY_LOST, 0.1),
        loss_at_most(_alike(12, 0, 0, 6), MANY_LOST, 0.05),
    ):
        assert criterion.decision is Decision.OPEN
        assert "lost" in criterion.reason


def test_a_gate_is_as_good_as_its_worst_criterion() -> None:
    """One criterion not met decides; one open one keeps it open; without criteria there is no gate."""
    met, open_, failed = (
        improve(_alike(12, 0, 5), NONE_LOST, 0.5),
        hold(_alike(8, 3, 3), NONE_LOST, 0.1),
        improve(_alike(40, 2, 2), NONE_LOST, 0.2),
    )
    assert gate([met, met]) is Decision.MET
    assert gate([met, open_]) is Decision.OPEN
    assert gate([met, open_, failed]) is Decision.NOT_MET
    with pytest.raises(ValueError, match="criterion"):
        gate([])
    for criterion in (met, open_, failed):
        written(criterion)
