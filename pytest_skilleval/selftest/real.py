"""Sessions through the whole product: pytest, sandboxes, an agent's real CLI, the scripted model; and what came of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from pytest_skilleval.archive import PLAN, Archive, encode
from pytest_skilleval.core.atomic import write_atomically
from pytest_skilleval.core.errors import HarnessError
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.encode import from_json, to_json
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.values import Document, Report
from pytest_skilleval.rescoring import measure, recorded_spec
from pytest_skilleval.selftest.chances import Chances, Place
from pytest_skilleval.selftest.findings import Found, primary, read
from pytest_skilleval.selftest.project import write_project
from pytest_skilleval.selftest.recording import instrument
from pytest_skilleval.selftest.script import SKILL, Play
from pytest_skilleval.selftest.standards import Standard

RESULT = "result.json"
MEASURED = (0, 1)
"""Exit codes of a session that was measured; 1: some runs could not be, as some standards want it."""


class Real(msgspec.Struct, frozen=True, kw_only=True):
    """One session through the product: ``result.json``.

    ``strange`` names each run that did not become what the model was told to make of it: there should be none. ``seconds``
    is None for a session that was interrupted.
    """

    format: int = 1
    agent: str
    version: str
    found: Found
    runs: int
    seconds: float | None
    strange: tuple[str, ...] = ()


def real_sessions(
    one: Standard,
    *,
    agent: str,
    sessions: int,
    random_seed: int,
    folder: Path,
    workers: int = 1,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[Real]:
    """The sessions of one standard, each in a folder of its own; one that was measured before is only read.

    So the figures grow: the same call with more sessions makes the new ones alone, and after an interruption the missing runs.
    """
    for number in range(sessions):
        place = folder / agent / f"{one.name}-{random_seed}-{number:03}"
        if not (place / RESULT).exists():
            told(f"{one.name}, session {number + 1} of {sessions} with {agent} ...")
            measured = make(Chances(one, random_seed, number), agent=agent, folder=place, workers=workers)
            write_atomically(place / RESULT, encode(measured))
        yield msgspec.json.decode((place / RESULT).read_bytes(), type=Real)


def make(chances: Chances, *, agent: str, folder: Path, workers: int = 1) -> Real:
    """Evaluate the session's project in a pytest of its own, and read its results; a session that was interrupted is resumed."""
    write_project(folder, chances)
    begun = sorted((folder / "results").glob(f"*/{PLAN}"))
    began = time.monotonic()
    _evaluate(folder, agent, chances.plan_seed, workers, begun[0].parent if begun else None)
    seconds = None if begun else round(time.monotonic() - began, 1)
    [plan] = (folder / "results").glob(f"*/{PLAN}")
    return harvest(Archive(plan.parent), chances, agent, seconds)


def _evaluate(folder: Path, agent: str, plan_seed: int, workers: int, begun: Path | None) -> None:
    model = () if agent == "scripted" else ("--skill-model=scripted",)
    shared = ("-n", str(workers)) if workers > 1 else ()
    anew = (f"--skill-eval={SKILL}", f"--skill-agent={agent}", *model, f"--skill-random-seed={plan_seed}", "--skill-results=results")
    options = (f"--skill-resume={begun}",) if begun else anew
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *shared)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    output = folder / "pytest.txt"
    with output.open("wb") as file, subprocess.Popen(command, cwd=folder, env=environ, stdout=file, stderr=subprocess.STDOUT) as child:
        try:
            code = child.wait()
        except BaseException:
            child.terminate()  # it closes its sandboxes first, and is waited for: `with` alone does not after Ctrl-C
            child.wait()
            raise
    if code not in MEASURED:
        told = "\n".join(output.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise HarnessError(f"the session ended with exit code {code}; {output} ends in\n{told}")


def harvest(archive: Archive, chances: Chances, agent: str, seconds: float | None) -> Real:
    """What a results folder says, against what was drawn.

    Simulated results bear no verdict, so the report is built once more as if they were live; every figure of the written
    ``report.json`` must be the same.
    """
    plan, loaded = archive.read(PLAN, Plan), recorded_spec(archive)
    measured, _ = measure(archive, loaded, plan.rows)
    facts = SessionFacts(random_seed=plan.random_seed, lock=plan.locks[SKILL])
    document = instrument([_live(run) for run in measured], SpecFacts.of(loaded), facts)
    strange = [told for run in measured if (told := _strange(run, chances.play(Place.of(run.row), run.row.index)))]
    if differing := _differing(from_json((archive.folder / "report.json").read_bytes()), document):
        strange.append(f"report.json: {', '.join(differing)}")
    versions = sorted({run.record.provenance.get("agent.version", "") for run in measured if run.record} - {""})
    return Real(
        agent=agent,
        version=", ".join(versions),
        found=read(document, measured, chances.standard, chances.effect),
        runs=len(measured),
        seconds=seconds,
        strange=tuple(strange),
    )


def _live(run: MeasuredRun) -> MeasuredRun:
    return run if run.record is None else msgspec.structs.replace(run, record=msgspec.structs.replace(run.record, simulated=False))


def _strange(run: MeasuredRun, drawn: Play) -> str | None:
    seen = _seen(run)
    if drawn.lost if seen is None else seen == drawn:
        return None
    detail = run.record.detail if run.record and run.record.detail else ""
    return f"{run.row.run_id}: drawn {_words(drawn)}, seen {_words(seen) if seen else f'lost ({detail})'}"


def _seen(run: MeasuredRun) -> Play | None:
    """What became of a run; None: lost."""
    score = run.score
    if run.status != "scored" or score is None:
        return None
    return Play(
        passes=score.verdict == "pass",
        loads=any(load.skill == SKILL for load in score.loaded),
        severe=any(gone.type == "volume" for gone in score.removed),
    )


def _words(play: Play) -> str:
    return "lost" if play.lost else play.rehearsal + (" with the skill loaded" if play.loads else "")


def _differing(written: Document, live: Document) -> list[str]:
    """Figures of the primary effect that are not the same in the written report."""
    report = Report(document=live, exit_code=0, exit_reason="", folder="")
    told, found = primary(written), primary(from_json(to_json(report, "")))
    return [key for key in ("difference", "these_cases", "new_cases", "bounds", "per_case") if getattr(told, key) != getattr(found, key)]
