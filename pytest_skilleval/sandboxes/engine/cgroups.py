"""One control group per sandbox, in every hierarchy there is (cgroup v1, v2, or both mounted).

The sandbox sees its group as the root. Limits sit on files that stay with the real root, so
that the sandbox's root can make groups below but not lift its own limits. Where a controller is
not delegated to this machine, a sandbox goes on without that limit; `Group.notes` says so.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
DAEMONS = "init.scope"
_WANTED = ("cpu", "cpuset", "io", "memory", "pids")
_LIMIT_FILES = {"memory": ("memory.limit_in_bytes", "memory.max"), "pids": ("pids.max", "pids.max")}
_HANDED_OVER = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "tasks")
_NO_CONTROLLERS = {"rw", "ro", "relatime", "nosuid", "nodev", "noexec", "noatime", "xattr", "clone_children", "cpuset_v2_mode"}


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy; `controllers` is what its mount options name (v1) or it offers (v2)."""

    path: Path
    version: int
    controllers: tuple[str, ...]

    @property
    def options(self) -> str:
        """Mount options that show this very hierarchy again (v1)."""
        return ",".join(name if "=" not in name else f"none,{name}" for name in self.controllers)


def hierarchies(mounts: Path = MOUNTS) -> tuple[Hierarchy, ...]:
    """All hierarchies mounted here, each once, v1 before v2."""
    found: dict[tuple[str, ...], Hierarchy] = {}
    for line in mounts.read_text().splitlines():
        _, where, kind, options, *_ = line.split(" ")
        path = Path(where)
        if kind == "cgroup":
            names = tuple(name for name in options.split(",") if name not in _NO_CONTROLLERS and not name.startswith("release_agent"))
            found.setdefault(names, Hierarchy(path, 1, names))
        elif kind == "cgroup2":
            offered = _words(path / "cgroup.controllers")
            found.setdefault(("2",), Hierarchy(path, 2, offered))
    return tuple(sorted(found.values(), key=lambda one: (one.version, one.path)))


def writable(found: Iterable[Hierarchy]) -> bool:
    """Whether a group can be made in any of them; tried, and removed again."""
    for one in found:
        trial = one.path / f"devbox-{os.getpid()}-{secrets.token_hex(4)}"
        with contextlib.suppress(OSError):
            trial.mkdir()
            trial.rmdir()
            return True
    return False


def layout(found: Iterable[Hierarchy]) -> str:
    """``cgroup v1``, ``cgroup v2`` or ``no cgroup``: which one the engine inside uses."""
    versions = sorted({one.version for one in found})
    return f"cgroup v{versions[0]}" if versions else "no cgroup"


@dataclass(slots=True)
class Group:
    """The control group `name` in all of `found`; `owner` is the real uid of the sandbox's root."""

    name: str
    owner: int
    found: tuple[Hierarchy, ...]
    limits: Mapping[str, int | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    in_force: dict[str, int] = field(default_factory=dict)

    def create(self) -> None:
        """Make the group wherever that is allowed; what is not goes into `notes`."""
        usable = []
        for one in self.found:
            try:
                self._create_in(one)
                usable.append(one)
            except OSError as error:
                self.notes.append(f"{one.path}: {error.strerror}")
        self.found = tuple(usable)
        for name, value in self.limits.items():
            if value is not None and name not in self.in_force:
                self.notes.append(f"no {name} limit: the {name} controller is not delegated here")

    def _create_in(self, one: Hierarchy) -> None:
        path = one.path / self.name
        if one.version == 2:
            _enable(one.path, one.controllers)
        path.mkdir(exist_ok=True)
        if one.version == 1:
            _prepare_v1(one.path, path)
        for name, value in self.limits.items():
            file = path / _LIMIT_FILES[name][one.version - 1]
            if value is not None and file.exists():
                file.write_text(str(value))
                self.in_force[name] = value
        _hand_over(path, self.owner)

    def add(self, pid: int) -> None:
        """Put a process into the group itself, before it makes its cgroup namespace."""
        for one in self.found:
            _write(one.path / self.name / "cgroup.procs", pid)

    def settle(self, pid: int) -> None:
        """Move the first process to a leaf (v2 allows none beside groups) and delegate controllers."""
        for one in self.found:
            if one.version == 2:
                leaf = self._leaf(one, DAEMONS)
                _write(leaf / "cgroup.procs", pid)
                _enable(one.path / self.name, _words(one.path / self.name / "cgroup.controllers"))

    def enter(self, leaf: str | None) -> None:
        """Put the calling process into the group, and into `leaf` where commands are told apart."""
        for one in self.found:
            path = one.path / self.name
            if leaf and one == self._tracker:
                path = self._leaf(one, leaf)
            elif one.version == 2:
                path /= DAEMONS
            _write(path / "cgroup.procs", 0)

    def kill(self, leaf: str) -> None:
        """Kill all processes in and below `leaf` and wait until they are gone."""
        kill_tree(self._tracker.path / self.name / leaf)

    def thaw(self) -> None:
        """Let what is paused go on: under v1 a frozen process does not even die."""
        for one in self.found:
            thaw_tree(one.path / self.name)

    def remove(self) -> None:
        """Kill what is left in the group and remove it."""
        remove(self.name, self.found)

    @property
    def _tracker(self) -> Hierarchy:
        """Where each command gets a leaf of its own: v2 if there is one (it kills atomically)."""
        return self.found[-1]

    def _leaf(self, one: Hierarchy, name: str) -> Path:
        leaf = one.path / self.name / name
        if not leaf.exists():
            for part in reversed([leaf, *list(leaf.parents)[: name.count("/")]]):
                part.mkdir(exist_ok=True)
                if one.version == 1:
                    _prepare_v1(part.parent, part)
                _hand_over(part, self.owner)
        return leaf


def kill_tree(path: Path, seconds: float = 5.0) -> None:
    """Kill all processes in and below the group at `path`; returns when they are gone or time is up."""
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
    thaw_tree(path)
    end = time.monotonic() + seconds
    while (left := [pid for group in _groups(path) for pid in _members(group)]) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def thaw_tree(path: Path) -> None:
    """Thaw all groups in and below `path`; those above first, for a group is frozen with its parent."""
    for group in reversed(list(_groups(path))):
        if (group / "freezer.state").exists():
            with contextlib.suppress(OSError):
                _write(group / "freezer.state", "THAWED")


def remove(name: str, found: Iterable[Hierarchy]) -> None:
    """Kill what is in the group `name` and remove it everywhere; a group that stays busy is left.

    All are thawed before any is killed: what one hierarchy has frozen does not die in another.
    """
    paths = [one.path / name for one in found if (one.path / name).exists()]
    for act in (thaw_tree, kill_tree, _remove_tree):
        for path in paths:
            act(path)


def _remove_tree(path: Path) -> None:
    for group in _groups(path):
        for _ in range(100):
            try:
                group.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.005)
            else:
                break


def _groups(path: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(path, topdown=False):
        yield Path(folder)


def _members(path: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(word) for word in _words(path / "cgroup.procs") if int(word))


def _words(file: Path) -> tuple[str, ...]:
    return tuple(file.read_text().split()) if file.exists() else ()


def _write(file: Path, value: object) -> None:
    file.write_text(str(value))


def _enable(path: Path, offered: tuple[str, ...]) -> None:
    """Hand controllers to the groups below, one by one: one that is refused must not cost the others."""
    missing = set(offered) & set(_WANTED) - set(_words(path / "cgroup.subtree_control"))
    for name in sorted(missing):
        with contextlib.suppress(OSError):
            _write(path / "cgroup.subtree_control", f"+{name}")


def _prepare_v1(parent: Path, path: Path) -> None:
    if (path / "cpuset.cpus").exists():
        for name in ("cpuset.cpus", "cpuset.mems"):
            (path / name).write_text((parent / name).read_text())
        _write(path / "cgroup.clone_children", 1)
    if (path / "devices.deny").exists():
        _write(path / "devices.deny", "b *:* rw")  # not "m": runc asks for b *:* m


def _hand_over(path: Path, owner: int) -> None:
    for target in (path, *(path / name for name in _HANDED_OVER)):
        if target.exists():
            os.chown(target, owner, owner)
