"""The Report and everything in it: frozen values with the shape of report.json.

Wherever a number is estimated it stands beside its limits, their method and level, and the number of units behind it.
What can't be estimated has null limits and the reason.
"""

from __future__ import annotations

from typing import Any

import msgspec

FORMAT = 1
"""Number of report.json's format; older ones are read, newer ones refused."""

BANNER = "SIMULATED: proves the instrument, says nothing about the skill"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of an interval, or null and the reason. A reason beside limits is a caveat to read with them."""

    low: float | None
    high: float | None
    level: float
    method: str
    n: float
    """Number of units behind the limits."""
    unit: str
    """What `n` counts: runs, cases, families."""
    reason: str | None = None


class Figure(Limits, frozen=True, kw_only=True):
    """A number with its limits; null when it can't be estimated."""

    value: float | None


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number could move by what is not known: no interval of chance, so without a level."""

    low: float | None
    high: float | None
    method: str
    n: float
    unit: str
    reason: str | None = None


class CheckRow(msgspec.Struct, frozen=True, kw_only=True):
    """One check of one run."""

    id: str
    kind: str
    polarity: str
    turn: int | None
    verdict: str
    detail: str


class LoadRow(msgspec.Struct, frozen=True, kw_only=True):
    """One skill load of one run."""

    skill: str
    how: str
    turn: int
    sure: bool


class Commands(msgspec.Struct, frozen=True, kw_only=True):
    """Simple shell commands of one run."""

    attempted: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class RemovedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One object that one run destroyed."""

    type: str
    name: str
    turn: int | None
    command: str | None
    outside: bool
    """Outside the request."""
    loss: str
    """Loss class: how far it can be made good."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one run; null when the agent did not tell."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run; ``status``, ``blame`` and ``verdict`` as in the table of outcomes."""

    id: str
    case: str
    kind: str
    family: str | None
    expects: str | None
    arm: str
    agent: str
    model: str
    repeat: int
    status: str
    blame: str | None
    verdict: str | None
    reason: str
    checks: tuple[CheckRow, ...]
    loaded: tuple[LoadRow, ...]
    dose: float | None
    commands: Commands
    removed: tuple[RemovedRow, ...]
    tokens: Tokens
    cost_usd: float | None
    seconds: float
    turns: int
    tool_calls: int
    asked_first: bool
    refused: bool
    timed_out: bool
    attempts: int
    """Earlier tries of this run that were thrown away."""


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


class TheseCases(Limits, frozen=True, kw_only=True):
    """The difference on exactly these cases; unit: run."""

    p: float | None
    p_method: str


class NewCases(Limits, frozen=True, kw_only=True):
    """The difference on further cases of this kind; unit: family of cases."""

    difference: float | None
    moved: int
    sign_flip_p: float | None
    gaffke: Limits


class BootstrapLimits(Limits, frozen=True, kw_only=True):
    """The seeded percentile bootstrap: secondary, never in a verdict."""

    resamples: int
    random_seed: int


class ArmCount(msgspec.Struct, frozen=True, kw_only=True):
    """One case in one arm."""

    passed: int
    scored: int
    undecided: int
    lost: int


class EffectCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case of a comparison; ``difference`` is null when an arm has no run with a verdict."""

    case: str
    family: str | None
    from_: ArmCount = msgspec.field(name="from")
    to: ArmCount
    difference: float | None


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Difference in pass rate, ``to`` minus ``from``, as assigned to arms. ``difference`` is the mean over ``per_case``."""

    agent: str
    model: str
    kind: str
    expects: str
    from_: str = msgspec.field(name="from")
    to: str
    primary: bool
    """Tested; all others are exploratory."""
    cases: int
    up: int
    down: int
    same: int
    difference: float | None
    these_cases: TheseCases
    new_cases: NewCases
    bootstrap: BootstrapLimits
    bounds: Bounds
    """With undecided runs counted against and for the effect."""
    holm_p: float | None
    """The p on these cases, corrected for the number of primary comparisons; null where nothing is tested."""
    holm_sign_flip_p: float | None
    """The same for further cases."""
    lost: str | None
    """Why too many runs are lost for a verdict; null when not."""
    verdict: str | None
    direction: str | None
    """``better | worse``, where a change is claimed."""
    verdict_reason: str
    sentence: str
    next_step: str | None
    dropped: tuple[str, ...]
    """Cases without a run with a verdict in one of the arms."""
    per_case: tuple[EffectCase, ...]


class PooledModel(Figure, frozen=True, kw_only=True):
    """The effect of one agent and model, drawn towards the average."""

    agent: str
    model: str


class Pooled(msgspec.Struct, frozen=True, kw_only=True):
    """One primary contrast over several agents and models, on the cases that all of them ran: so that no lucky one is the headline."""

    from_: str = msgspec.field(name="from")
    to: str
    expects: str
    cases: int
    average: NewCases
    between: float | None
    """Variance of the true effects between models; null when it can't be told."""
    models: tuple[PooledModel, ...]


class LossRate(Figure, frozen=True, kw_only=True):
    """Share of runs that destroyed something of this class outside the request."""

    loss: str
    runs_hit: int
    objects: int


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One object destroyed outside the request."""

    run: str
    case: str
    type: str
    name: str
    turn: int | None
    command: str | None
    loss: str


class Harm(msgspec.Struct, frozen=True, kw_only=True):
    """What one arm destroyed outside the request."""

    arm: str
    agent: str
    model: str
    runs: int
    runs_hit: int
    """Runs with an irreversible loss."""
    any: Figure
    """Share of runs with any loss."""
    irreversible: Figure
    """Share of runs with a loss that can't be made good; its upper limit is what "none seen" still allows."""
    by_loss: tuple[LossRate, ...]
    ledger: tuple[LedgerRow, ...]


class HarmEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Difference in the share of runs with an irreversible loss, ``to`` minus ``from``: negative is less harm."""

    agent: str
    model: str
    from_: str = msgspec.field(name="from")
    to: str
    cases: int
    difference: float | None
    these_cases: TheseCases
    new_cases: NewCases


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
    """Reliability over repeats; ``cases`` of ``given`` cases entered."""

    arm: str
    agent: str
    model: str
    name: str
    k: int | None
    cases: int
    given: int


class Friction(msgspec.Struct, frozen=True, kw_only=True):
    """What a run uses, over scored runs of the cases that ran in both arms.

    ``difference`` (to minus from) and ``ratio`` (to over from) are those of a typical case of this kind, so they need not be
    those of the two means. A share (asked first) has no ratio.
    """

    metric: str
    unit: str
    agent: str
    model: str
    from_: str = msgspec.field(name="from")
    to: str
    from_mean: float
    to_mean: float
    from_runs: int
    to_runs: int
    difference: Figure
    ratio: Figure | None


class Loading(msgspec.Struct, frozen=True, kw_only=True):
    """As assigned, as loaded (confounded: loading is not assigned), and the effect of loading with assignment as instrument.

    All about new cases. The chain of the ``to`` arm: runs in which the skill was offered, loaded, and then passed.
    """

    agent: str
    model: str
    from_: str = msgspec.field(name="from")
    to: str
    offered: int
    loaded: int
    passed_loaded: int
    as_assigned: Figure
    as_loaded: Figure
    first_stage: Figure
    of_loading: Figure


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Judge checks of all scored runs, by verdict."""

    checks: int
    held: int
    violated: int
    undecided: int
    not_sent: int
    reasons: dict[str, int]
    """Why checks are undecided, with their number."""


class GatePart(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of the gate for one comparison or arm."""

    name: str
    subject: str
    decision: str
    """``met | not_met | undecided``."""
    reason: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The spec's gate; ``decision`` is null when the spec has none."""

    decision: str | None
    reason: str
    parts: tuple[GatePart, ...]


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The one thing to read."""

    verdict: str | None
    sentence: str
    next_step: str | None


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What made these results: facts of the session, and of the runs: the same in all of them, or with the runs of each value."""

    session: dict[str, Any]
    shared: dict[str, str]
    differing: dict[str, dict[str, int]]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """report.json."""

    format: int = FORMAT
    generated_at: str = ""
    """UTC, ISO 8601: the only thing in which two reports of the same results differ."""
    skill: str
    simulated: bool
    partial: bool
    notice: str | None
    """The banner of simulated results."""
    headline: Headline
    runs: tuple[RunRow, ...]
    rates: tuple[Rate, ...]
    effects: tuple[Effect, ...]
    pooled: tuple[Pooled, ...]
    harm: tuple[Harm, ...]
    harm_effects: tuple[HarmEffect, ...]
    loading: tuple[Loading, ...]
    trigger: tuple[Trigger, ...]
    fidelity: tuple[Fidelity, ...]
    pass_hat_k: tuple[PassHatK, ...]
    friction: tuple[Friction, ...]
    judge: Judged
    gate: Gate
    warnings: tuple[str, ...]
    provenance: Provenance


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document, and what depends on the session's options instead of its results."""

    document: Document
    exit_code: int
    """0 measured (and gate met), 1 gate not met, strict failure or runs not measured, 6 gate can't be decided."""
    exit_reason: str
    folder: str = ""
