"""The results as text and as JSON, stamped as what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pytest_skilleval.selftest import script
from pytest_skilleval.selftest.results import LEVELS, Result
from pytest_skilleval.selftest.standards import QUESTIONS, SEVERE, Standard

STAMP = "SELF-TEST: scripted agents with a known effect. It says how good the instrument is, and nothing about any skill."
FORMAT = 1
HEAD = (
    f"{'standard':16} {'truth':>6} {'found':>6} {'bias':>7}   {'covers these / new':>18}   {'claims these / new':>18}   "
    f"{'false these (up to) / new (up to)':>33}   {'lost':>5} {'calls':>6}"
)


def lines(results: Sequence[Result]) -> Iterator[str]:
    """The table, the calibration of the nulls, and what became of the promises."""
    yield STAMP
    yield ""
    yield HEAD
    yield from map(_row, results)
    yield ""
    yield "covers: the interval holds the truth. claims: sessions that claim an effect; false: one that is not there or goes the other"
    yield "way, with the upper 95 % limit. lost: no verdict because of lost runs. calls: model calls for each right claim."
    yield from _calibration(results)
    yield ""
    yield from _promises(results)


def document(results: Sequence[Result], random_seed: int) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {"format": FORMAT, "self_test": STAMP, "random_seed": random_seed, "standards": [one.to_json() for one in results]}


def published(standards: Sequence[Standard]) -> dict[str, Any]:
    """The standards themselves: exact probabilities, sizes, prompts, checks and scripts, for use by any other harness."""
    return {
        "format": FORMAT,
        "about": "effect standards of pytest-skilleval: agents that act by chance with known probabilities",
        "skill": script.SKILL,
        "arms": {"without": "the skill is not installed", "with": "the skill is installed"},
        "prompts": script.PROMPTS,
        "checks": script.CHECKS,
        "scripts": script.REHEARSALS,
        "severe": SEVERE,
        "standards": [asdict(one) | {"cases": one.cases, "effect": one.effect} for one in standards],
    }


def _row(one: Result) -> str:
    covers = " / ".join(_percent(one.covered[question].value) for question in QUESTIONS)
    claims = " / ".join(_percent(one.claimed[question].value) for question in QUESTIONS)
    false = " / ".join(f"{_percent(rate.value)} ({_percent(rate.limits[1])})" for rate in one.false.values())
    return (
        f"{one.standard.name:16} {one.standard.effect:+6.2f} {_signed(one.found, 2):>6} {_signed(one.bias, 3):>7}   {covers:>18}   "
        f"{claims:>18}   {false:>33}   {_percent(one.lost.value, 0):>5} {'-' if one.calls is None else f'{one.calls:.0f}':>6}"
    )


def _calibration(results: Sequence[Result]) -> Iterator[str]:
    null = [(one, question, curve) for one in results for question, curve in one.calibration.items()]
    if not null:
        return
    yield ""
    yield f"{'null contrasts: share of p at most':34} " + " ".join(f"{level:>6g}" for level in LEVELS) + "   (never a gate)"
    for one, question, curve in null:
        shares = " ".join(f"{'-' if rate.value is None else f'{rate.value:.3f}':>6}" for rate in curve.shares)
        yield f"  {f'{one.standard.name}, {question} cases':32} {shares}"


def _promises(results: Sequence[Result]) -> Iterator[str]:
    for one in results:
        for promise in one.promises:
            if promise.state == "broken":
                yield f"BROKEN: {one.standard.name}, {promise.text}"
    states = [promise.state for one in results for promise in one.promises]
    count = {state: states.count(state) for state in ("kept", "open", "broken")}
    told = f"{count['kept']} of {len(states)} promises kept, {count['broken']} broken"
    yield told + (f", {count['open']} open: not broken so far, and more --sessions would tell" if count["open"] else "")


def _percent(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}%"


def _signed(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:+.{digits}f}"
