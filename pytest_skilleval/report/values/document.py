"""report.json as a whole."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_skilleval.report.values.arms import Fidelity, Harm, PassHatK, Rate, Trigger
from pytest_skilleval.report.values.delivery import Listing, Rung
from pytest_skilleval.report.values.design import Design
from pytest_skilleval.report.values.effects import Chain, Effect, Friction, HarmEffect, Loading, Pooled
from pytest_skilleval.report.values.runs import RunRow

FORMAT = 1
"""Number of report.json's format; older ones are read, newer ones refused."""

BANNER = "SIMULATED: proves the instrument, says nothing about the skill"


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
    method: str
    """Of the interval that was held against the limit: Gaffke for new cases in a release, else BBB."""
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
    design: Design
    headline: Headline
    runs: tuple[RunRow, ...]
    rates: tuple[Rate, ...]
    effects: tuple[Effect, ...]
    pooled: tuple[Pooled, ...]
    ladder: tuple[Rung, ...]
    harm: tuple[Harm, ...]
    harm_effects: tuple[HarmEffect, ...]
    chain: tuple[Chain, ...]
    loading: tuple[Loading, ...]
    listing: tuple[Listing, ...]
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
