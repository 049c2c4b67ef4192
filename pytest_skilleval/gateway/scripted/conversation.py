"""Where a conversation stands, read from the request alone: a repeated request gets the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from pytest_skilleval.core.model_requests import Body, items, strings

CHARACTERS_PER_TOKEN = 4
"""The fixed rule by which the scripted model counts."""
CALL_ID = re.compile(r"call_[ta](\d+)s(\d+)n\d+")
ORDERS = "Run exactly these commands, one after another, then say that you are done:\n"
"""How the scripted model tells a sub-agent, itself again, what to do."""
SUMMARY = "Everything up to this call is done: "
"""How the scripted model tells itself, in a summary, where the conversation stood that no longer fits."""
SUMMED_UP = re.compile(re.escape(SUMMARY) + CALL_ID.pattern)
ASKS_FOR_SUMMARY = ("Your task is to create a detailed summary of the conversation so far", "CONTEXT CHECKPOINT COMPACTION")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Turn (from 1) and step (from 0) that the request asks for; `orders`: a sub-agent's commands, else None."""

    turn: int
    step: int
    orders: tuple[str, ...] | None = None


def call_id(place: Place, number: int) -> str:
    """The id under which a tool call is sent; the request's history brings it back."""
    return f"call_{'t' if place.orders is None else 'a'}{place.turn}s{place.step}n{number}"


def place(body: Body, told: int | None) -> Place:
    """Where this request stands; `told` is the turn that the runner announced, None: counted from the replies."""
    history = items(body)
    orders = _orders(history)
    summed_up = [found for item in history for text in strings(item) for found in SUMMED_UP.findall(text)]
    begun = int(summed_up[-1][0]) if summed_up else 1
    turn = 1 if orders is not None else told or begun + sum(_replied(history))
    done = [int(step) for calls in (summed_up, *map(_call_ids, history)) for t, step in calls if int(t) == turn]
    return Place(turn=turn, step=max(done, default=-1) + 1, orders=orders)


def asks_for_summary(body: Body) -> bool:
    """Whether the client asks for a summary to go on with, because the conversation no longer fits."""
    last = items(body)[-1:]
    return any(item.get("type") == "compaction_trigger" for item in last) or any(
        words in text for text in strings(last) for words in ASKS_FOR_SUMMARY
    )


def summary(place: Place) -> str:
    """The summary of a conversation that stands at `place`: all that is needed to play on."""
    return f"{SUMMARY}{call_id(msgspec.structs.replace(place, step=place.step - 1), 0)}" if place.step else "Nothing is done yet."


def _call_ids(item: Body) -> Iterator[tuple[str, str]]:
    """(turn, step) of each tool call that this entry sends; results that name the call are left out."""
    if item.get("role") == "assistant" or str(item.get("type", "")).endswith("_call"):
        for text in strings(item):
            if found := CALL_ID.fullmatch(text):
                yield found[1], found[2]


def _replied(history: list[Body]) -> Iterator[bool]:
    """For each assistant entry that sends no tool call: whether the user spoke after it."""
    for index, item in enumerate(history):
        if item.get("role") == "assistant" and not list(_call_ids(item)):
            yield any(later.get("role") == "user" for later in history[index + 1 :])


def _orders(history: list[Body]) -> tuple[str, ...] | None:
    """The commands of a sub-agent's conversation; None in the main one."""
    for item in history:
        if item.get("role") == "user" or item.get("type") == "agent_message":
            for text in strings(item.get("content")):
                if text.startswith(ORDERS):
                    return tuple(text.removeprefix(ORDERS).rstrip().split("\n"))
    return None
