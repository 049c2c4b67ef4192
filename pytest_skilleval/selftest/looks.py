"""Sessions with planned looks: what is claimed by each stop, and what is saved against all repeats."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.statistics.sequential import LOOKS, Look
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.stopping import why_it_ends
from pytest_skilleval.selftest.findings import Found, read
from pytest_skilleval.selftest.recording import Recordings
from pytest_skilleval.selftest.standards import Standard


@dataclass(frozen=True, slots=True)
class Looked:
    """One session of ten repeats: where it stopped and what it said there; and what it would have said without looks."""

    stop: int
    found: Found
    fixed: Found


def look_at(
    one: Standard, *, sessions: int, random_seed: int, told: Callable[[str], None] = lambda _: None, looks: Sequence[Look] = LOOKS
) -> Iterator[Looked]:
    """The sessions of one standard, in order."""
    told(f"{one.name} ...")
    longer = replace(one, repeats=looks[-1].repeats)
    with tempfile.TemporaryDirectory(prefix="skilleval-selftest-") as folder:
        recordings = Recordings(longer, Path(folder), looks=tuple(looks))
        for number in range(sessions):
            yield _looked(recordings, random_seed, number, looks)


def _looked(recordings: Recordings, random_seed: int, number: int, looks: Sequence[Look]) -> Looked:
    session = recordings.session(random_seed, number)
    runs = recordings.runs(session)
    until = [[run for run in runs if run.row.repeat <= look.repeats] for look in looks]
    ends = (place for place, look in enumerate(looks[:-1], start=1) if stops(until[place - 1], recordings.facts, look))
    stop = next(ends, len(looks))
    facts = SessionFacts(lock=recordings.loaded.text_hash, looks=tuple(looks), stopped_at=stop if stop < len(looks) else None)
    document = recordings.under_test(until[stop - 1], recordings.facts, facts)
    return Looked(
        stop=stop,
        found=read(document, until[stop - 1], recordings.standard, session.effect, alpha=looks[stop - 1].alpha),
        fixed=read(recordings.report(runs), runs, recordings.standard, session.effect),
    )


def stops(measured: Sequence[MeasuredRun], spec: SpecFacts, look: Look) -> bool:
    """Whether a session ends at this look, by the rule of a real one."""
    return why_it_ends(measured, spec, look) is not None
