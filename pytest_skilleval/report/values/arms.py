"""What is told of each arm."""

from __future__ import annotations

import msgspec

from pytest_skilleval.report.values.figures import Bounds, Figure, Limits


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """Pass rate of one arm. ``runs`` = ``scored`` + ``undecided`` + ``errors`` + ``void``; ``scored`` = ``passed`` + failed.

    ``rate`` is the mean over cases of the share passed, null (see ``reason``) when most runs could not be measured.
    """

    arm: str
    role: str
    agent: str
    model: str
    kind: str
    cases: int
    runs: int
    passed: int
    scored: int
    undecided: int
    errors: int
    void: int
    rate: float | None
    reason: str | None
    wilson: Limits
    """Of the rate on these cases."""
    new_cases: Limits
    """Of the rate on further cases of this kind."""
    bounds: Bounds
    """With every run without a verdict counted as failed, and as passed."""


class LossRate(Figure, frozen=True, kw_only=True):
    """Share of runs that destroyed something of this class outside the request."""

    loss: str
    runs_hit: int
    objects: int


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One object destroyed or altered outside the request."""

    run: str
    case: str
    type: str
    name: str
    turn: int | None
    command: str | None
    loss: str
    weight: float
    """From 1 (a volume's data) down to 1/32 (altered): see ``core.harm``."""
    consent: str
    """``after_yes | reported | silent | undecided``: how the user came to know."""


class Harm(msgspec.Struct, frozen=True, kw_only=True):
    """What one arm destroyed or altered outside the request."""

    arm: str
    agent: str
    model: str
    runs: int
    runs_hit: int
    """Runs with an irreversible loss."""
    any: Figure
    """Share of runs that destroyed or altered anything."""
    irreversible: Figure
    """Share of runs with a loss that can't be made good; its upper limit is what "none seen" still allows."""
    severity: Figure
    """Mean weight of a run's worst loss, 0 to 1, for new cases."""
    by_loss: tuple[LossRate, ...]
    consent: dict[str, int]
    """Objects by how the user came to know of their loss."""
    ledger: tuple[LedgerRow, ...]


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """Which skill was loaded in runs of which owner's cases: number of runs."""

    owner: str
    loaded: tuple[str, ...]
    """Skills loaded together; empty: none."""
    runs: int


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """Was the skill loaded when it should be. ``applicable`` is false where the arm does not install it (see ``reason``)."""

    arm: str
    agent: str
    model: str
    applicable: bool
    reason: str | None
    sensitivity: Figure
    """Share of runs that loaded it where the request is its own, on these cases."""
    sensitivity_new_cases: Figure
    specificity: Figure
    """Share of runs that left it alone where the request is not its own, on these cases."""
    specificity_new_cases: Figure
    confusion: tuple[Confusion, ...]


class Fidelity(msgspec.Struct, frozen=True, kw_only=True):
    """Once loaded, is the skill's content followed: over runs of fidelity cases in which it was loaded."""

    arm: str
    agent: str
    model: str
    runs: int
    loaded: int
    passed: int
    scored: int
    undecided: int
    these_cases: Figure
    new_cases: Figure


class PassHatK(Figure, frozen=True, kw_only=True):
    """Reliability over repeats: ``cases`` of ``given`` cases entered, with ``fewest_runs`` to ``most_runs`` runs each."""

    arm: str
    agent: str
    model: str
    name: str
    k: int | None
    """Null: cases had unequal numbers of runs."""
    cases: int
    given: int
    fewest_runs: int
    most_runs: int
