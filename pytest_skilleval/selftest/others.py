"""The standards for any other harness that drives a CLI: a session's scripted model on loopback, and its results against the truth."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from pytest_skilleval.archive import decode, encode
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.planning import Request, make_plan
from pytest_skilleval.selftest.chances import Chances, Place
from pytest_skilleval.selftest.findings import Answer, Found, read
from pytest_skilleval.selftest.project import SKILL_BODY, read_project, write_project
from pytest_skilleval.selftest.recording import AGENT, Recordings, spec_of
from pytest_skilleval.selftest.script import SKILL, Play
from pytest_skilleval.selftest.sessions import Session
from pytest_skilleval.selftest.standards import Question, Standard

RUNS, TRUTH, RESULTS = "runs.jsonl", "truth.json", "results.jsonl"
DIRECTIONS = {"better": 1, "worse": -1, "none": 0}


class ServedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A line of ``runs.jsonl``: the CLI of this run is pointed at `url` and sent `prompt`."""

    case: str
    arm: str
    repeat: int
    prompt: str
    url: str


class TrueRun(msgspec.Struct, frozen=True, kw_only=True):
    """What must become of one run where nothing goes wrong."""

    case: str
    arm: str
    repeat: int
    plays: str
    verdict: Literal["pass", "fail"] | None
    loads: bool


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """``truth.json``. ``effect`` is that on the session's cases, ``population_effect`` that on new cases."""

    format: int = 1
    standard: str
    random_seed: int
    session: int
    effect: float
    population_effect: float
    runs: tuple[TrueRun, ...]


class Told(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of ``results.jsonl``: a run's verdict (null: lost), or the harness' own answer to a question."""

    case: str = ""
    arm: str = ""
    repeat: int = 0
    verdict: Literal["pass", "fail"] | None = None
    question: Question | None = None
    low: float | None = None
    high: float | None = None
    claim: Literal["better", "worse", "none"] = "none"


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """One session of another harness; ``strange`` names the verdicts that are not as drawn."""

    name: str
    standard: Standard
    found: Found
    runs: int
    strange: tuple[str, ...]


def rows(chances: Chances) -> tuple[Row, ...]:
    """The session's runs, in the order in which they are to be made."""
    request = Request(agents=(AGENT,), random_seed=chances.plan_seed)
    return make_plan([spec_of(chances.standard)], request).rows


def next_session(one: Standard, random_seed: int, folder: Path) -> tuple[Chances, Path]:
    """The first session without results, and its folder."""
    number = 0
    while (place := folder / f"{one.name}-{random_seed}-{number:03}").joinpath(RESULTS).exists():
        number += 1
    return Chances(one, random_seed, number), place


@contextmanager
def served(chances: Chances, folder: Path) -> Iterator[tuple[ServedRun, ...]]:
    """Write the session's project, truth and runs into `folder`; while open, the model answers at each run's address."""
    from pytest_skilleval.gateway.client import GatewayClient
    from pytest_skilleval.gateway.scripted.script import Script
    from pytest_skilleval.gateway.server import GatewayServer
    from pytest_skilleval.gateway.values import RunRequest

    planned = rows(chances)
    write_project(folder, chances)
    (folder / TRUTH).write_bytes(encode(truth(chances, planned)))
    prompts = {case.id: case.all_turns[0].paraphrases[0] for case in spec_of(chances.standard).spec.cases}
    with GatewayServer() as server:
        client = GatewayClient(server.control)
        runs = []
        for row in planned:
            script = Script(skill=SKILL, chance=chances.chance(Place.of(row), row.index))
            door = client.open(RunRequest(run=row.run_id, models="scripted", tcp=True, skill_body=SKILL_BODY, script=script))
            runs.append(ServedRun(case=row.case, arm=row.arm, repeat=row.repeat, prompt=prompts[row.case], url=door.url))
        (folder / RUNS).write_bytes(b"".join(msgspec.json.encode(run) + b"\n" for run in runs))
        yield tuple(runs)


def truth(chances: Chances, planned: Sequence[Row]) -> Truth:
    """What must come out."""
    drawn = [(row, chances.play(Place.of(row), row.index)) for row in planned]
    return Truth(
        standard=chances.standard.name,
        random_seed=chances.random_seed,
        session=chances.number,
        effect=chances.effect,
        population_effect=chances.standard.effect,
        runs=tuple(
            TrueRun(case=row.case, arm=row.arm, repeat=row.repeat, plays=play.rehearsal, verdict=_verdict(play), loads=play.loads)
            for row, play in drawn
        ),
    )


def _verdict(play: Play) -> Literal["pass", "fail"] | None:
    return None if play.lost else "pass" if play.passes else "fail"


def scored(folder: Path) -> Iterator[Scored]:
    """Every session below `folder` that has results, by name."""
    for path in sorted(folder.glob(f"*/{RESULTS}")):
        yield _scored(path.parent)


def _scored(folder: Path) -> Scored:
    chances, drawn = read_project(folder), decode(folder / TRUTH, Truth)
    told = [_told(folder / RESULTS, number, line) for number, line in _lines(folder / RESULTS)]
    verdicts = {Place(one.case, one.arm, one.repeat): one.verdict for one in told if one.question is None}
    expected = {Place(one.case, one.arm, one.repeat): one.verdict for one in drawn.runs}
    if unknown := verdicts.keys() - expected.keys():
        raise ArchiveError(f"{folder / RESULTS}: {' '.join(map(str, min(unknown)))} is no run of this session; {RUNS} lists them")
    strange = (
        f"{' '.join(map(str, place))}: drawn {said or 'lost'}, told {verdicts.get(place) or 'lost'}"
        for place, said in expected.items()
        if verdicts.get(place) != said
    )
    found = _ours(chances, verdicts)
    for one in told:
        if one.question is not None:
            found = _theirs(found, one, one.question)
    return Scored(name=folder.name, standard=chances.standard, found=found, runs=len(expected), strange=tuple(strange))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(path.read_bytes().splitlines(), start=1) if line.strip())


def _told(path: Path, number: int, line: bytes) -> Told:
    try:
        return msgspec.json.decode(line, type=Told)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path}:{number}: {error}") from error


def _ours(chances: Chances, verdicts: dict[Place, Literal["pass", "fail"] | None]) -> Found:
    """What this project's report would say of their verdicts; whether a failure was severe, they do not tell."""
    planned = rows(chances)
    plays = tuple(Play(passes=said == "pass", lost=said is None) for row in planned for said in [verdicts.get(Place.of(row))])
    with tempfile.TemporaryDirectory(prefix="skilleval-selftest-") as folder:
        recordings = Recordings(chances.standard, Path(folder))
        measured = recordings.runs(Session(planned, plays, chances.effect))
        return read(recordings.report(measured), measured, chances.standard, chances.effect)


def _theirs(found: Found, told: Told, question: Question) -> Found:
    """With their own answer to a question in place of ours."""
    true = found.answer(question).truth
    covered = None if told.low is None or told.high is None else told.low - 1e-9 <= true <= told.high + 1e-9
    answer = Answer(truth=true, covered=covered, claim=DIRECTIONS[told.claim], p=None)
    these, new = (answer, found.new) if question == "these" else (found.these, answer)
    return Found(difference=found.difference, these=these, new=new, verdict=found.verdict, calls=found.calls)
