"""Secrets in the streams of a run: they never reach disk, and are counted."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.archive import RunFolder
from pytest_skilleval.core.credentials import Masking
from pytest_skilleval.running import story
from pytest_skilleval.running.conversation import Sink

SECRET = b"sk-ant-0123456789abcdef"
MASKING = Masking([SECRET.decode()])
TEXT = b"one " + SECRET + b" two " + SECRET + SECRET + b"\nthree sk-ant- " + SECRET[:-1]


def written(folder: Path, chunks: list[bytes], masking: Masking = MASKING) -> tuple[bytes, int]:
    """What is on disk after these chunks, and how many secrets were removed."""
    path = folder / "stream"
    with path.open("wb") as file:
        sink = Sink(file, masking)
        for chunk in chunks:
            sink.write(chunk)
        count = sink.close()
    return path.read_bytes(), count


@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
def test_a_secret_split_between_chunks_is_masked(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    """However the stream is cut up, every secret is removed and counted, and nothing else is touched."""
    chunks = [TEXT[begin:end] for begin, end in itertools.pairwise([0, *sorted(cuts), len(TEXT)])]
    assert written(tmp_path_factory.getbasetemp(), chunks) == (TEXT.replace(SECRET, b"[masked]"), 3)


def test_an_endless_line_reaches_disk_and_is_masked(tmp_path: Path) -> None:
    """A line without an end is on disk as it comes, in time that grows with its length only; a secret in it is masked."""
    path, chunk = tmp_path / "stream", b"x" * 65536
    with path.open("wb") as file:
        sink = Sink(file, MASKING)
        begun = time.process_time()
        for _ in range(400):
            sink.write(chunk)
        sink.write(SECRET[:10])
        assert path.stat().st_size == 400 * len(chunk)
        sink.write(SECRET[10:] + chunk)
        assert path.stat().st_size == 401 * len(chunk) + len(b"[masked]")
        assert sink.close() == 1
        assert time.process_time() - begun < 5
    assert SECRET not in path.read_bytes()


def test_a_traceback_of_ours_is_kept_and_masked(tmp_path: Path) -> None:
    """What went wrong stands beside the run, whatever its text holds, without the secrets in it; the run's folder counts them."""
    folder = RunFolder(tmp_path / "run", mask=(masking := Masking([SECRET.decode()])))
    error = story._our_fault(folder, ValueError(f"{SECRET.decode()} \udcff"))
    kept = (folder.path / "traceback.txt").read_bytes()
    assert kept == b"ValueError: [masked] \\udcff\n"
    assert (error.blame, masking.count) == ("harness", 1)


def test_without_secrets_a_stream_is_as_it_was(tmp_path: Path) -> None:
    """Where there is no credential every byte is kept, and nothing is counted."""
    assert written(tmp_path, [TEXT, b""], Masking()) == (TEXT, 0)


def test_a_secret_is_masked_as_json_writes_it() -> None:
    """Quotes, backslashes and letters beyond ASCII are escaped in most of what is recorded; every form is masked and counted."""
    secret = 'pass"word\\Räume'
    masking = Masking([secret])
    told = [json.dumps({"a": secret}), json.dumps({"a": secret}, ensure_ascii=False), f'{{"a": "{secret}"}}']
    assert [masking.text(text) for text in told] == ['{"a": "[masked]"}'] * 3
    assert (masking.count, masking.anew().count) == (3, 0)


def test_a_key_with_a_line_end_is_masked_without_it() -> None:
    """Keys that are read from files end with a line end, which no agent that shows them repeats."""
    masking = Masking([f"{SECRET.decode()}\n"])
    assert masking(b"key " + SECRET + b"!") == b"key [masked]!"
    assert Masking(["        1\n"])(b"1        1") == b"1        1", "too short without its blanks"


def test_bytes_that_are_no_text_are_masked_and_can_be_recorded() -> None:
    """A value of the environment may hold any bytes, and so may the name of a file that an error tells of."""
    secret = b"\xff\xfe-0123456789"
    assert Masking([secret.decode("utf-8", "surrogateescape")])(b"a " + secret) == b"a [masked]"
    assert MASKING.text(f"\udcff: {SECRET.decode()}").encode().endswith(b": [masked]")
