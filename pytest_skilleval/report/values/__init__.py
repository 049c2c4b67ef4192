"""The Report and everything in it: frozen values with the shape of report.json.

Wherever a number is estimated it stands beside its limits, their method and level, and the number of units behind it.
What can't be estimated has null limits and the reason.
"""

from __future__ import annotations

from pytest_skilleval.report.values.arms import Confusion, Fidelity, Harm, LedgerRow, LossRate, PassHatK, Rate, Trigger
from pytest_skilleval.report.values.delivery import Listing, Rung
from pytest_skilleval.report.values.design import Design, PlannedLook
from pytest_skilleval.report.values.document import BANNER, FORMAT, Document, Gate, GatePart, Headline, Judged, Provenance, Report
from pytest_skilleval.report.values.effects import (
    ArmCount,
    BootstrapLimits,
    Chain,
    Effect,
    EffectCase,
    Friction,
    HarmEffect,
    Loading,
    Margin,
    NewCases,
    Pooled,
    PooledModel,
    TheseCases,
)
from pytest_skilleval.report.values.figures import Bounds, Figure, Limits
from pytest_skilleval.report.values.runs import AddedRow, CheckRow, Commands, LoadRow, RemovedRow, RunRow, Tokens

__all__ = [
    "BANNER",
    "FORMAT",
    "AddedRow",
    "ArmCount",
    "BootstrapLimits",
    "Bounds",
    "Chain",
    "CheckRow",
    "Commands",
    "Confusion",
    "Design",
    "Document",
    "Effect",
    "EffectCase",
    "Fidelity",
    "Figure",
    "Friction",
    "Gate",
    "GatePart",
    "Harm",
    "HarmEffect",
    "Headline",
    "Judged",
    "LedgerRow",
    "Limits",
    "Listing",
    "LoadRow",
    "Loading",
    "LossRate",
    "Margin",
    "NewCases",
    "PassHatK",
    "PlannedLook",
    "Pooled",
    "PooledModel",
    "Provenance",
    "Rate",
    "RemovedRow",
    "Report",
    "RunRow",
    "Rung",
    "TheseCases",
    "Tokens",
    "Trigger",
]
