"""What arms are declared to be: whether they show the skill under test, and which of them are compared."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Arm, Spec


def installs(arm: Arm, skill: str) -> bool:
    """Whether the arm offers `skill` to the agent, real or as a sham."""
    return arm.exclude != "all" and skill not in arm.exclude


def keeps_text(arm: Arm) -> bool:
    """Whether a skill under test that the arm installs has the text of the catalogue: no sham's, no other revision's."""
    return arm.revision is None and (arm.sham is None or arm.sham.body == "real")


def primary_contrasts(spec: Spec) -> tuple[tuple[str, str], ...]:
    """The pairs (from, to) that are tested: those the spec names, else each treatment against the first baseline."""
    baseline = next((name for name, arm in spec.arms.items() if arm.role == "baseline"), None)
    if spec.contrasts.primary or baseline is None:
        return spec.contrasts.primary
    return tuple((baseline, name) for name, arm in spec.arms.items() if arm.role == "treatment")


def null_contrasts(spec: Spec) -> tuple[tuple[str, str], ...]:
    """Pairs of baseline arms that are declared alike, so that nothing is to be found between them: what the instrument makes of chance."""
    baselines = [name for name, arm in spec.arms.items() if arm.role == "baseline"]
    return tuple(pair for pair in combinations(baselines, 2) if spec.arms[pair[0]] == spec.arms[pair[1]])
