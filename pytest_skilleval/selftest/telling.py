"""The results as text and as JSON, stamped as what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_skilleval.core.statistics.sequential import LOOKS
from pytest_skilleval.report.words import plural
from pytest_skilleval.selftest import script
from pytest_skilleval.selftest.findings import Answer
from pytest_skilleval.selftest.results import LEVELS, MOST_FALSE, Rate, Result, coverage, share
from pytest_skilleval.selftest.standards import QUESTIONS, SEVERE, Standard

if TYPE_CHECKING:
    from pytest_skilleval.selftest.looks import Looked
    from pytest_skilleval.selftest.others import Scored
    from pytest_skilleval.selftest.real import Real

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


def real(made: Sequence[tuple[Standard, Sequence[Real]]]) -> Iterator[str]:
    """What sessions through the product took, and whether each run became what was drawn."""
    for one, sessions in made:
        who = " ".join(sorted({f"{session.agent} {session.version}" for session in sessions}))
        timed = [(session.seconds, session.runs) for session in sessions if session.seconds is not None]
        seconds, runs = sum(seconds for seconds, _ in timed), sum(runs for _, runs in timed)
        took = f"; {seconds / len(timed):.0f} s a session, {seconds / runs:.1f} s a run" if timed else ""
        yield f"{one.name}, {who}: {_as_drawn(sessions)}{took}"
        yield from _strange(sessions)


def scored(sessions: Sequence[Scored]) -> Iterator[str]:
    """How another harness saw the runs of each standard."""
    for name in dict.fromkeys(session.standard.name for session in sessions):
        mine = [session for session in sessions if session.standard.name == name]
        yield f"{name}: {_as_drawn(mine)}"
        yield from _strange(mine)


def _as_drawn(sessions: Sequence[Real] | Sequence[Scored]) -> str:
    runs, strange = sum(session.runs for session in sessions), sum(len(session.strange) for session in sessions)
    return f"{runs - strange} of {runs} runs in {plural(len(sessions), 'session')} came out as drawn"


def _strange(sessions: Sequence[Real] | Sequence[Scored]) -> Iterator[str]:
    yield from (f"  {told}" for session in sessions for told in session.strange)


def looked(one: Standard, sessions: Sequence[Looked]) -> Iterator[str]:
    """A row for each stop: what was claimed by then, and how much of it is false; then what the looks saved."""
    for place, look in enumerate(LOOKS, start=1):
        claims = _by(sessions, place, lambda answer: answer.claim != 0)
        false = _by(sessions, place, lambda answer: answer.false)
        yield (
            f"{one.name if place == 1 else '':16} {one.effect:+6.2f} {f'{look.repeats} at {look.alpha:g}':>11}   "
            f"{_percent(sum(session.stop == place for session in sessions) / len(sessions)):>6}   "
            f"{' / '.join(_percent(rate.value) for rate in claims):>18}   "
            f"{' / '.join(f'{_percent(rate.value)} ({_percent(rate.limits[1])})' for rate in false):>33}"
        )
    calls, fixed = sum(session.found.calls for session in sessions), sum(session.fixed.calls for session in sessions)
    power = " / ".join(_percent(share([session.fixed.answer(question).claim != 0 for session in sessions]).value) for question in QUESTIONS)
    covers = " / ".join(_percent(coverage([session.found for session in sessions], question).value) for question in QUESTIONS)
    repeats = sum(LOOKS[session.stop - 1].repeats for session in sessions) / len(sessions)
    yield (
        f"{'':16} {repeats:.1f} repeats on average, {_percent(calls / fixed, 0)} of the calls; covers {covers}; "
        f"claims without looks {power}"
    )


def too_many_false(sessions: Sequence[Looked]) -> bool:
    """Whether false claims are surely more frequent than promised; they only grow from stop to stop."""
    return any(rate.limits[0] > MOST_FALSE for rate in _by(sessions, len(LOOKS), lambda answer: answer.false))


LOOKED_HEAD = (
    f"{'standard':16} {'truth':>6} {'look':>11}   {'stops':>6}   {'claims these / new':>18}   {'false these (up to) / new (up to)':>33}"
)


def _by(sessions: Sequence[Looked], place: int, of: Callable[[Answer], bool]) -> list[Rate]:
    """For each question: of all sessions, those that have ended by this look and said so."""
    return [share([session.stop <= place and of(session.found.answer(question)) for session in sessions]) for question in QUESTIONS]


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
