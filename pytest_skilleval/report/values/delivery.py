"""What arms deliver, and what their listings show."""

from __future__ import annotations

import msgspec

from pytest_skilleval.report.values.figures import Figure


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on the delivery ladder: described, never tested (exploratory).

    ``delivers``: ``bare | without | sham | with | rules | guard | prompted | other``, in this order.
    """

    arm: str
    delivers: str
    detail: str
    """What a sham leaves real."""
    agent: str
    model: str
    expects: str
    """The cases: those of the headline."""
    cases: int
    passed: int
    scored: int
    these_cases: Figure
    """The pass rate."""
    new_cases: Figure
    baseline: str | None
    difference: Figure | None
    """To the baseline, on these cases; null for the baseline itself, and without one."""
    difference_new_cases: Figure | None
    asked_first: Figure
    human_asked: Figure | None
    """Share of runs in which a command was denied: a human at the prompt would have been asked. Prompted arms only."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Names and descriptions of all skills of one arm, in characters, against the agent's budget for them."""

    arm: str
    agent: str
    model: str
    runs: int
    fewest_characters: int | None
    most_characters: int | None
    budget: int | None
    rule: str
    """Where the budget comes from, with its date."""
    over: bool | None
    shortened_runs: int
    """Runs whose first model request showed a shortened description."""
    shortened: dict[str, int]
    """Those skills, with their number of runs."""
    reason: str | None
    """Why the size is not known."""
