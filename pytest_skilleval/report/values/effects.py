"""What is told of each pair of arms."""

from __future__ import annotations

import msgspec

from pytest_skilleval.report.values.figures import Bounds, Figure, Limits


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
    """With every run without a verdict, undecided or lost, counted against and for the effect."""
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


class Margin(msgspec.Struct, frozen=True, kw_only=True):
    """Non-inferiority: is the chance of a loss no higher by more than ``margin``, for new cases."""

    margin: float | None
    """As the spec states it (``gate.hold.no_worse_than``); null: it states none."""
    decision: str
    """``met | not_met | undecided``."""
    reason: str


class HarmEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Difference in the share of runs with an irreversible loss, ``to`` minus ``from``: negative is less harm.

    Of a primary contrast it is the second primary outcome: Holm corrects its p together with those of the pass rates.
    """

    agent: str
    model: str
    from_: str = msgspec.field(name="from")
    to: str
    primary: bool
    """Tested; all others are exploratory."""
    cases: int
    difference: float | None
    these_cases: TheseCases
    new_cases: NewCases
    holm_p: float | None
    holm_sign_flip_p: float | None
    claim: str | None
    """In words; null where nothing is tested."""
    margin: Margin
    severity: Figure
    """Difference in the mean weight of a run's worst loss, for new cases."""
    averted_per_question: Figure
    """Runs with an irreversible loss averted per additional run that asked first, for new cases."""


class Friction(msgspec.Struct, frozen=True, kw_only=True):
    """What a run uses, over scored runs of the cases that ran in both arms.

    ``difference`` (to minus from) and ``ratio`` (to over from) are those of a typical case of this kind, so they need not be
    those of the two means. A share (asked first, asked needlessly: over `hold` cases) has no ratio. The three parts of the
    tokens are estimated from characters; "cost, no cache" is the cost of the same tokens at the price without a cache.
    """

    metric: str
    unit: str
    agent: str
    model: str
    from_: str = msgspec.field(name="from")
    to: str
    from_mean: float | None
    """Null where no run tells; the reason stands beside the difference."""
    to_mean: float | None
    from_runs: int
    to_runs: int
    difference: Figure
    ratio: Figure | None


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """One arm's runs of outcome cases with a verdict, each link a part of the one before: offered > loaded > followed > passed.

    ``followed``: no must-not check tripped. ``passed_all`` counts all ``runs``, loaded or not. Loading is not assigned, so the
    links describe and compare nothing.
    """

    arm: str
    agent: str
    model: str
    runs: int
    offered: int
    loaded: int
    followed: int
    passed: int
    passed_all: int
    reason: str | None
    """Why nothing is offered; null where the arm installs the skill."""


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
    """Confounded, as its reason says."""
    first_stage: Figure
    """By how much assignment changes the share of runs that load."""
    of_loading: Figure
