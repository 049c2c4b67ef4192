"""One run's raw files, read: all that scoring may look at."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from pytest_skilleval.archive import CLOCK, RunFolder
from pytest_skilleval.core.clock import clocked
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.evidence import Evidence, TurnEvidence, ValidatorResult
from pytest_skilleval.core.ports import Agent
from pytest_skilleval.core.record import RunRecord
from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.values import RequestRecord, read_lines


def evidence(folder: RunFolder, record: RunRecord, cli: Agent, requests: Sequence[RequestRecord]) -> Evidence:
    """All that scoring may look at, read from one run's folder."""
    path, dose = folder.path / "baseline.json", reading.dose_of(requests, record.row.skill)
    highest = reading.highest_doses(requests)
    turns = tuple(_turn(folder, record, number, cli, highest.get(number)) for number in range(1, len(record.turns) + 1))
    refused = reading.refused_turns(requests)
    whole = [
        msgspec.structs.replace(transcript, refused=transcript.refused or number in refused)
        for number, transcript in enumerate(cli.supplement([turn.transcript for turn in turns], folder.session_records()), start=1)
    ]
    return Evidence(
        baseline=folder.read("baseline.json", DockerState) if path.exists() else None,
        dose=dose.highest if dose else None,
        shown_dose=dose.first if dose else None,
        turns=tuple(msgspec.structs.replace(turn, transcript=transcript) for turn, transcript in zip(turns, whole, strict=True)),
        events=folder.lines("events.jsonl", EngineEvent),
        validators=folder.read("validators.json", tuple[ValidatorResult, ...]) if (folder.path / "validators.json").exists() else (),
    )


def model_requests(folder: RunFolder) -> tuple[tuple[RequestRecord, ...], int]:
    """What the gateway recorded of the run, empty where there was none, and the number of lines that can't be read."""
    path = folder.path / "requests.jsonl"
    return read_lines(path.read_bytes()) if path.exists() else ((), 0)


def _turn(folder: RunFolder, record: RunRecord, number: int, cli: Agent, dose: float | None) -> TurnEvidence:
    place = folder.path / f"turn-{number}"
    facts = record.turns[number - 1]
    try:
        stdout, stderr = (place / "stdout.jsonl").read_bytes(), (place / "stderr.txt").read_bytes()
        prompt = (place / "prompt.txt").read_bytes().decode("utf-8")
        times = [float(at) for at in (place / CLOCK).read_text().split()] if (place / CLOCK).exists() else []
    except (OSError, ValueError) as error:
        raise ArchiveError(f"{place}: the raw turn can't be read ({error})") from error
    return TurnEvidence(
        prompt=prompt,
        transcript=clocked(cli.parse(stdout, stderr, facts.exit_code), stdout, times),
        after=folder.read(f"turn-{number}/snapshot.json", DockerState) if (place / "snapshot.json").exists() else None,
        timed_out=facts.timed_out,
        started=facts.started,
        seconds=facts.seconds,
        dose=dose,
    )
