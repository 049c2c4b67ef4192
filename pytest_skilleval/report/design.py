"""Primary or exploratory: what the plan locked, and the stamp of every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_skilleval.core.statistics.verdict import ALPHA
from pytest_skilleval.report.comparisons import Comparison
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.stopping import FUTILE
from pytest_skilleval.report.values import Design, PlannedLook

STAMPS: Mapping[str, str] = {
    "rates": "exploratory",
    "effects": "by row",
    "pooled": "exploratory",
    "ladder": "exploratory",
    "harm": "exploratory",
    "harm_effects": "by row",
    "chain": "exploratory",
    "loading": "exploratory",
    "listing": "exploratory",
    "trigger": "exploratory",
    "fidelity": "exploratory",
    "pass_hat_k": "exploratory",
    "friction": "exploratory",
    "judge": "exploratory",
    "gate": "primary",
}
"""Primary is what was named before the first run and is tested, corrected for its number; all else describes."""


def design(facts: SpecFacts, session: SessionFacts) -> Design:
    """The lock, the looks and the stamps of one report."""
    stamps = dict.fromkeys(STAMPS, "exploratory") if session.changed else dict(STAMPS)
    return Design(
        lock=session.lock,
        changed=session.changed,
        primary=facts.primary,
        looks=tuple(PlannedLook(repeats=look.repeats, alpha=look.alpha, futile=look.futile) for look in session.looks),
        stopped_at=session.stopped_at,
        stopped_why=None if session.stopped_at is None else session.stopped_why,
        alpha=level_of(session),
        stamps=stamps,
    )


def level_of(session: SessionFacts) -> float:
    """The significance level of this report: that of the look which ended the session."""
    if not session.looks:
        return ALPHA
    return session.looks[-1 if session.stopped_at is None else session.stopped_at - 1].alpha


def unlocked(compared: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons, none of them primary: the spec that scored them is not the one that was locked."""
    return [replace(one, primary=False, subject=one.subject._replace(primary=False)) for one in compared]


def told(design: Design) -> str | None:
    """How a session with planned looks ended, in words."""
    if not design.looks:
        return None
    repeats = ", ".join(str(look.repeats) for look in design.looks)
    if design.stopped_at is None:
        return f"Looks were planned after {repeats} repeats; the session went to the last one, which tests at {design.alpha:g}."
    look, last = design.looks[design.stopped_at - 1], design.looks[-1]
    return (
        f"Stopped at look {design.stopped_at} of {len(design.looks)}, after {look.repeats} of {last.repeats} repeats, "
        f"testing at {look.alpha:g}: {_because(design, look)}"
    )


def _because(design: Design, look: PlannedLook) -> str:
    if design.stopped_why == FUTILE:
        return f"p above {look.futile:g} on these cases, where the plan gives up: more repeats would hardly show anything."
    return "every primary contrast had changed these cases. Differences at an early stop are a bit too large."
