"""What the tokens of a run were spent on."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core.model_requests import Shown, ShownSkill
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.values import RequestRecord


def call(number: int, *, dose: float | None, listed: bool, **usage: int) -> RequestRecord:
    """One model call."""
    return RequestRecord(
        number=number,
        at=0.0,
        api="anthropic",
        method="POST",
        path="/v1/messages",
        model="claude-opus-4-8",
        status=200,
        usage=Usage(known=bool(usage), **usage),
        dose=dose,
        listed=("a-skill",) if listed else (),
    )


def test_each_call_carries_listing_and_body() -> None:
    """Every call pays again for what it shows, cached or not; the rest is work."""
    calls = [
        call(1, dose=0.0, listed=True, input=1000, output=10),
        call(2, dose=0.5, listed=True, cache_read=2000, output=20),
        call(3, dose=1.0, listed=False, cache_write_5m=3000, output=30),
    ]
    found = reading.split_of(calls, listing_characters=400, body_characters=800)
    assert found is not None
    assert (found.listing, found.body, found.work) == (200, 300, 6060 - 500)


def test_a_cut_listing_costs_what_was_shown() -> None:
    """The listing counts as the turn's first call showed it, the agent's own skills too, not as the arm declares it."""
    entries = (ShownSkill(name="alpha", description=""), ShownSkill(name="built-in", description="x" * 87))
    first = msgspec.structs.replace(call(1, dose=0.0, listed=True, input=1000), shown=Shown(skills=entries))
    later = call(2, dose=0.0, listed=True, input=1000)
    found = reading.split_of([first, later], listing_characters=400, body_characters=800)
    assert found is not None
    assert (found.listing, found.work) == (2 * 25, 2000 - 2 * 25)


def test_unknown_without_known_calls() -> None:
    """Without a call of known tokens and dose nothing is split, not split into zeros."""
    assert reading.split_of([], listing_characters=4, body_characters=4) is None
    unseen = [call(1, dose=None, listed=True, input=10), call(2, dose=0.0, listed=True)]
    assert reading.split_of(unseen, listing_characters=4, body_characters=4) is None


@given(
    tokens=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 500), st.floats(0, 1), st.booleans()), min_size=1, max_size=5),
    listing=st.integers(0, 10**5),
    body=st.integers(0, 10**5),
)
def test_parts_add_up(tokens: list[tuple[int, int, float, bool]], listing: int, body: int) -> None:
    """No part is negative, and together they are all tokens of the run, however wrong the estimate of listing and body."""
    calls = [call(number, dose=dose, listed=shown, input=sent, output=out) for number, (sent, out, dose, shown) in enumerate(tokens)]
    found = reading.split_of(calls, listing_characters=listing, body_characters=body)
    assert found is not None
    assert min(found.listing, found.body, found.work) >= 0
    assert found.listing + found.body + found.work == pytest.approx(sum(sent + out for sent, out, _, _ in tokens))
