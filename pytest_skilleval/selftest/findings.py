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

LOSS_CLAIMS = ("on these cases", "for new cases")
"""How the two claims about irreversible losses end."""
CHUNK = 50
"""Sessions that one process does at a time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one session says to one question.

    ``covered`` is None without an interval; ``claim`` is the direction claimed (-1, 0: none, 1), of the pass rate or else of
    irreversible losses; ``p`` is that of the pass rate, not adjusted.
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
    document = recordings.report(measured)
    effect = next(one for one in document.effects if one.primary)
    these, new = _claims(document, effect)
    population = recordings.standard.effect
    return Found(
        difference=effect.difference,
        these=Answer(session.effect, _covers(effect.these_cases, session.effect), these, effect.these_cases.p),
        new=Answer(population, _covers(effect.new_cases, population), new, effect.new_cases.sign_flip_p),
        verdict=effect.verdict,
        calls=sum(run.tool_calls + run.turns_sent for run in measured),
    )


def _claims(document: Document, effect: Effect) -> tuple[int, int]:
    """Directions claimed on these and on new cases: of the pass rate, else of irreversible losses (more of them is worse)."""
    passes = {"better": 1, "worse": -1}.get(effect.direction or "", 0)
    changed, shown = effect.verdict == Word.CHANGED or _small(effect.holm_p), effect.verdict == Word.SHOWN
    found = [passes * changed, passes * shown]
    for loss in document.harm_effects:
        if loss.claim and loss.claim.endswith(LOSS_CLAIMS):
            direction = -_sign(loss.difference or 0)
            found = [found[0] or direction * _small(loss.holm_p), found[1] or direction * loss.claim.endswith(LOSS_CLAIMS[1])]
    return found[0], found[1]


def _small(p: float | None) -> bool:
    return p is not None and p <= ALPHA + 1e-12


def _covers(limits: Limits, truth: float) -> bool | None:
    """Limits are compared with room for rounding: a limit that equals the truth covers it."""
    if limits.low is None or limits.high is None:
        return None
    return limits.low - 1e-9 <= truth <= limits.high + 1e-9


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
