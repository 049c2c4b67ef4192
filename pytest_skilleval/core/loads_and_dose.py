"""Loads, as the agent's stream tells them, held against the dose, as the gateway saw it in the model's own requests."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_skilleval.core.dose import KNOWN
from pytest_skilleval.core.evidence import Evidence, Loaded

BY_CHANCE = 0.01
"""So much more of it may come before a model that has read none of it: a short line that other texts hold, too."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The loads of a run, surer by what the gateway saw, and where the two disagree: a sentence, empty where they do not."""

    loads: tuple[Loaded, ...]
    disagreement: str = ""


def held_against_dose(loads: tuple[Loaded, ...], evidence: Evidence, skill: str) -> Held:
    """Decide by the dose what the stream leaves open of the loads of `skill`; where both are sure and differ, say so.

    A turn tells something only where most of the text was not in context before it, and refutes only with a whole ending: an
    agent that was ended at its load never asked its model again.
    """
    kept, differing = list(loads), list[str]()
    before = evidence.shown_dose
    for number, turn in enumerate(evidence.turns, start=1):
        if turn.dose is None or before is None:
            continue
        if before < KNOWN:
            own = [load for load in kept if load.turn == number and load.skill == skill]
            refuted = turn.dose - before < BY_CHANCE and turn.transcript.closing == "complete"
            kept = [_decided(load, turn.dose) if load in own else load for load in kept if load.sure or load not in own or not refuted]
            differing += _differences(number, own, turn.dose, refuted=refuted)
        before = max(before, turn.dose)
    return Held(loads=tuple(kept), disagreement="; ".join(differing))


def _decided(load: Loaded, dose: float) -> Loaded:
    return msgspec.structs.replace(load, sure=load.sure or dose >= KNOWN)


def _differences(number: int, own: list[Loaded], dose: float, *, refuted: bool) -> Iterator[str]:
    if refuted and any(load.sure for load in own):
        yield f"turn {number}: a load was seen, but next to nothing of the skill's text was before the model"
    if not own and dose >= KNOWN:
        yield f"turn {number}: {round(dose * 100)} % of the skill's text was before the model, but no load was seen"
