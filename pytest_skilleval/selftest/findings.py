"""What the report of one session says, held against the truth; and many sessions, over several processes."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_skilleval.core.statistics.verdict import ALPHA, Word
from pytest_skilleval.report.values import Document, Effect, Limits
from pytest_skilleval.selftest.recording import Instrument, Recordings, instrument
from pytest_skilleval.selftest.sessions import Session
from pytest_skilleval.selftest.standards import Question, Standard, standard

CHUNK = 50
"""Sessions that one process does at a time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one session says to one question.

    ``covered`` is None without an interval; ``claim`` is the direction claimed (-1, 0: none, 1); ``p`` belongs to the test.
    """

    truth: float
    covered: bool | None
    claim: int
    p: float | None

    @property
    def false(self) -> bool:
        """Whether an effect is claimed that is not there, or that goes the other way."""
        return self.claim != 0 and self.claim != _sign(self.truth)


@dataclass(frozen=True, slots=True)
class Found:
    """One session. ``calls`` counts the model calls of all its measured runs."""

    difference: float | None
    these: Answer
    new: Answer
    verdict: str | None
    calls: int

    def answer(self, question: Question) -> Answer:
        """The answer to one question."""
        return self.these if question == "these" else self.new


def find(recordings: Recordings, random_seed: int, numbers: Sequence[int]) -> list[Found]:
    """Draw, record, score and report the sessions of these numbers."""
    return [_found(recordings, recordings.session(random_seed, number)) for number in numbers]


def find_all(
    standards: Sequence[Standard],
    *,
    sessions: int,
    random_seed: int,
    processes: int = 1,
    under_test: Instrument = instrument,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Standard, list[Found]]]:
    """All sessions of each standard, in order; the same whatever the number of processes.

    Parameters
    ----------
    under_test
        The instrument; with several processes it must be importable by name.
    told
        Called with the name of each standard before its sessions are made.
    """
    chunks = [range(start, min(start + CHUNK, sessions)) for start in range(0, sessions, CHUNK)]
    if processes == 1:
        for one in standards:
            told(one.name)
            with tempfile.TemporaryDirectory(prefix="skilleval-selftest-") as folder:
                yield one, find(Recordings(one, Path(folder), under_test=under_test), random_seed, range(sessions))
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for one in standards:
            told(one.name)
            parts = [pool.submit(_find_part, one.name, random_seed, chunk, under_test) for chunk in chunks]
            yield one, [found for part in parts for found in part.result()]


def _find_part(name: str, random_seed: int, numbers: range, under_test: Instrument) -> list[Found]:
    with tempfile.TemporaryDirectory(prefix="skilleval-selftest-") as folder:
        return find(Recordings(standard(name), Path(folder), under_test=under_test), random_seed, numbers)


def _found(recordings: Recordings, session: Session) -> Found:
    measured = recordings.runs(session)
    effect = _primary(recordings.report(measured))
    claim = {"better": 1, "worse": -1}.get(effect.direction or "", 0)
    these = claim if effect.verdict == Word.CHANGED or (effect.verdict == Word.SHOWN and (effect.holm_p or 0) <= ALPHA) else 0
    new = claim if effect.verdict == Word.SHOWN else 0
    population = recordings.standard.effect
    return Found(
        difference=effect.difference,
        these=Answer(session.effect, _covers(effect.these_cases, session.effect), these, effect.these_cases.p),
        new=Answer(population, _covers(effect.new_cases, population), new, effect.new_cases.sign_flip_p),
        verdict=effect.verdict,
        calls=sum(run.tool_calls + run.turns_sent for run in measured),
    )


def _primary(document: Document) -> Effect:
    return next(effect for effect in document.effects if effect.primary)


def _covers(limits: Limits, truth: float) -> bool | None:
    """Limits are compared with room for rounding: a limit that equals the truth covers it."""
    if limits.low is None or limits.high is None:
        return None
    return limits.low - 1e-9 <= truth <= limits.high + 1e-9


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
