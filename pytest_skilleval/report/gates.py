"""The spec's gate, held against the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, cast

from pytest_skilleval.core.statistics import gate as rules
from pytest_skilleval.core.statistics.gate import Criterion, Decision
from pytest_skilleval.core.statistics.values import Interval
from pytest_skilleval.core.statistics.verdict import ALPHA
from pytest_skilleval.report import words
from pytest_skilleval.report.comparisons import Comparison
from pytest_skilleval.report.facts import GateFacts
from pytest_skilleval.report.harm import paired_losses
from pytest_skilleval.report.values import Gate, GatePart

NOTHING = "nothing that the gate asks about was measured"
CODES: dict[Decision, Literal["met", "not_met", "undecided"]] = {
    Decision.MET: "met",
    Decision.NOT_MET: "not_met",
    Decision.OPEN: "undecided",
}


def gate(
    wanted: GateFacts | None,
    compared: Sequence[Comparison],
    why_open: str | None = None,
    alpha: float = ALPHA,
    *,
    strict: bool = False,
) -> Gate:
    """Evaluate the gate over the primary contrasts, whether or not the session asks for it.

    Parameters
    ----------
    why_open
        Why these results can decide no gate; None: they can.
    alpha
        The level of the session's last look.
    strict
        A release: Gaffke's interval for new cases instead of BBB.
    """
    if wanted is None:
        return Gate(decision=None, reason="the spec has no gate", parts=())
    if why_open is not None:
        return Gate(decision="undecided", reason=why_open, parts=())
    held = [(one, criterion) for one in compared if one.subject.primary for criterion in _criteria(wanted, one, 1 - alpha, strict=strict)]
    wanting = _missing(wanted, [criterion for _, criterion in held])
    if wanting:
        return Gate(decision="undecided", reason=f"{NOTHING}: {wanting}", parts=tuple(_part(*one) for one in held))
    decision = rules.gate([criterion for _, criterion in held])
    reason = "; ".join(f"{criterion.name}: {criterion.reason}" for _, criterion in held if criterion.decision is decision)
    return Gate(decision=CODES[decision], reason=reason, parts=tuple(_part(*one) for one in held))


def _criteria(wanted: GateFacts, one: Comparison, level: float, *, strict: bool) -> Iterator[Criterion]:
    expects = one.subject.expects
    if wanted.improve_at_least is not None and expects == "improve":
        question = cast("rules.Question", wanted.improve_question)
        yield rules.improve(one.counts, one.loss, wanted.improve_at_least, question, strict=strict, level=level)
    if wanted.hold_no_worse_than is not None and expects == "hold":
        yield rules.hold(one.counts, one.loss, wanted.hold_no_worse_than, strict=strict, level=level)
    if wanted.loss_at_most is not None and expects == "all":
        yield rules.loss_at_most([paired_losses(case) for case in one.cases], one.loss, wanted.loss_at_most, level=level)


def _missing(wanted: GateFacts, held: Sequence[Criterion]) -> str:
    """Conditions that no comparison answers."""
    asked = {
        "improve": wanted.improve_at_least is not None,
        "no worse": wanted.hold_no_worse_than is not None,
        "irreversible loss": wanted.loss_at_most is not None,
    }
    return ", ".join(start for start, is_asked in asked.items() if is_asked and not any(one.name.startswith(start) for one in held))


def _part(one: Comparison, criterion: Criterion) -> GatePart:
    subject = one.subject
    return GatePart(
        name=criterion.name,
        subject=f"{subject.pair[0]} -> {subject.pair[1]} ({words.named(subject.group)})",
        decision=CODES[criterion.decision],
        method=criterion.interval.method,
        reason=f"{criterion.reason}: {_limits(criterion.interval)}",
    )


def _limits(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return interval.reason or words.UNKNOWN
    return f"[{100 * interval.low:+.0f}, {100 * interval.high:+.0f}] points"
