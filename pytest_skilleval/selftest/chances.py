"""A session for a model that acts by chance: the script of each run, and what must become of it where nothing goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from pytest_skilleval.core.plan import Row
from pytest_skilleval.gateway.scripted.script import Chance, Fate, Losses, Rehearsal, Script, fate
from pytest_skilleval.selftest.script import CAREFUL, HASTY, REHEARSALS, SKILL, SWEEPING, Play
from pytest_skilleval.selftest.sessions import case_id, draw_kinds, generator
from pytest_skilleval.selftest.standards import Standard, Truth, mean_effect

PLAYED = {one["id"]: msgspec.convert({"id": one["id"], "turns": one["turns"]}, Rehearsal) for one in REHEARSALS}
REHEARSAL_OF = {"careful": CAREFUL, "hasty": HASTY, "sweeps": SWEEPING}
GONE = "kill -9 $PPID"
"""What the scripted agent runs where a model would give no answer: no provider can fail it, so it ends itself."""


class Place(NamedTuple):
    """Which run of a session: what its draws are named by. The agent is no part of it, so that all agents meet the same chances."""

    case: str
    arm: str
    repeat: int

    @classmethod
    def of(cls, row: Row) -> Place:
        """The place of a planned run."""
        return cls(row.case, row.arm, row.repeat)


@dataclass(frozen=True, slots=True)
class Chances:
    """One session before it is run.

    Its cases are those of the session of this number in process; what becomes of its runs is drawn anew, by the model itself.
    """

    standard: Standard
    random_seed: int
    number: int

    @property
    def plan_seed(self) -> int:
        """The random seed of its plan."""
        return generator(self.standard, self.random_seed, self.number).getrandbits(32)

    @property
    def kinds(self) -> tuple[Truth, ...]:
        """What each family is like."""
        rng = generator(self.standard, self.random_seed, self.number)
        rng.getrandbits(32)
        return draw_kinds(self.standard, rng)

    @property
    def effect(self) -> float:
        """The true effect on exactly its cases."""
        return mean_effect(self.kinds)

    def chance(self, place: Place, index: int) -> Chance:
        """What the model is told for the run that starts as number `index`, from 0."""
        one = self.standard
        truths = {case_id(number): self.kinds[number // one.paraphrases] for number in range(one.cases)}
        truth, time = truths[place.case], index / max(one.runs - 1, 1)
        rise = one.drift * (time - 0.5)
        return Chance(
            careful=PLAYED[CAREFUL],
            hasty=PLAYED[HASTY],
            sweeps=PLAYED[SWEEPING],
            with_body=1 - truth.loaded - rise,
            without_body=1 - truth.without - rise,
            loads=truth.loads,
            losses=Losses(anyway=one.loss_at_end * time, listed=one.runs_lost, failing=one.failures_lost),
            random_seed=self.random_seed,
            draw="/".join((one.name, str(self.number), place.case, place.arm, str(place.repeat))),
        )

    def play(self, place: Place, index: int) -> Play:
        """What must become of the run, if the skill is listed in its arm alone, and loaded when the model says so."""
        drawn = fate(self.chance(place, index), listed=place.arm == "with")
        return Play(passes=drawn.plays == "careful", loads=drawn.loads, severe=drawn.plays == "sweeps", lost=drawn.lost)

    def script(self, row: Row) -> dict[str, Any]:
        """What the run's scripted model, or scripted agent, is told."""
        chance = self.chance(Place.of(row), row.index)
        if row.agent == "scripted":
            return _without_model(chance)
        told: dict[str, Any] = msgspec.to_builtins(Script(skill=SKILL, chance=chance))
        return told


def _without_model(chance: Chance) -> dict[str, Any]:
    """For the scripted agent, which draws nothing itself: what it plays when the skill is shown to it, and when not."""
    shown = {"loaded": fate(chance, listed=True), "absent": fate(chance, listed=False)}
    return {
        "skill": SKILL,
        "rehearsals": [
            {"id": f"{word}-{drawn.plays}", "plays": {"skill": word, "guard": False}, "turns": [_turn(drawn)]}
            for word, drawn in shown.items()
        ],
        "force": None,
        "loads": False,
        "also": [],
    }


def _turn(drawn: Fate) -> dict[str, Any]:
    [turn] = PLAYED[REHEARSAL_OF[drawn.plays]].turns
    return {"load": drawn.loads, "run": [GONE] if drawn.lost else list(turn.run), "reply": turn.reply}
