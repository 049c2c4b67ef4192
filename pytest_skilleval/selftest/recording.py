"""Recorded runs of a standard, and their report: raw files -> parse -> score -> aggregate -> report, by the product's own functions.

Of a standard's runs many are equal to the last byte: one that passes without the skill is like any other of its case. Each
such run is written to disk in the form that the scripted agent leaves, read back, parsed and scored once; a session then
is a choice among them, under its own rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pytest_skilleval.archive import Archive, RunFolder, encode
from pytest_skilleval.core.contrasts import installs
from pytest_skilleval.core.loaded import LoadedSpec, Skill
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.planning import Request, make_plan
from pytest_skilleval.core.prices import shipped
from pytest_skilleval.core.record import MeasuredRun, RunRecord, TurnRecord
from pytest_skilleval.core.spec import Spec
from pytest_skilleval.core.statistics.sequential import Look
from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import SessionFacts, SpecFacts
from pytest_skilleval.report.values import Document
from pytest_skilleval.rescoring import measure_one
from pytest_skilleval.selftest import script
from pytest_skilleval.selftest.script import Play
from pytest_skilleval.selftest.sessions import Session, case_id, draw, family_id, generator
from pytest_skilleval.selftest.standards import Standard

Instrument = Callable[[Sequence[MeasuredRun], SpecFacts, SessionFacts], Document]
"""What is put to the test: measured runs to the report's contents."""

AGENT = "scripted"


def instrument(measured: Sequence[MeasuredRun], spec: SpecFacts, session: SessionFacts) -> Document:
    """The product's own."""
    return build(measured, spec, session).document


def spec_content(standard: Standard) -> dict[str, Any]:
    """The standard as a spec file says it, but for the seed."""
    return {
        "skill": script.SKILL,
        "summary": standard.about,
        "defaults": {"repeats": standard.repeats},
        "arms": {"without": {"role": "baseline", "exclude": [script.SKILL]}, "with": {"role": "treatment"}},
        "contrasts": {"primary": [list(script.ARMS)]},
        "cases": [_case(standard, place) for place in range(standard.cases)],
    }


def spec_of(standard: Standard) -> LoadedSpec:
    """The standard as a spec."""
    skill = Skill(id=script.SKILL, name=script.SKILL, description=script.DESCRIPTION, body="", files={})
    return LoadedSpec(
        spec=Spec.model_validate_json(json.dumps(spec_content(standard))),
        path=Path("selftest", standard.name, "spec.yaml"),
        text_hash=hashlib.sha256(repr(standard).encode()).hexdigest(),
        case_lines={},
        catalogue={script.SKILL: skill},
    )


class Recordings:
    """The runs of one standard, each kind of run recorded and scored once.

    Parameters
    ----------
    folder
        An empty folder for the recorded runs; the caller removes it.
    looks
        The looks that its sessions plan.
    """

    def __init__(self, standard: Standard, folder: Path, *, under_test: Instrument = instrument, looks: tuple[Look, ...] = ()) -> None:
        self.standard = standard
        self.loaded = spec_of(standard)
        self.facts = SpecFacts.of(self.loaded)
        self.archive = Archive(folder)
        self.under_test = under_test
        self.looks = looks
        self._scored: dict[tuple[str, str, Play], MeasuredRun] = {}

    def session(self, random_seed: int, number: int) -> Session:
        """Draw one session: its plan by the product's planner, what becomes of its runs by chance."""
        rng = generator(self.standard, random_seed, number)
        request = Request(agents=(AGENT,), random_seed=rng.getrandbits(32), looks=self.looks)
        return draw(self.standard, make_plan([self.loaded], request).rows, rng)

    def runs(self, session: Session) -> list[MeasuredRun]:
        """All runs of a session with their scores."""
        return [self.measured(row, play) for row, play in zip(session.rows, session.plays, strict=True)]

    def report(self, measured: Sequence[MeasuredRun]) -> Document:
        """What the instrument says of a session's runs."""
        return self.under_test(measured, self.facts, SessionFacts(lock=self.loaded.text_hash, provenance=shipped().facts()))

    def measured(self, row: Row, play: Play) -> MeasuredRun:
        """The run of `row` with its score, from its raw files."""
        key = row.case, row.arm, play
        if key not in self._scored:
            folder = self.archive.run(row.run_id + _suffix(play))
            record_run(folder, self.loaded, msgspec.structs.replace(row, run_id=folder.path.name), play)
            record = folder.record()
            self._scored[key] = measure_one(folder, self.loaded, row, record, shipped())
        kept = self._scored[key]
        assert kept.record is not None
        return msgspec.structs.replace(kept, row=row, record=msgspec.structs.replace(kept.record, row=row))


def record_run(folder: RunFolder, loaded: LoadedSpec, row: Row, play: Play) -> None:
    """Write one run as a session leaves it: raw streams and snapshots of its turn, then ``run.json``."""
    if play.lost:
        _write(folder.path, {"run.json": RunRecord(row=row, status="error", blame="sandbox", detail="the sandbox was lost")})
        return
    case = loaded.spec.case(row.case)
    rehearsal = next(one for one in case.rehearsals if one.id == play.rehearsal)
    offered = installs(loaded.spec.arms[row.arm], row.skill)
    turn = folder.turn(1)
    (turn / "prompt.txt").write_text(case.all_turns[0].paraphrases[0])
    (turn / "stdout.jsonl").write_bytes(script.stdout(rehearsal, model=row.model, installed=offered, loads=play.loads))
    (turn / "stderr.txt").write_bytes(b"")
    _write(turn, {"snapshot.json": script.after(play)})
    took = TurnRecord(number=1, exit_code=0, seconds=0.5, started=0.1)
    _write(folder.path, {"baseline.json": script.baseline(), "events.jsonl": None, "validators.json": ()})
    _write(folder.path, {"run.json": RunRecord(row=row, status="scored", seconds=1.5, turns=(took,))})


def _write(folder: Path, files: dict[str, Any]) -> None:
    """Without the archive's care for power cuts: these files live for seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_bytes(b"" if value is None else encode(value))


def _suffix(play: Play) -> str:
    return "." + "".join(name for name, is_so in zip(play._fields, play, strict=True) if is_so)


def _case(standard: Standard, place: int) -> dict[str, Any]:
    family = family_id(standard, place)
    return {
        "id": case_id(place),
        "kind": "outcome",
        "expects": "improve",
        **({"family": family} if family else {}),
        "turns": [{"prompt": script.PROMPTS[place % len(script.PROMPTS)], **script.CHECKS}],
        "rehearsals": list(script.REHEARSALS),
    }
