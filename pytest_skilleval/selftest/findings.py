"""What the report of one session says, held against the truth; and many sessions, over several processes."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_skilleval.core.record import MeasuredRun
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
    with tempfile.TemporaryDirectory(prefix="skilleval-selftest-") as folder, _pool(processes) as pool:
        for one in standards:
            told(one.name)
            if pool is None:
                yield one, find(Recordings(one, Path(folder, one.name), under_test=under_test), random_seed, range(sessions))
            else:
                parts = [pool.submit(_find_part, one.name, folder, random_seed, chunk, under_test) for chunk in chunks]
                yield one, [found for part in parts for found in part.result()]


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor | None]:
    """Processes to share the work; None: no others. When the work is broken off, they end at once."""
    if processes == 1:
        yield None
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _find_part(name: str, within: str, random_seed: int, numbers: range, under_test: Instrument) -> list[Found]:
    folder = Path(within, f"{name}-{numbers.start}")
    return find(Recordings(standard(name), folder, under_test=under_test), random_seed, numbers)


def _found(recordings: Recordings, session: Session) -> Found:
    measured = recordings.runs(session)
    return read(recordings.report(measured), measured, recordings.standard, session.effect)


def read(document: Document, measured: Sequence[MeasuredRun], standard: Standard, truth: float, *, alpha: float = ALPHA) -> Found:
    """What a session's report says; `truth` is the effect on exactly its cases, `alpha` the level at which the report claims."""
    effect = primary(document)
    these, new = _claims(document, effect, alpha)
    return Found(
        difference=effect.difference,
        these=Answer(truth, covers(effect.these_cases, truth), these, effect.these_cases.p),
        new=Answer(standard.effect, covers(effect.new_cases, standard.effect), new, effect.new_cases.sign_flip_p),
        verdict=effect.verdict,
        calls=sum(run.tool_calls + run.turns_sent for run in measured),
    )


def primary(document: Document) -> Effect:
    """The contrast that everything is about."""
    return next(one for one in document.effects if one.primary)


def _claims(document: Document, effect: Effect, alpha: float) -> tuple[int, int]:
    """Directions claimed on these and on new cases: of the pass rate, else of irreversible losses (more of them is worse)."""
    passes = {"better": 1, "worse": -1}.get(effect.direction or "", 0)
    changed, shown = effect.verdict == Word.CHANGED or _small(effect.holm_p, alpha), effect.verdict == Word.SHOWN
    found = [passes * changed, passes * shown]
    for loss in document.harm_effects:
        if loss.claim and loss.claim.endswith(LOSS_CLAIMS):
            direction = -_sign(loss.difference or 0)
            found = [found[0] or direction * _small(loss.holm_p, alpha), found[1] or direction * loss.claim.endswith(LOSS_CLAIMS[1])]
    return found[0], found[1]


def _small(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha + 1e-12


def covers(limits: Limits, truth: float) -> bool | None:
    """Whether an interval holds the truth, with room for rounding: a limit that equals the truth covers it."""
    if limits.low is None or limits.high is None:
        return None
    return limits.low - 1e-9 <= truth <= limits.high + 1e-9


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
