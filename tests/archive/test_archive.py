"""The results folder: exclusive, atomic, and honest about what it can't read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_skilleval.archive import Archive
from pytest_skilleval.core.atomic import write_atomically
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.record import RunRecord

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def row(run_id: str = "a.with.scripted.default.r1") -> Row:
    """A row of the plan."""
    return Row(
        index=0, run_id=run_id, skill="s", case="a", kind="outcome", arm="with", agent="scripted", model="default", repeat=1, block=0
    )


def archive(tmp_path: Path) -> Archive:
    """A results folder with a plan and no run."""
    made = Archive.create(tmp_path, "s", now=NOON)
    made.write("plan.json", {"format": 1})
    return made


def test_two_sessions_of_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    """No session ever writes into another's folder."""
    names = [Archive.create(tmp_path, "my-skill", now=NOON).folder.name for _ in range(3)]

    assert names == ["20260102T120000Z-my-skill", "20260102T120000Z-my-skill-2", "20260102T120000Z-my-skill-3"]


def test_a_run_exists_only_when_its_record_does(tmp_path: Path) -> None:
    """Files of a run that was killed half-way are no run."""
    made = archive(tmp_path)
    made.run(row().run_id).begin()
    made.run(row().run_id).write("baseline.json", {})

    assert made.records() == ({}, ())

    made.run(row().run_id).finish(RunRecord(row=row(), status="scored"))

    assert list(made.records()[0]) == [row().run_id]


def test_an_earlier_try_is_kept_beside_the_next(tmp_path: Path) -> None:
    """A retried run loses nothing: each earlier try moves to attempts/<k> with its layout."""
    folder = archive(tmp_path).run(row().run_id)
    for text in (b"first", b"second", b"third"):
        folder.begin()
        (folder.turn(1) / "stdout.jsonl").write_bytes(text)

    kept = sorted(path.relative_to(folder.path).as_posix() for path in folder.path.rglob("stdout.jsonl"))

    assert kept == ["attempts/1/turn-1/stdout.jsonl", "attempts/2/turn-1/stdout.jsonl", "turn-1/stdout.jsonl"]
    assert (folder.path / "attempts/1/turn-1/stdout.jsonl").read_bytes() == b"first"


@pytest.mark.parametrize("cut", [0, 1, 40, 200])
def test_a_damaged_record_is_named_and_the_rest_is_read(tmp_path: Path, cut: int) -> None:
    """One broken file costs one run, and its name is told."""
    made = archive(tmp_path)
    for run_id in ("good", "bad"):
        made.run(run_id).begin()
        made.run(run_id).finish(RunRecord(row=row(run_id), status="scored"))
    broken = made.run("bad").path / "run.json"
    broken.write_bytes(broken.read_bytes()[:cut])

    records, damaged = made.records()

    assert list(records) == ["good"]
    assert [one.run_id for one in damaged] == ["bad"]
    assert str(broken) in damaged[0].problem


def test_a_newer_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """Figures of a version that this one does not understand are never guessed."""
    made = archive(tmp_path)
    made.run("new").begin()
    made.run("new").write("run.json", {"format": 99, "row": None})

    problem = made.records()[1][0].problem

    assert "written in format 99, this version reads up to 1; update pytest-skilleval" in problem


def test_a_renamed_run_is_noticed(tmp_path: Path) -> None:
    """A record under another run's name is not counted as that run."""
    made = archive(tmp_path)
    made.run("one").begin()
    made.run("one").finish(RunRecord(row=row("one"), status="scored"))
    made.run("one").path.rename(made.folder / "runs" / "two")

    assert "holds the run 'one', not 'two'" in made.records()[1][0].problem


def test_a_folder_that_is_none_says_what_is_expected(tmp_path: Path) -> None:
    """Pointing at the wrong folder is a usage error in one sentence."""
    with pytest.raises(ArchiveError, match=r"no plan\.json in it; give a folder such as"):
        Archive.open(tmp_path)


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    """Readers see the old bytes or the new ones, never a part."""
    path = tmp_path / "run.json"
    write_atomically(path, b"old")

    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")  # type: ignore[arg-type]

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_files_are_session_records(tmp_path: Path) -> None:
    """An agent may name a folder as its CLI names the files of its record."""
    folder = archive(tmp_path).run("a.with.scripted.default.r1")
    odd = folder.path / "session" / "folder.jsonl"
    odd.mkdir(parents=True)
    (odd / "one.jsonl").write_bytes(b"{}")
    assert list(folder.session_records()) == [b"{}"]
