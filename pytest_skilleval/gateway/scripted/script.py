"""What a scripted model plays: rehearsals, faults, or a draw of chance. Values and pure choices only."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Manner = Literal["sequence", "parallel", "subagent", "background"]

FaultKind = Literal[
    "unauthorized",
    "forbidden",
    "rate_limited",
    "overloaded",
    "server_error",
    "bad_request",
    "hang",
    "hang_midway",
    "cut",
    "garbage",
    "empty",
    "refusal",
    "full",
]


class Plays(msgspec.Struct, frozen=True, kw_only=True):
    """The situation in which a rehearsal is played; None: any."""

    skill: Literal["loaded", "absent"] | None = None
    guard: bool = False


class ScriptTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: load the skill, run commands in some manner, reply."""

    load: bool = False
    read: tuple[str, ...] = ()
    """Files read with the CLI's file tool, where it has one, before anything is run."""
    run: tuple[str, ...] = ()
    reply: str = ""
    manner: Manner = "sequence"
    """``parallel``: all commands in one message. ``subagent``: a sub-agent runs them. ``background``: started, not awaited."""


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """A scripted conversation."""

    id: str = ""
    plays: Plays | None = None
    turns: tuple[ScriptTurn, ...] = ()


class Losses(msgspec.Struct, frozen=True, kw_only=True):
    """Probability that a run gets no answer at all: every request fails with `kind`, from the first one on.

    The parts add up: `anyway`; `listed`, where the skill is listed; `failing`, where it is listed and the run would not be careful.
    """

    kind: FaultKind = "forbidden"
    anyway: float = 0.0
    listed: float = 0.0
    failing: float = 0.0


class Chance(msgspec.Struct, frozen=True, kw_only=True):
    """A model that acts by chance, seeded: to show that a known effect is recovered.

    It loads the listed skill with probability `loads`; then plays `sweeps` with probability `with_body` when the skill's
    body is in the request, with probability `without_body` when it is not, and `careful` else. `hasty`, if given, takes the
    place of `sweeps` every second time. `draw` names the draws; without it the run's name does, which tells one try from the next.
    """

    sweeps: Rehearsal
    careful: Rehearsal
    with_body: float
    without_body: float
    hasty: Rehearsal | None = None
    loads: float = 1.0
    losses: Losses = Losses()
    random_seed: int = 0
    draw: str | None = None


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What chance makes of one run: `plays` is one of the three rehearsals of `Chance`."""

    loads: bool
    plays: Literal["careful", "hasty", "sweeps"]
    lost: bool


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What one run's scripted model plays: the same JSON as the scripted agent's, plus `chance`.

    `skill`: name under test. `loads`: load it in turn 1 whatever the rehearsal says (trigger cases). `also`: other
    skills to load then. `force`: id of the rehearsal to be played.
    """

    skill: str = ""
    rehearsals: tuple[Rehearsal, ...] = ()
    loads: bool = False
    also: tuple[str, ...] = ()
    force: str | None = None
    chance: Chance | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that goes wrong with the model, once or for ever.

    `turn` from 1 and `step` from 0 (before the first tool call) say from when on; `times` None: for ever.
    """

    kind: FaultKind
    turn: int = 1
    step: int = 0
    times: int | None = None


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What the request shows, and where in the conversation it stands."""

    turn: int
    step: int
    listed: bool
    """Whether the skill under test is in the listing."""
    body: bool
    """Whether its body is in the context."""
    guard: bool = False


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call, whatever the API names the tool."""

    kind: Literal["shell", "skill", "read", "subagent"]
    text: str
    """The command, the skill's name, the file's path, or the sub-agent's commands, one a line."""
    background: bool = False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What the model answers to one request: tool calls, or a reply."""

    calls: tuple[Call, ...] = ()
    reply: str = ""


NOTHING_MORE = ScriptTurn(reply="There is nothing more to do.")


def choose(script: Script, situation: Situation) -> Rehearsal | None:
    """The rehearsal for this situation: the forced one, else the best match, else None."""
    if script.force is not None:
        return next((one for one in script.rehearsals if one.id == script.force), None)
    wanted = "loaded" if situation.listed or situation.body else "absent"
    matches = [
        one for one in script.rehearsals if one.plays and one.plays.skill in {None, wanted} and (situation.guard or not one.plays.guard)
    ]
    return min(matches, key=lambda one: (_plays(one).guard != situation.guard, _plays(one).skill is None), default=None)


def _plays(rehearsal: Rehearsal) -> Plays:
    return rehearsal.plays or Plays()


def steps(script: Script, situation: Situation, *, run: str) -> tuple[Step, ...]:
    """All steps of the current turn, in order; the last one is the reply."""
    if script.chance is not None:
        return _by_chance(script, script.chance, situation, run)
    rehearsal = choose(script, situation)
    turns = rehearsal.turns if rehearsal else ()
    turn = turns[situation.turn - 1] if situation.turn <= len(turns) else NOTHING_MORE
    first = situation.turn == 1
    loads = (script.skill,) if turn.load or (first and script.loads and situation.listed) else ()
    return _of_turn(turn, (*loads, *(script.also if first else ())))


def fate(chance: Chance, *, listed: bool, run: str = "", body: bool | None = None) -> Fate:
    """What becomes of a run in which the skill is listed or not; `body` None: its body is in the context if it is loaded."""

    def drawn(what: str) -> float:
        """A number in [0, 1) that only depends on the random seed, the name and the question."""
        name = run if chance.draw is None else chance.draw
        digest = hashlib.sha256(f"{chance.random_seed}/{name}/{what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    loads = listed and drawn("load") < chance.loads
    careful = drawn("sweep") >= (chance.with_body if (loads if body is None else body) else chance.without_body)
    hasty = chance.hasty is not None and drawn("hasty") < 0.5
    loss = chance.losses.anyway + listed * (chance.losses.listed + chance.losses.failing * (not careful))
    return Fate(loads=loads, plays="careful" if careful else "hasty" if hasty else "sweeps", lost=drawn("loss") < loss)


def loss_now(script: Script, situation: Situation, *, run: str) -> Fault | None:
    """The fault that befalls a run which gets no answer at all."""
    chance = script.chance
    if chance is None or (situation.turn, situation.step) != (1, 0):
        return None
    return Fault(kind=chance.losses.kind) if fate(chance, listed=situation.listed, run=run).lost else None


def _by_chance(script: Script, chance: Chance, situation: Situation, run: str) -> tuple[Step, ...]:
    body = True if situation.body else None if situation.step == 0 else False
    drawn = fate(chance, listed=situation.listed, run=run, body=body)
    loads = (script.skill,) if situation.turn == 1 and drawn.loads else ()
    played: Rehearsal = getattr(chance, drawn.plays)
    return _of_turn(played.turns[situation.turn - 1] if situation.turn <= len(played.turns) else NOTHING_MORE, loads)


def _of_turn(turn: ScriptTurn, loads: tuple[str, ...]) -> tuple[Step, ...]:
    loading = tuple(Step(calls=(Call(kind="skill", text=name),)) for name in loads)
    reading = tuple(Step(calls=(Call(kind="read", text=path),)) for path in turn.read)
    return (*loading, *reading, *_runs(turn), Step(reply=turn.reply))


def _runs(turn: ScriptTurn) -> tuple[Step, ...]:
    calls = tuple(Call(kind="shell", text=line, background=turn.manner == "background") for line in turn.run)
    if not calls:
        return ()
    if turn.manner == "subagent":
        return (Step(calls=(Call(kind="subagent", text="\n".join(turn.run)),)),)
    if turn.manner == "parallel":
        return (Step(calls=calls),)
    return tuple(Step(calls=(call,)) for call in calls)


def fault_now(faults: tuple[Fault, ...], played: dict[int, int], turn: int, step: int) -> Fault | None:
    """The fault that is due at this place; `played` (index -> times) is kept up to date."""
    for index, fault in enumerate(faults):
        due = (turn, step) >= (fault.turn, fault.step)
        if due and (fault.times is None or played.get(index, 0) < fault.times):
            played[index] = played.get(index, 0) + 1
            return fault
    return None
