"""Moving a state's times back without changing anything else."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.sandboxes.engine.ageing import Clock, rename_images

SINCE = datetime(2026, 6, 1, tzinfo=UTC)
MOMENTS = st.integers(946684800, 2208988800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


def text(moment: datetime) -> bytes:
    """As the engine writes it, without a fraction."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S").encode()


@given(MOMENTS, st.integers(0, 10**8))
def test_young_moments_move_and_old_ones_stay(moment: datetime, seconds: int) -> None:
    """A time made after the start moves by exactly the age and keeps its length; an older one is untouched."""
    moved = Clock(seconds, SINCE.timestamp()).moment(text(moment))
    assert moved == (text(moment - timedelta(seconds=seconds)) if moment >= SINCE else text(moment))
    assert len(moved) == len(text(moment))


@given(MOMENTS, st.binary(max_size=40), st.binary(max_size=40), st.text("0123456789", max_size=9))
def test_bytes_around_a_time_stay(moment: datetime, before: bytes, after: bytes, fraction: str) -> None:
    """In a database only the times change: same length, same bytes elsewhere, same fraction of a second."""
    clock = Clock(86400, SINCE.timestamp())
    data = before + b'"created":"' + text(moment) + b"." + fraction.encode() + b'Z"' + after
    moved = clock.moments(data)
    assert len(moved) == len(data)
    assert moved.startswith(before)
    assert moved.endswith(b"." + fraction.encode() + b'Z"' + after)


def test_a_container_that_never_ended_keeps_its_zero_time() -> None:
    """The engine's zero time is no time and stays."""
    data = b'{"FinishedAt":"0001-01-01T00:00:00Z","StartedAt":"2026-06-02T10:00:00.5Z"}'
    assert Clock(86400, SINCE.timestamp()).moments(data) == b'{"FinishedAt":"0001-01-01T00:00:00Z","StartedAt":"2026-06-01T10:00:00.5Z"}'


def test_the_build_caches_nanoseconds_move() -> None:
    """The build cache counts nanoseconds; they move by whole seconds in the same number of digits."""
    young = int(SINCE.timestamp()) * 10**9 + 123
    data = b'cache.createdAt{"value":%d}cache.lastUsedAt{"value":%d}' % (young, young)
    moved = Clock(10, SINCE.timestamp()).cache_times(data)
    assert moved == data.replace(str(young).encode(), str(young - 10 * 10**9).encode())


def test_young_images_get_new_names_everywhere(tmp_path: Path) -> None:
    """A young image's time moves, so its hash changes: tags, children, metadata and containers follow; old images stay."""
    contents, metadata = tmp_path / "store/imagedb/content/sha256", tmp_path / "store/imagedb/metadata/sha256"
    containers = tmp_path / "containers"
    for folder in (contents, metadata, containers / "c1"):
        folder.mkdir(parents=True)

    def add(created: str, **more: str) -> str:
        raw = json.dumps({"created": created, **more}).encode()
        name = hashlib.sha256(raw).hexdigest()
        (contents / name).write_bytes(raw)
        return name

    old = add("2025-01-01T00:00:00Z")
    young = add("2026-06-10T00:00:00.25Z", base=f"sha256:{old}")
    child = add("2026-06-11T00:00:00Z", base=f"sha256:{young}")
    (metadata / child).mkdir()
    (metadata / child / "parent").write_text(f"sha256:{young}")
    (tmp_path / "store/repositories.json").write_text(json.dumps({"a": f"sha256:{child}", "b": f"sha256:{old}"}))
    (containers / "c1/config.v2.json").write_text(json.dumps({"Image": f"sha256:{young}"}))

    rename_images(tmp_path / "store", containers, Clock(86400, SINCE.timestamp()))

    names = sorted(path.name for path in contents.iterdir())
    assert names == sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in contents.iterdir())
    assert len(names) == 3
    assert old in names
    assert not {young, child} & set(names)
    tags = json.loads((tmp_path / "store/repositories.json").read_text())
    new_child = tags["a"].removeprefix("sha256:")
    new_young = json.loads((contents / new_child).read_text())["base"].removeprefix("sha256:")
    assert tags["b"] == f"sha256:{old}"
    assert json.loads((contents / new_young).read_text())["created"] == "2026-06-09T00:00:00.25Z"
    assert (metadata / new_child / "parent").read_text() == f"sha256:{new_young}"
    assert json.loads((containers / "c1/config.v2.json").read_text())["Image"] == f"sha256:{new_young}"
