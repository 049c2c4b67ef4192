"""The blame matrix: faults of the model x both real CLIs x three moments."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from agent_driving import Bench, script

from pytest_skilleval.core import model_requests
from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.core.transcript import TurnTranscript
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.scripted.conversation import Place
from pytest_skilleval.gateway.scripted.model import ScriptedModel
from pytest_skilleval.gateway.scripted.script import Fault, FaultKind, ScriptTurn, Step
from pytest_skilleval.running.conversation import attribute

pytestmark = pytest.mark.npm

Benches = Callable[..., Bench]
MOMENTS = {"first-call": (1, 0), "between-calls": (1, 1), "later-turn": (2, 0)}
FOR_EVER: tuple[FaultKind, ...] = (
    "unauthorized",
    "forbidden",
    "rate_limited",
    "overloaded",
    "server_error",
    "bad_request",
    "cut",
    "garbage",
    "empty",
)
ONCE: tuple[FaultKind, ...] = ("rate_limited", "overloaded", "server_error")
HANGS: tuple[FaultKind, ...] = ("hang", "hang_midway")
RETRYABLE = frozenset({"rate_limited", "overloaded", "server_error", "cut", "garbage", "empty"})

both = pytest.mark.parametrize("name", ["claude-code", "codex"])
moments = pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())


def last_turn(
    bench: Bench, kind: FaultKind | None, moment: tuple[int, int], *, times: int | None = None, kill: bool = False
) -> TurnTranscript:
    """The transcript of the turn in which the fault is met; `kill`: the turn is killed once it has met it."""
    turn, step = moment
    turns = (ScriptTurn(run=("echo one", "echo two"), reply="One."), ScriptTurn(run=("echo three",), reply="Two."))
    faults = (Fault(kind=kind, turn=turn, step=step, times=times),) if kind else ()
    bench.open(script(*turns), faults=faults)

    def met() -> bool:
        return sum(record.turn == turn for record in bench.requests()) > step

    seen = bench.turn("Begin.", kill_when=met if kill and turn == 1 else None).transcript
    if turn == 2:
        assert seen.failure is None
        assert seen.reply == "One."
        seen = bench.turn("Go on.", kill_when=met if kill else None).transcript
    return seen


@both
@moments
@pytest.mark.parametrize("kind", FOR_EVER)
def test_lasting_fault_is_the_apis(bench: Benches, name: str, kind: FaultKind, moment: tuple[int, int]) -> None:
    """A model that keeps failing is blamed on the API, whenever it happens; its text is never a reply; what was done before is kept."""
    one = bench(name, few_retries=True)
    seen = last_turn(one, kind, moment)
    assert seen.failure is not None
    assert (seen.failure.blame, seen.reply, seen.refused) == ("agent_api", None, False), seen.failure
    assert seen.failure.retryable == (kind in RETRYABLE), seen.failure
    assert [command.line for command in seen.commands] == ["echo one"] * moment[1]
    assert not any("API Error" in text or "Invalid API key" in text for text in seen.messages)
    at_gateway = reading.failure_of(one.requests())
    assert at_gateway is not None
    assert at_gateway.retryable == (kind in RETRYABLE)


@both
@moments
@pytest.mark.parametrize("kind", ONCE)
def test_passing_fault_blames_nobody(bench: Benches, name: str, kind: FaultKind, moment: tuple[int, int]) -> None:
    """A fault that a retry gets over leaves a healthy turn with everything in it, and a warning."""
    one = bench(name, few_retries=True)
    seen = last_turn(one, kind, moment, times=1)
    assert (seen.failure, seen.closing, seen.reply) == (None, "complete", "Two." if moment[0] == 2 else "One.")
    assert [command.line for command in seen.commands] == (["echo three"] if moment[0] == 2 else ["echo one", "echo two"])
    assert reading.failure_of(one.requests()) is None


@both
@moments
def test_our_own_fault_is_not_the_apis(bench: Benches, name: str, moment: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A CLI takes a 500 of our own gateway for the API's; the gateway's records know better, and their word counts."""
    right = ScriptedModel._step

    def step(model: ScriptedModel, body: model_requests.Body, here: Place) -> Step:
        if (here.turn, here.step) == moment:
            raise TypeError("a bug")
        return right(model, body, here)

    monkeypatch.setattr(ScriptedModel, "_step", step)
    one = bench(name, few_retries=True)
    seen = last_turn(one, None, moment)
    assert seen.failure is not None
    assert (seen.failure.blame, seen.reply) == ("agent_api", None)
    with pytest.raises(HarnessError, match="our own gateway failed: TypeError: a bug"):
        attribute(seen, reading.failure_of(one.requests()), timed_out=False, exit_code=1)


@both
@moments
def test_refusal_is_behaviour(bench: Benches, name: str, moment: tuple[int, int]) -> None:
    """A refusal by the model is nobody's failure and no reply; the gateway sees it for both agents."""
    one = bench(name, few_retries=True)
    seen = last_turn(one, "refusal", moment)
    assert (seen.failure, seen.reply) == (None, None)
    assert seen.refused == (name == "claude-code")
    assert reading.model_calls(one.requests())[-1].stop_reason == "refusal"


@both
@moments
@pytest.mark.parametrize("kind", HANGS)
def test_hanging_model_leaves_no_closing_event(bench: Benches, name: str, kind: FaultKind, moment: tuple[int, int]) -> None:
    """A turn that is killed has no closing event, and tells whether anything was done before."""
    seen = last_turn(bench(name, few_retries=True), kind, moment, kill=True)
    assert seen.closing in {"cut", "none"}
    assert seen.failure is not None
    assert seen.failure.blame == "agent_crash"
    assert seen.active == (moment == (1, 1))
