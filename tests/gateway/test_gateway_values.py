"""Pure parts around the gateway: upstreams, limits, what a reply says, what records say."""

from __future__ import annotations

import asyncio
import itertools
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.agents.failures import of_status
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.transcript import Usage
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.limits import BackOff
from pytest_skilleval.gateway.observer import Observer
from pytest_skilleval.gateway.upstreams import check_budget_under_ci, from_environment, need
from pytest_skilleval.gateway.values import RequestFailure, RequestRecord, from_lines, to_lines


@pytest.mark.parametrize(
    ("environ", "headers", "env", "subscription"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, {"x-api-key": "k"}, {"ANTHROPIC_API_KEY"}, False),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, {"authorization": "Bearer t"}, {"ANTHROPIC_AUTH_TOKEN"}, False),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "o"}, {"authorization": "Bearer o"}, {"CLAUDE_CODE_OAUTH_TOKEN"}, True),
        ({"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_OAUTH_TOKEN": "o"}, {"x-api-key": "k"}, {"ANTHROPIC_API_KEY"}, False),
    ],
)
def test_anthropic_credentials(environ: dict[str, str], headers: dict[str, str], env: set[str], subscription: bool) -> None:
    """Key, token and sign-in each become the right header, and the agent gets a placeholder of the same kind only."""
    found = from_environment(environ)["anthropic"]
    assert (found.headers, set(found.env), found.subscription) == (headers, env, subscription)
    assert not set(found.env.values()) & set(environ.values())


def test_openai_and_company_gateways() -> None:
    """Base URLs of company gateways are kept, with or without a path."""
    found = from_environment(
        {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": "https://gw.example/openai/v1/",
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:4000/a",
        }
    )
    assert found["openai"].url("/v1/responses?x=1") == "https://gw.example/openai/v1/responses?x=1"
    assert found["anthropic"].url("/v1/messages") == "http://127.0.0.1:4000/a/v1/messages"


@pytest.mark.parametrize("base", ["gw.example", "ftp://gw.example", "http://gw.example"])
def test_bad_base_urls_are_refused(base: str) -> None:
    """An address that is none, or that would send the key in the clear, is refused by name."""
    with pytest.raises(UsageProblem, match="ANTHROPIC_BASE_URL"):
        from_environment({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": base})


def test_missing_credentials_say_what_to_do() -> None:
    """Without credentials the error names the variables and the way that needs none."""
    with pytest.raises(UsageProblem, match=r"OPENAI_API_KEY.*scripted"):
        need(from_environment({}), "openai")


FURTHER = "X-Team: 7\n\nX-Gateway-Key : Bearer of:the-company\r\n"


@pytest.mark.parametrize("cloud", [{}, {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_BEARER_TOKEN_BEDROCK": "b"}])
def test_further_headers_are_taken_for_claudes_models(cloud: dict[str, str]) -> None:
    """Lines of names and values, as Claude Code reads them; no one else's models get them, and the agent sees none."""
    found = from_environment({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o", "ANTHROPIC_CUSTOM_HEADERS": FURTHER} | cloud)
    mine = need(found, "anthropic")
    assert mine.more == {"x-team": "7", "x-gateway-key": "Bearer of:the-company"}
    assert "of:the-company" in mine.secrets
    assert not found["openai"].more
    assert "the-company" not in repr(mine)


def test_a_further_header_may_be_the_credential() -> None:
    """Where a company's gateway knows its users by such a header no key is needed; the agent gets a placeholder."""
    found = from_environment({"ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer s"})["anthropic"]
    assert (found.headers, found.more, found.token_command) == ({}, {"authorization": "Bearer s"}, None)
    assert list(found.env) == ["ANTHROPIC_AUTH_TOKEN"]
    assert "anthropic" not in from_environment({"ANTHROPIC_CUSTOM_HEADERS": "X-Team: 7"})


@pytest.mark.parametrize("line", ["a-secret-alone", "X Team: a-secret", "X-Team:", "X-Team: a-secret\x07", "Host: a-secret", ": a-secret"])
def test_bad_further_headers_are_refused(line: str) -> None:
    """A line that can't be sent is told by its number or name, its value never."""
    with pytest.raises(UsageProblem, match=r"ANTHROPIC_CUSTOM_HEADERS: (its line 2 is|Host is)") as refused:
        from_environment({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_CUSTOM_HEADERS": f"X-One: 1\n{line}"})
    assert "a-secret" not in str(refused.value)


def test_a_secret_is_not_printed() -> None:
    """The repr of an upstream holds no credential."""
    assert "sekrit" not in repr(from_environment({"ANTHROPIC_API_KEY": "sekrit"}))


def test_live_model_under_ci_needs_a_budget() -> None:
    """Under CI a budget must be said; elsewhere the default is enough."""
    with pytest.raises(UsageProblem, match="skill-max-cost"):
        check_budget_under_ci({"CI": "true"}, budget_said=False)
    check_budget_under_ci({"CI": "true"}, budget_said=True)
    check_budget_under_ci({"CI": "false"}, budget_said=False)
    check_budget_under_ci({}, budget_said=False)


def test_back_off_grows_and_ends() -> None:
    """Without a word from the host the waits double; any other answer ends them."""

    async def story() -> list[float]:
        backoff, waits = BackOff(), []
        for headers in ({"retry-after": "0.05"}, {"retry-after": "0.1"}):
            backoff.told("h", 429, headers)
            waits.append(await backoff.hold("h"))
        waits.append(await backoff.hold("other"))
        backoff.told("h", 529, {})
        backoff.told("h", 529, {})
        waits.append(backoff._wait["h"])
        backoff.told("h", 200, {})
        waits.append(backoff._wait.get("h", 0.0))
        return waits

    first, second, other, grown, ended = asyncio.run(story())
    assert 0.04 < first < 0.5
    assert 0.09 < second < 0.5
    assert (other, grown, ended) == (0.0, 2.0, 0.0)


ANTHROPIC_STREAM = b"".join(
    f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
    for name, data in [
        (
            "message_start",
            {"message": {"model": "claude-x", "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 1}}},
        ),
        ("content_block_delta", {"delta": {"type": "text_delta", "text": 'about "usage" and "error"'}}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
        ("message_stop", {}),
    ]
)
OPENAI_STREAM = (
    b'event: response.completed\ndata: {"type":"response.completed","response":{"model":"gpt-x","usage":{"input_tokens":10,'
    b'"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2}}}}\n\n'
)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (ANTHROPIC_STREAM, Usage(input=10, output=7, cache_read=4, known=True)),
        (OPENAI_STREAM, Usage(input=5, output=7, cache_read=4, cache_write_5m=1, reasoning=2, known=True)),
    ],
    ids=["anthropic", "openai"],
)
@given(cuts=st.lists(st.integers(0, 800), max_size=6), crlf=st.booleans())
def test_usage_is_read_however_the_stream_is_cut_up(stream: bytes, expected: Usage, cuts: list[int], crlf: bool) -> None:
    """Chunk borders and line ends do not matter."""
    whole = stream.replace(b"\n", b"\r\n") if crlf else stream
    observer = Observer("text/event-stream; charset=utf-8")
    borders = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    for begin, end in itertools.pairwise(borders):
        observer.feed(whole[begin:end])
    observer.finish()
    assert (observer.usage, observer.complete) == (expected, True)


@given(st.binary(max_size=300))
def test_any_reply_is_survived(body: bytes) -> None:
    """No reply whatever makes the observer raise."""
    for kind in ("text/event-stream", "application/json", ""):
        observer = Observer(kind)
        observer.feed(body)
        observer.finish()
        assert observer.size == len(body)


def test_long_lived_cache_writes_are_told_apart() -> None:
    """Five-minute and one-hour cache writes are counted apart, each once."""
    observer = Observer("application/json")
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_1h_input_tokens": 20, "ephemeral_5m_input_tokens": 10},
    }
    observer.feed(json.dumps({"usage": usage}).encode())
    observer.finish()
    assert (observer.usage.cache_write_5m, observer.usage.cache_write_1h) == (10, 20)


def call(number: int, **changes: object) -> RequestRecord:
    """The record of a healthy model call, changed as told."""
    record = RequestRecord(number=number, at=0.0, api="anthropic", method="POST", path="/v1/messages", model="claude-opus-4-8", status=200)
    return msgspec.structs.replace(record, **changes)


@pytest.mark.parametrize(
    ("doses", "listed", "course"),
    [
        ([0.0, 0.0], (), "unseen"),
        ([0.0, 0.0], ("s",), "listed"),
        ([0.0, 0.5], ("s",), "partly read"),
        ([0.0, 1.0], ("s",), "fully read"),
        ([0.0, 1.0, 0.1], ("s",), "lost"),
    ],
)
def test_course_of_the_dose(doses: list[float], listed: tuple[str, ...], course: str) -> None:
    """The dose over a run tells unseen, listed, partly and fully read, and lost again."""
    dose = reading.dose_of([call(number, dose=value, listed=listed) for number, value in enumerate(doses, 1)], "s")
    assert dose is not None
    assert dose.course == course


def test_dose_is_unknown_where_nothing_was_seen() -> None:
    """Without model calls there is no dose, not a dose of 0."""
    assert reading.dose_of([], "s") is None


def test_money_is_unknown_when_one_price_is() -> None:
    """One call without a price makes the run's money unknown, never too low."""
    known = call(1, usage=Usage(input=1_000_000, cache_read=1_000_000, known=True))
    assert reading.cost_of([known]).billed == pytest.approx(5.5)
    assert reading.cost_of([known]).uncached == pytest.approx(10.0)
    assert reading.cost_of([known, call(2, model="gpt-unheard-of", usage=Usage(input=1, known=True))]).billed is None
    assert reading.cost_of([]).billed is None


def test_only_the_last_calls_failure_counts() -> None:
    """A failure that a later call got over is none; the agent hanging up is nobody's failure."""
    failed = call(1, status=529, failure=RequestFailure(kind="status", detail="Overloaded"))
    assert reading.failure_of([failed, call(2)]) is None
    last = reading.failure_of([call(1), failed])
    assert last is not None
    assert (last.blame, last.retryable) == ("agent_api", True)
    assert reading.failure_of([call(1, failure=RequestFailure(kind="client_gone"))]) is None


@pytest.mark.parametrize(
    ("status", "again"),
    [*((status, True) for status in (408, 409, 429, 500, 503, 520, 529)), *((status, False) for status in (400, 401, 403, 404, 413))],
)
def test_the_status_decides_whether_a_run_is_tried_again(status: int, again: bool) -> None:
    """Gateway and CLI agree on each status: 408, 409, 429 and any fault of the server may pass, sign-in and wrong requests don't."""
    seen = reading.failure_of([call(1, status=status, failure=RequestFailure(kind="status", detail="no"))])
    assert seen is not None
    assert (seen.retryable, of_status(status, "no").retryable) == (again, again)


def test_lines_come_back_and_damaged_ones_are_left_out() -> None:
    """`requests.jsonl` reads back what was written; a cut last line costs itself only."""
    records = (call(1, dose=0.5), call(2, failure=RequestFailure(kind="cut")))
    written = to_lines(records)
    assert from_lines(written) == records
    assert from_lines(written[:-10]) == records[:1]
