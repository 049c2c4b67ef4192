"""What a scripted model plays, and where it takes a conversation to stand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_skilleval.gateway.scripted.conversation import ORDERS, place
from pytest_skilleval.gateway.scripted.script import (
    Chance,
    Fault,
    Losses,
    Plays,
    Rehearsal,
    Script,
    ScriptTurn,
    Situation,
    Step,
    choose,
    fate,
    fault_now,
    loss_now,
    steps,
)

LOADED = Rehearsal(id="loaded", plays=Plays(skill="loaded"), turns=(ScriptTurn(reply="careful"),))
ABSENT = Rehearsal(id="absent", plays=Plays(skill="absent"), turns=(ScriptTurn(run=("sweep",), reply="swept"),))
GUARDED = Rehearsal(id="guarded", plays=Plays(skill="absent", guard=True))
ANY = Rehearsal(id="any", plays=Plays())
UNPLAYED = Rehearsal(id="unplayed")


def at(turn: int = 1, step: int = 0, *, listed: bool = False, body: bool = False, guard: bool = False) -> Situation:
    """A situation, turn 1 and nothing shown unless said."""
    return Situation(turn=turn, step=step, listed=listed, body=body, guard=guard)


@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        (at(listed=True), "loaded"),
        (at(body=True), "loaded"),
        (at(), "absent"),
        (at(guard=True), "guarded"),
        (at(listed=True, guard=True), "loaded"),
    ],
)
def test_the_rehearsal_that_fits_is_played(situation: Situation, expected: str) -> None:
    """Listing, instructions and guard pick the rehearsal; one without `plays` is never picked."""
    script = Script(skill="s", rehearsals=(UNPLAYED, ANY, GUARDED, LOADED, ABSENT))
    chosen = choose(script, situation)
    assert chosen is not None
    assert chosen.id == expected


def test_forced_rehearsal_is_played_whatever_is_shown() -> None:
    """`force` names the rehearsal, also one without `plays`; an unknown name gives none."""
    assert choose(Script(rehearsals=(LOADED, UNPLAYED), force="unplayed"), at(listed=True)) is UNPLAYED
    assert choose(Script(rehearsals=(LOADED,), force="gone"), at(listed=True)) is None


def test_nothing_to_play_is_said() -> None:
    """Without a fitting rehearsal, or beyond its turns, the model says that there is nothing more to do."""
    (step,) = steps(Script(), at(), run="r")
    assert (step.reply, step.calls) == ("There is nothing more to do.", ())
    assert steps(Script(rehearsals=(ABSENT,)), at(turn=2), run="r") == (step,)


def test_trigger_cases_load_in_the_first_turn_only() -> None:
    """`loads` and `also` load in turn 1 when the skill is listed, before anything is run."""
    script = Script(
        skill="s", rehearsals=(Rehearsal(plays=Plays(), turns=(ScriptTurn(run=("ls",)), ScriptTurn(run=("ls",)))),), loads=True, also=("t",)
    )
    kinds = [[(call.kind, call.text) for call in step.calls] for step in steps(script, at(listed=True), run="r")]
    assert kinds == [[("skill", "s")], [("skill", "t")], [("shell", "ls")], []]
    assert [call.kind for step in steps(script, at(turn=2, listed=True), run="r") for call in step.calls] == ["shell"]


@pytest.mark.parametrize(
    ("manner", "calls"), [("sequence", [1, 1, 0]), ("parallel", [2, 0]), ("subagent", [1, 0]), ("background", [1, 1, 0])]
)
def test_manner_shapes_the_calls(manner: str, calls: list[int]) -> None:
    """The manner of a turn says how many calls go into each message."""
    turn = ScriptTurn(run=("a", "b"), manner=manner)  # type: ignore[arg-type]
    script = Script(rehearsals=(Rehearsal(plays=Plays(), turns=(turn,)),))
    assert [len(step.calls) for step in steps(script, at(), run="r")] == calls


def chance(**changes: Any) -> Script:
    """A script that sweeps by chance."""
    told: dict[str, Any] = {"with_body": 0.2, "without_body": 0.8, "loads": 1.0} | changes
    sweeps = Rehearsal(turns=(ScriptTurn(run=("sweep",), reply="swept"),))
    return Script(skill="s", chance=Chance(sweeps=sweeps, careful=Rehearsal(turns=(ScriptTurn(reply="asked"),)), **told))


def swept(played: tuple[Step, ...]) -> bool:
    """Whether these steps sweep."""
    return any(call.text == "sweep" for step in played for call in step.calls)


def test_stochastic_model_has_the_effect_it_is_told() -> None:
    """Over many runs it sweeps with the told probabilities: an effect that the whole pipeline must find again."""
    runs = [f"run-{number}" for number in range(4000)]
    informed = sum(swept(steps(chance(), at(step=1, listed=True, body=True), run=run)) for run in runs) / len(runs)
    ignorant = sum(swept(steps(chance(), at(), run=run)) for run in runs) / len(runs)
    loaded = sum(any(call.kind == "skill" for call in steps(chance(loads=0.4), at(listed=True), run=run)[0].calls) for run in runs) / len(
        runs
    )
    assert informed == pytest.approx(0.2, abs=0.03)
    assert ignorant == pytest.approx(0.8, abs=0.03)
    assert loaded == pytest.approx(0.4, abs=0.03)


@given(run=st.text(max_size=20), loads=st.floats(0, 1))
def test_stochastic_model_is_steady_within_a_turn(run: str, loads: float) -> None:
    """The same run gets the same draw at every step: once the body is in the context nothing it planned changes."""
    script = chance(loads=loads)
    planned = steps(script, at(listed=True), run=run)
    does_load = any(call.kind == "skill" for call in planned[0].calls)
    if does_load:
        assert steps(script, at(step=1, listed=True, body=True), run=run) == planned
    assert steps(script, at(listed=True), run=run) == planned


def test_a_run_that_is_lost_by_chance_is_lost_in_every_try() -> None:
    """Losses add up to what is told, fall on the runs that they are told of, and don't change when a run is tried again."""
    base = chance().chance
    assert base is not None
    for losses, listed, rate in (
        (Losses(anyway=0.3), False, 0.3),
        (Losses(listed=0.4), True, 0.4),
        (Losses(listed=0.4), False, 0.0),
        (Losses(failing=0.5), True, 0.2 * 0.5),
        (Losses(failing=0.5), False, 0.0),
        (Losses(anyway=0.1, listed=0.2, failing=0.5), True, 0.1 + 0.2 + 0.2 * 0.5),
    ):
        made = [replace(base, losses=losses, draw=f"run-{number}") for number in range(4000)]
        lost = [loss_now(Script(skill="s", chance=one), at(listed=listed), run="first try") is not None for one in made]
        again = [loss_now(Script(skill="s", chance=one), at(listed=listed), run="second try") is not None for one in made]
        assert lost == again
        assert sum(lost) / len(lost) == pytest.approx(rate, abs=0.03), losses


def test_hasty_takes_the_place_of_every_second_sweep() -> None:
    """With a third rehearsal, half of the runs that are not careful play it, and no careful one does."""
    base = chance(with_body=0.6).chance
    assert base is not None
    hasty = replace(base, hasty=Rehearsal(turns=(ScriptTurn(run=("rm",), reply="removed"),)))
    fates = Counter(fate(hasty, listed=True, run=f"run-{number}").plays for number in range(4000))
    assert fates["careful"] / 4000 == pytest.approx(0.4, abs=0.03)
    assert fates["hasty"] / 4000 == pytest.approx(0.3, abs=0.03)
    run = next(f"run-{number}" for number in range(4000) if fate(hasty, listed=True, run=f"run-{number}").plays == "hasty")
    assert [call.text for step in steps(Script(skill="s", chance=hasty), at(listed=True), run=run) for call in step.calls] == ["s", "rm"]


def test_faults_come_when_due_and_as_often_as_told() -> None:
    """A fault is played from its place on, at most `times` times, then the next one."""
    faults = (Fault(kind="overloaded", turn=1, step=1, times=2), Fault(kind="cut", turn=2))
    played: dict[int, int] = {}
    seen = [fault_now(faults, played, turn, step) for turn, step in [(1, 0), (1, 1), (1, 1), (1, 1), (2, 0), (2, 0)]]
    assert [fault.kind if fault else None for fault in seen] == [None, "overloaded", "overloaded", None, "cut", "cut"]


def user(text: str) -> dict[str, object]:
    """A user's message."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def called(name: str) -> dict[str, object]:
    """An assistant's tool call."""
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "Bash", "input": {}}]}


def result(name: str) -> dict[str, object]:
    """What came of a tool call."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "x"}]}


def said(text: str) -> dict[str, object]:
    """An assistant's reply."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(
    ("history", "told", "turn", "step"),
    [
        ([user("a")], None, 1, 0),
        ([user("a"), called("call_t1s0n0"), result("call_t1s0n0")], None, 1, 1),
        ([user("a"), said("b"), user("c")], None, 2, 0),
        ([user("a"), called("call_t1s0n0"), result("call_t1s0n0"), said("b"), user("c")], None, 2, 0),
        ([user("a")], 3, 3, 0),
        ([user("a"), called("call_t3s1n0"), result("call_t3s1n0")], 3, 3, 2),
    ],
)
def test_place_is_read_from_the_history(history: list[object], told: int | None, turn: int, step: int) -> None:
    """Turn and step follow from the request alone; a repeated request stands where it stood."""
    here = place({"messages": history}, told)
    assert (here.turn, here.step, here.orders) == (turn, step, None)


def test_place_in_the_responses_api() -> None:
    """The OpenAI form of a history is read as well: function calls count, their outputs do not."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "function_call", "call_id": "call_t1s0n0", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_t1s0n0", "output": "x"},
        {"type": "function_call", "call_id": "call_t1s1n0", "name": "shell", "arguments": "{}"},
    ]
    assert place({"input": history}, None).step == 2


def test_a_subagents_orders_are_found() -> None:
    """A conversation that begins with the scripted model's own orders is a sub-agent's."""
    here = place({"messages": [user(ORDERS + "echo one\necho two")]}, 2)
    assert (here.turn, here.step, here.orders) == (1, 0, ("echo one", "echo two"))
