"""The folders of live sandboxes, and what a killed session leaves of them.

A sandbox's folder holds a lock that its supervisor keeps for as long as it lives. When a
supervisor is killed the kernel ends its sandbox; a folder and empty control groups remain.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from .cgroups import Hierarchy, remove


def prefix(state_dir: Path) -> str:
    """How the names of all sandboxes begin whose folders are in `state_dir`."""
    return f"devbox-{hashlib.sha256(str(state_dir).encode()).hexdigest()[:4]}-"


def claim(state_dir: Path) -> tuple[str, Path, int]:
    """Make and lock a new sandbox's folder: its id, the folder and the lock's descriptor.

    It gets its name when it is locked, so that no one takes it for a dead one in between.
    """
    state_dir.mkdir(parents=True, exist_ok=True, mode=0o711)
    name = prefix(state_dir) + secrets.token_hex(4)
    young = state_dir / f".{name}"
    young.mkdir(mode=0o711)
    lock = os.open(young / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    folder = state_dir / name
    young.rename(folder)
    return name, folder, lock


def reap(state_dir: Path, found: Iterable[Hierarchy], scratch: Path) -> tuple[str, ...]:
    """Remove what dead sandboxes left; their names. Those of live sessions are left alone.

    `scratch` is the folder of those whose files are on disk.
    """
    found = tuple(found)
    dead = [folder.name.lstrip(".") for folder in _dead(state_dir)]
    known = {folder.name.lstrip(".") for folder in _folders(state_dir)}
    for one in found:
        dead += [group.name for group in one.path.glob(prefix(state_dir) + "*") if group.name not in known]
    for name in dict.fromkeys(dead):
        remove(name, found)
        for folder in (state_dir / name, state_dir / f".{name}", scratch / name):
            shutil.rmtree(folder, ignore_errors=True)
    return tuple(dict.fromkeys(dead))


def _folders(state_dir: Path) -> list[Path]:
    names = (prefix(state_dir), "." + prefix(state_dir))
    return [path for path in state_dir.iterdir() if path.name.startswith(names)] if state_dir.is_dir() else []


def _dead(state_dir: Path) -> Iterator[Path]:
    for folder in _folders(state_dir):
        with suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(lock)
