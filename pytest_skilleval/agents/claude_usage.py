"""Tokens and money of a Claude Code turn: sub-agents in them, and each message once."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_skilleval.agents.claude_events import COUNTING, SYNTHETIC, Ending, ModelUsage, TokenCount
from pytest_skilleval.agents.streams import decode
from pytest_skilleval.core.transcript import Usage


def of_turn(stdout: bytes, ending: Ending | None) -> Usage:
    """What the closing event tells; without one the last word of each message, whose lines are many and repeat it."""
    if ending is None or ending.usage is None:
        return _of_messages(stdout)
    if ending.model_usage:
        return _of_models(ending.model_usage.values(), _an_hour(ending.usage), ending.total_cost_usd)
    return _sum([ending.usage], ending.total_cost_usd)


def _of_models(totals: Iterable[ModelUsage], hour: int, cost: float | None) -> Usage:
    """Per-model totals: only they hold what sub-agents used."""
    asked = answered = read = written = 0
    for one in totals:
        asked += one.input_tokens
        answered += one.output_tokens
        read += one.cache_read_input_tokens
        written += one.cache_creation_input_tokens
    return Usage(
        input=asked,
        output=answered,
        cache_read=read,
        cache_write_5m=max(0, written - hour),
        cache_write_1h=hour,
        cost_usd=cost,
        known=True,
    )


def _of_messages(stdout: bytes) -> Usage:
    said = {
        line.message.id: line.message.usage
        for line in decode(stdout, COUNTING).lines
        if line.type == "assistant" and line.message and line.message.usage and line.message.model != SYNTHETIC
    }
    return _sum(said.values(), None)


def _an_hour(count: TokenCount) -> int:
    return count.cache_creation.ephemeral_1h_input_tokens if count.cache_creation else 0


def _sum(counts: Iterable[TokenCount], cost: float | None) -> Usage:
    counted = list(counts)
    hour = sum(map(_an_hour, counted))
    return Usage(
        input=sum(count.input_tokens for count in counted),
        output=sum(count.output_tokens for count in counted),
        cache_read=sum(count.cache_read_input_tokens for count in counted),
        cache_write_5m=sum(count.cache_creation_input_tokens for count in counted) - hour,
        cache_write_1h=hour,
        cost_usd=cost,
        known=bool(counted),
    )
