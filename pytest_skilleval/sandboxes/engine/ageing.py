"""Moves the times in a stopped engine's data back. Runs inside a sandbox, as a program of its own.

Usage: ``python3 - SECONDS SINCE RUNNING...``: what was made after SINCE (seconds since 1970) becomes
SECONDS older; the containers RUNNING count as never stopped by hand. Only whole seconds move, so
every time keeps its length and can be replaced in place, in the engine's databases too (their
data pages carry no checksum). What is named by a hash of its content, an image, is renamed.

A volume's age can't be moved: the engine reads it from the change time of its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

DATA = Path("/var/lib/docker")
PLACES = (DATA, Path("/var/lib/containerd"), Path("/home/agent"), Path("/workspace"))
_MOMENT = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_NAMED_MOMENT = re.compile(rb'("(?:created|Created|CreatedAt|StartedAt|FinishedAt|Start|End|time)":\s?")(' + _MOMENT + rb")")
_BARE_MOMENT = re.compile(rb"()(" + _MOMENT + rb")")
_NANOSECONDS = re.compile(rb'(cache\.(?:createdAt|lastUsedAt)\{"value":)(\d{19})')
_IMAGE_ID = re.compile(rb"sha256:([0-9a-f]{64})")
_BY_HAND = re.compile(rb'("HasBeenManuallyStopped":)true')


class Clock:
    """Moves times made after `since` back by `seconds`; both whole seconds."""

    def __init__(self, seconds: float, since: float) -> None:
        self.seconds = round(seconds)
        self.since = int(since)

    def moment(self, text: bytes) -> bytes:
        """``YYYY-MM-DDTHH:MM:SS``, UTC, moved if it is young enough."""
        when = datetime.fromisoformat(text.decode()).replace(tzinfo=UTC)
        if when.timestamp() < self.since:
            return text
        return (when - timedelta(seconds=self.seconds)).strftime("%Y-%m-%dT%H:%M:%S").encode()

    def nanoseconds(self, text: bytes) -> bytes:
        """Nanoseconds since 1970 in 19 digits, moved if young enough."""
        value = int(text)
        return text if value < self.since * 10**9 else str(value - self.seconds * 10**9).encode()

    def moments(self, data: bytes, pattern: re.Pattern[bytes] = _NAMED_MOMENT) -> bytes:
        """All times in `data` that `pattern` finds in its second group."""
        return pattern.sub(lambda found: found[1] + self.moment(found[2]), data)

    def cache_times(self, data: bytes) -> bytes:
        """All times in the build cache's database."""
        return _NANOSECONDS.sub(lambda found: found[1] + self.nanoseconds(found[2]), self.moments(data))


def main(arguments: list[str]) -> None:
    """Age everything; see the module's own text."""
    seconds, since, *running = arguments
    clock = Clock(float(seconds), float(since))
    times = {path: path.lstat().st_mtime for place in PLACES for path in [place, *place.rglob("*")]}
    _edit(DATA.glob("containers/*/config.v2.json"), clock.moments)
    _edit((DATA / "containers" / name / "config.v2.json" for name in running), lambda data: _BY_HAND.sub(rb"\1false", data))
    _edit(DATA.glob("containers/*/*-json.log*"), clock.moments)
    _edit(DATA.glob("network/files/local-kv.db"), clock.moments)
    _edit(DATA.glob("buildkit/*.db"), clock.cache_times)
    _edit(DATA.glob("image/*/imagedb/metadata/sha256/*/lastUpdated"), lambda data: clock.moments(data, _BARE_MOMENT))
    for store in DATA.glob("image/*"):
        rename_images(store, DATA / "containers", clock)
    for path, modified in times.items():
        if modified >= clock.since and os.path.lexists(path):
            os.utime(path, (modified - clock.seconds,) * 2, follow_symlinks=False)


def _edit(paths: Iterable[Path], change: Callable[[bytes], bytes]) -> None:
    for path in paths:
        before = path.read_bytes()
        if (after := change(before)) != before:
            path.write_bytes(after)


def rename_images(store: Path, containers: Path, clock: Clock) -> None:
    """Move young images' times back, which changes their ids, and follow the ids wherever they stand.

    `store` is the engine's folder of one storage driver: ``imagedb`` and ``repositories.json``.
    """
    contents, metadata = store / "imagedb/content/sha256", store / "imagedb/metadata/sha256"
    new_ids: dict[bytes, bytes] = {}

    def renamed(data: bytes) -> bytes:
        return _IMAGE_ID.sub(lambda found: b"sha256:" + new_ids.get(found[1], found[1]), data)

    for path in _oldest_first(contents):
        before = path.read_bytes()
        after = clock.moments(renamed(before))
        if after != before:
            new = hashlib.sha256(after).hexdigest()
            (contents / new).write_bytes(after)
            path.unlink()
            if (metadata / path.name).exists():
                (metadata / path.name).rename(metadata / new)
            new_ids[path.name.encode()] = new.encode()
    _edit([*metadata.glob("*/parent"), *store.glob("repositories.json"), *containers.glob("*/config.v2.json")], renamed)


def _oldest_first(contents: Path) -> Iterator[Path]:
    """An image may name the one it was made from, never a younger one."""
    yield from sorted(contents.glob("*"), key=lambda path: str(json.loads(path.read_bytes()).get("created", "")))


if __name__ == "__main__":
    main(sys.argv[1:])
