"""What the processes of one session tell each other through a private folder: stop, and where results go.

Files and locks rather than messages, because they also work when the controller is dead, when a worker hangs, and
without any distribution at all.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

PREFIX = "skilleval-session-"
SETTLED_SECONDS = 10.0
"""A younger folder may be one that its controller is about to lock."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more is started. ``interrupt`` also kills what runs; ``budget`` lets it end, though no live model answers it any more."""

    kind: Literal["interrupt", "budget"]
    reason: str


@dataclass(frozen=True, slots=True)
class Control:
    """The folder that all processes of one session share."""

    folder: Path
    owner: int | None = None
    """Descriptor that the controller holds locked until it ends, however it ends."""

    @classmethod
    def create(cls) -> Control:
        """A new folder, made by the controller."""
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return cls(folder, descriptor)

    def remove(self) -> None:
        """The session is over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.owner is not None:
            os.close(self.owner)

    def stop(self, stop: Stop) -> None:
        """Tell every process to start nothing more; the first reason stays. Nothing happens once the folder is gone."""
        draft = self.folder / f".stop-{os.getpid()}"
        try:
            draft.write_text(json.dumps(asdict(stop)), encoding="utf-8")
            os.link(draft, self.folder / "stop")
        except OSError:
            pass
        finally:
            draft.unlink(missing_ok=True)

    def stopped(self) -> Stop | None:
        """Why nothing more may be started, if so."""
        try:
            return Stop(**json.loads((self.folder / "stop").read_text(encoding="utf-8")))
        except OSError:
            return None if self.folder.is_dir() else Stop("interrupt", "the session is over")

    def publish(self, folders: Mapping[str, Path]) -> None:
        """Tell the workers, before the first run, where each skill's results go."""
        content = {skill: str(folder) for skill, folder in folders.items()}
        (self.folder / "results.json").write_text(json.dumps(content), encoding="utf-8")

    def published(self) -> dict[str, Path]:
        """Where each skill's results go."""
        content = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        return {skill: Path(folder) for skill, folder in content.items()}

    def decide(self, skill: str, look: int, *, stops: bool) -> None:
        """Tell every process what a planned look found: go on, or start no further run of `skill`."""
        draft = self.folder / f".look-{skill}-{look}"
        draft.write_text("stop" if stops else "go", encoding="utf-8")
        draft.replace(self.folder / f"look-{skill}-{look}")

    def look(self, skill: str, look: int) -> bool | None:
        """Whether a planned look stops `skill`; None while it is not decided."""
        try:
            return (self.folder / f"look-{skill}-{look}").read_text(encoding="utf-8") == "stop"
        except OSError:
            return None

    @contextmanager
    def busy(self) -> Iterator[None]:
        """A run is open in this process: its sandbox may need closing. The lock ends with the process, however it dies."""
        path = self.folder / f"busy-{os.getpid()}"
        with path.open("w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until no other process has a run open; False when that takes more than `seconds`."""
        deadline = time.monotonic() + seconds
        while any(_is_locked(path) for path in self.folder.glob("busy-*")):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def sweep() -> tuple[str, ...]:
    """Remove the folders of sessions whose controller was killed; names them."""
    left = [folder for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if _is_left(folder)]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return tuple(map(str, left))


def _is_left(folder: Path) -> bool:
    """Whether nobody holds the folder, and it is not just being made."""
    try:
        facts = folder.stat()
        return facts.st_uid == os.geteuid() and time.time() - facts.st_mtime > SETTLED_SECONDS and not _is_locked(folder)
    except OSError:
        return False


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
