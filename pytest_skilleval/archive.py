"""The results folder: one per session and spec, written so that a finished run survives anything.

A run exists when its ``run.json`` does; that file is written last, atomically and fsynced. Nothing here
computes or judges: values in, files out, and back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pytest_skilleval.core.atomic import write_atomically
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.record import FORMAT, RunRecord

T = TypeVar("T")

PLAN = "plan.json"
PRICES = "prices.json"
PROVENANCE = "provenance.json"
SPEC = "spec.json"
CLOCK = "clock.txt"
"""Of a turn: when each line of its ``stdout.jsonl`` came, in seconds since the baseline."""
SESSION = "session"
"""Folder of a run for what the CLI recorded itself."""


def encode(value: object) -> bytes:
    """`value` as readable JSON, keys in the order of its fields."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def decode(path: Path, kind: type[T]) -> T:
    """Read `path` as `kind`; ArchiveError names the file and what to do when it can't be."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ArchiveError(f"{path}: can't be read ({error.strerror}); is it a results folder of pytest-skilleval?") from error
    refuse_newer(path, raw)
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path}: damaged ({error}); set it aside and run that part again with --skill-resume") from error


class _Format(msgspec.Struct):
    format: int = FORMAT


def refuse_newer(path: Path, raw: bytes) -> None:
    """ArchiveError when `raw` says a format number that this version does not know yet."""
    try:
        found = msgspec.json.decode(raw, type=_Format).format
    except msgspec.DecodeError:
        return  # not an object, or damaged: the real decoding says so
    if found > FORMAT:
        raise ArchiveError(f"{path}: written in format {found}, this version reads up to {FORMAT}; update pytest-skilleval")


@dataclass(frozen=True, slots=True)
class Damaged:
    """A run whose record can't be read: named, left aside, never counted as anything but lost."""

    run_id: str
    problem: str


@dataclass(frozen=True, slots=True)
class Archive:
    """One results folder ``<YYYYMMDDTHHMMSSZ>-<skill>[-n]``."""

    folder: Path

    @classmethod
    def create(cls, results: Path, skill: str, *, now: datetime | None = None) -> Archive:
        """Make a folder of its own under `results`; two sessions of one second get different ones."""
        stem = f"{(now or datetime.now(UTC)).strftime('%Y%m%dT%H%M%SZ')}-{skill}"
        results.mkdir(parents=True, exist_ok=True)
        for number in range(1, 10_000):
            folder = results / (stem if number == 1 else f"{stem}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            (folder / "runs").mkdir()
            return cls(folder)
        raise ArchiveError(f"{results}: can't make a folder for {stem}")

    @classmethod
    def open(cls, folder: Path) -> Archive:
        """An existing results folder; ArchiveError when it is none."""
        if not (folder / PLAN).is_file():
            raise ArchiveError(f"{folder}: no {PLAN} in it; give a folder such as skill-results/20260101T120000Z-my-skill")
        return cls(folder)

    def write(self, name: str, value: object) -> None:
        """Write one of the session's files, atomically."""
        write_atomically(self.folder / name, encode(value))

    def read(self, name: str, kind: type[T]) -> T:
        """Read one of the session's files back."""
        return decode(self.folder / name, kind)

    def run(self, run_id: str) -> RunFolder:
        """The folder of one run, existing or not."""
        return RunFolder(self.folder / "runs" / run_id)

    def records(self) -> tuple[dict[str, RunRecord], tuple[Damaged, ...]]:
        """All finished runs by id, and those whose record is damaged."""
        found: dict[str, RunRecord] = {}
        damaged: list[Damaged] = []
        for run_id in self._run_ids():
            try:
                record = self.run(run_id).record()
            except ArchiveError as error:
                damaged.append(Damaged(run_id, str(error)))
                continue
            if record is not None:
                found[run_id] = record
        return found, tuple(damaged)

    def _run_ids(self) -> Iterator[str]:
        runs = self.folder / "runs"
        if runs.is_dir():
            yield from sorted(entry.name for entry in os.scandir(runs) if entry.is_dir())


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run."""

    path: Path
    mask: Callable[[bytes], bytes] = bytes
    """Removes secrets from what is written."""

    def begin(self) -> int:
        """Make room for a new try: what an earlier one left moves to ``attempts/<k>``. Returns k's count."""
        attempts = self.path / "attempts"
        earlier = [entry for entry in self.path.iterdir() if entry.name != "attempts"] if self.path.exists() else []
        self.path.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in attempts.iterdir()) if attempts.exists() else 0
        if earlier:
            number += 1
            target = attempts / str(number)
            target.mkdir(parents=True)
            for entry in earlier:
                entry.rename(target / entry.name)
        return number

    def turn(self, number: int) -> Path:
        """The folder of one turn, made when missing."""
        folder = self.path / f"turn-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(self, name: str, value: object) -> None:
        """Write one JSON file of the run."""
        self._put(name, encode(value))

    def write_lines(self, name: str, values: tuple[Any, ...]) -> None:
        """Write one JSON value a line."""
        self._put(name, b"".join(msgspec.json.encode(value) + b"\n" for value in values))

    def _put(self, name: str, content: bytes) -> None:
        write_atomically(self.path / name, self.mask(content))

    def keep(self, name: str, content: bytes) -> None:
        """Write a file of any content, its folders made; not fsynced, as it may be large: a power cut may tear it."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.mask(content))

    def session_records(self) -> Iterator[bytes]:
        """The CLI's own line-JSON records of the session, as far as they were kept."""
        for path in sorted((self.path / SESSION).rglob("*.jsonl")):
            if path.is_file():
                yield path.read_bytes()

    def read(self, name: str, kind: type[T]) -> T:
        """Read one JSON file of the run back."""
        return decode(self.path / name, kind)

    def lines(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """Read a line-JSON file back; a missing one is empty."""
        path = self.path / name
        if not path.exists():
            return ()
        try:
            return tuple(msgspec.json.decode(line, type=kind) for line in path.read_bytes().splitlines() if line)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ArchiveError(f"{path}: damaged ({error}); set it aside and run that part again with --skill-resume") from error

    def record(self) -> RunRecord | None:
        """The run's record; None when the run is not finished. ArchiveError when damaged."""
        path = self.path / "run.json"
        if not path.exists():
            return None
        record = decode(path, RunRecord)
        if record.row.run_id != self.path.name:
            raise ArchiveError(f"{path}: holds the run {record.row.run_id!r}, not {self.path.name!r}; was the folder renamed?")
        return record

    def finish(self, record: RunRecord) -> None:
        """Write ``run.json``: from now on the run exists."""
        self.write("run.json", record)

    def discard(self) -> None:
        """Remove the whole folder of a run that never finished."""
        shutil.rmtree(self.path, ignore_errors=True)
