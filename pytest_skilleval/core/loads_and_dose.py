"""Loads, as the agent's stream tells them, held against the dose, as the gateway saw it in the model's own requests."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_skilleval.core.evidence import Evidence, Loaded, TurnEvidence

MOST = 0.5
"""Share of the skill's text from which on the model is taken to have read it."""


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
        if before < MOST:
            own = [load for load in kept if load.turn == number and load.skill == skill]
            kept = [one for load in kept if (one := _decided(load, turn) if load in own else load) is not None]
            differing += _differences(number, own, turn)
        before = max(before, turn.dose)
    return Held(loads=tuple(kept), disagreement="; ".join(differing))


def _decided(load: Loaded, turn: TurnEvidence) -> Loaded | None:
    """The load as it stands with the turn's dose; None: it was none."""
    if load.sure:
        return load
    if _refuted(turn):
        return None
    return msgspec.structs.replace(load, sure=(turn.dose or 0.0) >= MOST)


def _differences(number: int, own: list[Loaded], turn: TurnEvidence) -> Iterator[str]:
    if _refuted(turn) and any(load.sure for load in own):
        yield f"turn {number}: a load was seen, but no line of the skill's text was before the model"
    if not own and (turn.dose or 0.0) >= MOST:
        yield f"turn {number}: {turn.dose:.0%} of the skill's text was before the model, but no load was seen".replace("%", " %")


def _refuted(turn: TurnEvidence) -> bool:
    return not turn.dose and turn.transcript.closing == "complete"
