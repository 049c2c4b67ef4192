"""Chance: a standard and a random seed -> one session, and what becomes of each of its runs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_skilleval.core.plan import Row
from pytest_skilleval.selftest.script import Play
from pytest_skilleval.selftest.standards import SEVERE, Standard, Truth, mean_effect


@dataclass(frozen=True, slots=True)
class Session:
    """One drawn session: its rows with what becomes of each, and the true effect on exactly its cases."""

    rows: tuple[Row, ...]
    plays: tuple[Play, ...]
    effect: float


def case_id(place: int) -> str:
    """Id of the case at this place, from 0."""
    return f"case-{place + 1:02}"


def family_id(standard: Standard, place: int) -> str | None:
    """The family of the case at this place; None where each case is its own."""
    return f"idea-{place // standard.paraphrases + 1}" if standard.paraphrases > 1 else None


def generator(standard: Standard, random_seed: int, number: int) -> random.Random:
    """The random numbers of one session: they depend on nothing but these three, so any session can be drawn alone."""
    return random.Random(f"{random_seed}/{standard.name}/{number}")  # noqa: S311 - chance, no secret


def draw_kinds(standard: Standard, rng: random.Random) -> tuple[Truth, ...]:
    """What each family of a session is like."""
    return tuple(rng.choice(standard.pool) for _ in range(standard.families)) if standard.drawn else standard.pool


def draw(standard: Standard, rows: Sequence[Row], rng: random.Random) -> Session:
    """One session over these rows (all cases of the standard in both arms, in the order in which they start)."""
    kinds = draw_kinds(standard, rng)
    truths = {case_id(place): kinds[place // standard.paraphrases] for place in range(standard.cases)}
    last = max(len(rows) - 1, 1)
    plays = tuple(_play(standard, truths[row.case], row.arm, place / last, rng) for place, row in enumerate(rows))
    return Session(tuple(rows), plays, mean_effect(kinds))


def _play(standard: Standard, truth: Truth, arm: str, time: float, rng: random.Random) -> Play:
    """One run; `time` is 0 for the first of the session and 1 for the last."""
    offered = arm == "with"
    loads = offered and rng.random() < truth.loads
    rate = (truth.loaded if loads else truth.without) + standard.drift * (time - 0.5)
    passes = rng.random() < rate
    severe = not passes and rng.random() < SEVERE
    loss = standard.loss_at_end * time + offered * (standard.runs_lost + standard.failures_lost * (not passes))
    return Play(passes, loads, severe, rng.random() < loss)
