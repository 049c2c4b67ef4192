"""What there is of sandboxes on this machine: for `doctor`, and for the tests that nothing stays."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .cgroups import hierarchies
from .reap import prefix


def inventory(state_dir: Path) -> frozenset[str]:
    """Folders, control groups, mounts and processes of the sandboxes of `state_dir`, one line each."""
    mark = prefix(state_dir)
    folders = {f"folder {path}" for path in state_dir.glob(f"*{mark}*")}
    groups = {f"group {path}" for one in hierarchies() for path in one.path.glob(f"{mark}*")}
    mounts = {f"mount {line}" for line in Path("/proc/self/mounts").read_text().splitlines() if str(state_dir) in line}
    return frozenset(folders | groups | mounts | processes(state_dir))


def processes(state_dir: Path) -> frozenset[str]:
    """Supervisors of `state_dir`, and what runs in their control groups."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = prefix(state_dir) in (process / "cgroup").read_text()
            supervises = (process / "cwd").readlink().is_relative_to(state_dir)
            if (ours or supervises) and (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.add(f"process {process.name} {(process / 'comm').read_text().strip()}")
    return frozenset(found)
