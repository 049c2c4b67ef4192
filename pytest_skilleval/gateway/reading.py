"""What the records of one run (``requests.jsonl``) say: pure functions, for live runs and recorded ones alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Literal

import msgspec

from pytest_skilleval.core import model_requests
from pytest_skilleval.core.model_requests import Body, Shown
from pytest_skilleval.core.prices import Cost, Prices, shipped
from pytest_skilleval.core.record import TokenSplit
from pytest_skilleval.core.transcript import Failure, Usage, may_pass, usage_of_run
from pytest_skilleval.gateway.values import RequestRecord

Course = Literal["unseen", "listed", "partly read", "fully read", "lost"]

FULL = 0.95
"""From this share of the body on it counts as fully read."""


class Dose(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the skill's body the model had before it: the first, highest and last share, and the course it took.

    ``lost``: it was there and no longer is (compaction). `first_call` is the number of the first model call with any of it.
    """

    first: float
    highest: float
    last: float
    course: Course
    first_call: int | None = None


def model_calls(records: Iterable[RequestRecord]) -> tuple[RequestRecord, ...]:
    """The calls that ask a model for a reply."""
    return tuple(record for record in records if record.model)


def hosts_of(records: Iterable[RequestRecord]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hosts that a run reached, and those that it was refused, each once, sorted."""
    asked = [record for record in records if record.host]
    refused = {record.host for record in asked if record.failure and record.failure.kind == "refused_host"}
    return tuple(sorted({record.host for record in asked if record.status == HTTPStatus.OK} - refused)), tuple(sorted(refused))


def model_of(record: RequestRecord) -> str:
    """The model that is paid for: the one that answered, else the one that was asked."""
    return record.model_reported or record.model


def dose_of(records: Iterable[RequestRecord], skill: str) -> Dose | None:
    """The dose over a run; None when the gateway saw no model call, or was told no skill."""
    calls = [record for record in model_calls(records) if record.dose is not None]
    doses = [record.dose or 0.0 for record in calls]
    if not doses:
        return None
    highest, last = max(doses), doses[-1]
    first_call = next((record.number for record in calls if record.dose), None)
    return Dose(
        first=doses[0],
        highest=highest,
        last=last,
        course=_course(highest, last, listed=any(skill in record.listed for record in calls)),
        first_call=first_call,
    )


def highest_doses(records: Iterable[RequestRecord]) -> dict[int, float]:
    """The highest dose of each turn in which a model was called, by the turn's number."""
    highest: dict[int, float] = {}
    for record in model_calls(records):
        if record.turn is not None and record.dose is not None:
            highest[record.turn] = max(highest.get(record.turn, 0.0), record.dose)
    return highest


def _course(highest: float, last: float, *, listed: bool) -> Course:
    if highest == 0:
        return "listed" if listed else "unseen"
    if last < highest / 2:
        return "lost"
    return "fully read" if highest >= FULL else "partly read"


def refused_turns(records: Iterable[RequestRecord]) -> frozenset[int]:
    """Numbers of the turns whose last model call the model refused: not every CLI says so itself."""
    last = {record.turn: record.stop_reason for record in model_calls(records) if record.turn is not None}
    return frozenset(turn for turn, why in last.items() if why == "refusal")


def first_request(records: Iterable[RequestRecord]) -> Body:
    """The body of the run's first model call; empty when there was none."""
    return next((model_requests.decode(record.body.encode()) for record in records if record.body is not None), {})


def first_shown(records: Iterable[RequestRecord]) -> Shown | None:
    """What the run's first model call showed; None when there was none."""
    return next((record.shown for record in records if record.shown is not None), None)


def usage_of(records: Iterable[RequestRecord]) -> Usage:
    """Tokens of all model calls, sub-agents' included, each counted once."""
    return usage_of_run(record.usage for record in records)


def cost_of(records: Iterable[RequestRecord], prices: Prices | None = None) -> Cost:
    """Money of all model calls as billed and at no-cache price; None where one model's price is not known. A sign-in costs 0."""
    costs = [_cost(record, prices or shipped()) for record in records if record.usage.known]
    return Cost(billed=_total([cost.billed for cost in costs]), uncached=_total([cost.uncached for cost in costs]))


CHARACTERS_A_TOKEN = 4.0
"""A rule of thumb for English text; good enough to tell a listing from a body, not to bill by."""


def split_of(records: Iterable[RequestRecord], *, listing_characters: int, body_characters: int) -> TokenSplit | None:
    """What the tokens of a run were spent on: each call carries the listing it shows and the share of the body it has.

    None without a call whose tokens and dose are known. Listing and body never take more than a call's input. What is shown
    stands in the first call of a turn: cut where the agent's budget is full, its own skills among the others.

    Parameters
    ----------
    listing_characters
        Of the arm's own skills: for records that don't tell what was shown.
    """
    listing = body = work = 0.0
    listed = listing_characters
    calls = [record for record in model_calls(records) if record.usage.known and record.dose is not None]
    for call in calls:
        sent = call.usage.input + call.usage.cache_read + call.usage.cache_write
        listed = _listed(call.shown) if call.shown and call.shown.skills else listed
        shown = min(sent, listed / CHARACTERS_A_TOKEN if call.listed else 0.0)
        had = min(sent - shown, (call.dose or 0.0) * body_characters / CHARACTERS_A_TOKEN)
        listing, body, work = listing + shown, body + had, work + sent - shown - had + call.usage.output
    return TokenSplit(listing=listing, body=body, work=work) if calls else None


def _listed(shown: Shown) -> int:
    return sum(len(skill.name) + len(skill.description) for skill in shown.skills)


def _cost(record: RequestRecord, prices: Prices) -> Cost:
    return Cost(billed=0.0, uncached=0.0) if record.free else prices.cost(record.usage, model_of(record))


def _total(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if costs and len(known) == len(costs) else None


def unpaid(records: Iterable[RequestRecord]) -> str | None:
    """Why the gateway passed a model call of the run on no more, when the session's money was spent."""
    return next((record.failure.detail for record in records if record.failure and record.failure.kind == "budget"), None)


def failure_of(records: Iterable[RequestRecord]) -> Failure | None:
    """Why the last model call of the run gave no whole answer, seen from the gateway; None when it did.

    It is firmer than what a CLI says of it: use it where both tell of a failure.
    """
    calls = [record for record in model_calls(records) if record.status is not None or record.failure is not None]
    last = calls[-1] if calls else None
    if last is None or last.failure is None or last.failure.kind == "client_gone":
        return None
    if last.failure.kind == "budget":
        return Failure(blame="agent_api", reason=last.failure.detail)
    if last.failure.kind == "gateway":
        return Failure(blame="harness", reason=f"our own gateway failed: {last.failure.detail}")
    detail = f"{last.failure.kind}{f' {last.status}' if last.status else ''}: {last.failure.detail}"
    retryable = last.failure.kind in {"cut", "unreachable"} or (last.status is not None and may_pass(last.status))
    return Failure(blame="agent_api", reason=f"the model's API failed ({detail})", retryable=retryable)
