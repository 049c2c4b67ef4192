"""What a report needs to know besides the runs: of the spec, and of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_skilleval.core.contrasts import null_contrasts, primary_contrasts
from pytest_skilleval.core.statistics.sequential import Look

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Arm, Gate

Pair = tuple[str, str]

DELIVERIES = ("bare", "without", "sham", "with", "rules", "guard", "prompted", "other")
"""The rungs of the delivery ladder: no skills at all, all others, a stand-in, the skill, its text as instructions, permission
rules instead of words, a human who is asked; and arms that are none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFacts:
    """One arm: its role, and whether the skill can be loaded in it."""

    role: str
    installs: bool = True
    why_not: str = ""
    """Why trigger figures don't apply, when `installs` is false."""
    delivers: str = "other"
    """One of DELIVERIES."""
    detail: str = ""
    """What a sham leaves real."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """One case, as far as reports name it."""

    kind: str
    expects: str | None = None
    family: str | None = None
    should_load: bool | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts:
    """What must hold for exit code 0; None: not asked."""

    improve_at_least: float | None = None
    improve_question: str = "new_cases"
    hold_no_worse_than: float | None = None
    loss_at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFacts:
    """The spec, as far as reports need it; arms and cases in the order of the spec."""

    skill: str
    summary: str = ""
    arms: Mapping[str, ArmFacts] = field(default_factory=dict)
    primary: tuple[Pair, ...] = ()
    secondary: tuple[Pair, ...] = ()
    null: tuple[Pair, ...] = ()
    """Pairs of arms that are declared alike: told for calibration."""
    cases: Mapping[str, CaseFacts] = field(default_factory=dict)
    gate: GateFacts | None = None

    def arm(self, name: str) -> ArmFacts:
        """The arm's facts; of one that the spec no longer has: its role is unknown."""
        return self.arms.get(name, ArmFacts(role="unknown"))

    @classmethod
    def of(cls, loaded: LoadedSpec) -> SpecFacts:
        """The facts of a loaded spec. Without named contrasts, each treatment is compared with the first baseline."""
        spec = loaded.spec
        return cls(
            skill=spec.skill,
            summary=spec.summary,
            arms={name: _arm(arm, spec.skill) for name, arm in spec.arms.items()},
            primary=primary_contrasts(spec),
            secondary=spec.contrasts.secondary,
            null=null_contrasts(spec),
            cases={
                case.id: CaseFacts(kind=case.kind, expects=case.expects, family=case.family, should_load=case.should_load, owner=case.owner)
                for case in spec.cases
            },
            gate=_gate(spec.gate),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """The session, as far as reports need it.

    Attributes
    ----------
    random_seed
        Of the plan; seeds the secondary bootstrap.
    partial
        Rows were left out by pytest's own selection (also found out from the rows themselves).
    strict, gate
        The options `--skill-strict` and `--skill-gate`: they decide the exit code, not the report's contents.
    release
        Made with `--skill-release`: the gate takes Gaffke's interval for new cases.
    damaged
        Names of recorded runs that could not be read.
    folder
        Where the files are, as the terminal shall show it; never part of the files.
    provenance
        Facts of the session for the files: plain JSON values.
    lock, changed
        Hash of the spec that the plan locked, and how the one that scores departs from it.
    unwanted_engines
        Versions of Docker Engines that ran and are not what the spec wants: nothing is claimed then.
    looks, stopped_at, stopped_why
        The planned looks, the number of the one that ended the session early, and why: ``changed`` or ``futile``.
    """

    random_seed: int = 0
    partial: bool = False
    strict: bool = False
    gate: bool = False
    release: bool = False
    damaged: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    folder: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    lock: str = ""
    changed: tuple[str, ...] = ()
    unwanted_engines: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    stopped_at: int | None = None
    stopped_why: str = "changed"


def _arm(arm: Arm, skill: str) -> ArmFacts:
    detail = f"description {arm.sham.description}, body {arm.sham.body}" if arm.sham else ""
    known = ArmFacts(role=arm.role, delivers=_delivers(arm, skill), detail=detail)
    if arm.instructions is not None:
        return replace(known, installs=False, why_not="the arm carries the policy in its instructions")
    if arm.exclude == "all" or skill in arm.exclude:
        return replace(known, installs=False, why_not="the skill is not installed in this arm")
    return known


def _delivers(arm: Arm, skill: str) -> str:
    """The strongest thing that an arm does."""
    absent = arm.exclude == "all" or skill in arm.exclude
    tried = {
        "prompted": arm.permissions == "default",
        "guard": arm.guard is not None,
        "rules": arm.instructions is not None,
        "bare": arm.exclude == "all",
        "without": absent,
        "sham": arm.sham is not None,
    }
    return next((name for name, does in tried.items() if does), "with")


def _gate(gate: Gate | None) -> GateFacts | None:
    if gate is None:
        return None
    return GateFacts(
        improve_at_least=gate.improve.at_least if gate.improve else None,
        improve_question=gate.improve.question if gate.improve else "new_cases",
        hold_no_worse_than=gate.hold.no_worse_than if gate.hold else None,
        loss_at_most=gate.irreversible_loss.at_most if gate.irreversible_loss else None,
    )
