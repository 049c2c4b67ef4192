"""The file system of a sandbox, made by its first process before anything else runs in it.

Everything sits on one scratch folder (a tmpfs, so that it vanishes with the mount namespace)::

    base/  the root tree, read-only     upper/ work/  what the sandbox changes of it
    root/  the overlay of both          docker/ containerd/  the engine's data, not on an overlay

Paths given to mount are relative to the scratch folder where they could be seen inside.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import linux
from .cgroups import Hierarchy

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_OWN = "/proc/self/fd"
_DEV_LINKS = {"ptmx": "pts/ptmx", "fd": _OWN, "stdin": f"{_OWN}/0", "stdout": f"{_OWN}/1", "stderr": f"{_OWN}/2"}
_SAFE = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
ENGINE_DATA = {"docker": "/var/lib/docker", "containerd": "/var/lib/containerd"}


@dataclass(frozen=True, slots=True)
class Outside:
    """What the real root lays ready: (source, read-only folder inside) pairs and the size limit."""

    scratch: Path
    tree: str
    masks: tuple[str, ...]
    read_only: tuple[tuple[str, str], ...]
    size: int | None
    """Bytes of the scratch tmpfs; None: the scratch folder is on disk."""


def lay_out(outside: Outside, owner: int) -> None:
    """As the real root, in a mount namespace of the supervisor: scratch folder and bind mounts.

    The scratch folder becomes the working folder: the sandbox's root may not be let into those above it.
    """
    scratch = outside.scratch
    scratch.mkdir(parents=True)
    if outside.size is None:
        linux.bind(str(scratch), str(scratch))
    else:
        linux.mount("tmpfs", str(scratch), "tmpfs", linux.MS_NODEV, f"mode=755,size={outside.size},uid={owner},gid={owner}")
    os.chdir(scratch)
    for name in (".", "base", "upper", "work", "root", "empty", *ENGINE_DATA):
        Path(name).mkdir(mode=0o755, exist_ok=True)
        os.chown(name, owner, owner)
    linux.bind(outside.tree, "base", read_only=True)
    for number, (source, _) in enumerate(outside.read_only):
        Path(f"ro{number}").mkdir()
        linux.bind(source, f"ro{number}", read_only=True)


def build(outside: Outside, found: Sequence[Hierarchy], hostname: str, archive: int | None, tar: str) -> None:
    """As the sandbox's root, in its own namespaces: make the root, restore `archive`, enter it."""
    root = Path("root")
    linux.mount("overlay", "root", "overlay", 0, "lowerdir=base,upperdir=upper,workdir=work,userxattr")
    for name, inside in ENGINE_DATA.items():
        Path(f"root{inside}").mkdir(parents=True, exist_ok=True)
        linux.bind(name, f"root{inside}")
    if archive is not None:
        unpack = [tar, "--xattrs", "--xattrs-include=*", "--numeric-owner", "-C", "root", "-xf", "-"]
        subprocess.run(unpack, stdin=archive, check=True)
    for number, (_, inside) in enumerate(outside.read_only):
        Path(f"root{inside}").mkdir(parents=True, exist_ok=True)
        linux.mount("overlay", f"root{inside}", "overlay", linux.MS_RDONLY, f"lowerdir=ro{number}:empty")
    for inside in outside.masks:
        if Path(f"root{inside}").is_dir():
            linux.mount("tmpfs", f"root{inside}", "tmpfs", linux.MS_RDONLY, "mode=755,size=0")
    _kernel_mounts(root, found)
    _names(root, hostname)
    _loopback_up()
    linux.change_root("root")


def _kernel_mounts(root: Path, found: Sequence[Hierarchy]) -> None:
    linux.mount("proc", str(root / "proc"), "proc", _SAFE)
    linux.mount("sysfs", str(root / "sys"), "sysfs", _SAFE)
    _devices(root / "dev")
    linux.mount("tmpfs", str(root / "run"), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    (root / "run/lock").mkdir()
    _cgroup_mounts(root / "sys/fs/cgroup", found)


def _devices(dev: Path) -> None:
    linux.mount("tmpfs", str(dev), "tmpfs", linux.MS_NOSUID, "mode=755,size=65536k")
    for name in DEVICES:
        (dev / name).touch()
        linux.bind(f"/dev/{name}", str(dev / name))
    for name in ("pts", "shm", "mqueue"):
        (dev / name).mkdir()
    linux.mount("devpts", str(dev / "pts"), "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5")
    linux.mount("shm", str(dev / "shm"), "tmpfs", _SAFE, "size=65536k")
    linux.mount("mqueue", str(dev / "mqueue"), "mqueue", _SAFE)
    for name, target in _DEV_LINKS.items():
        (dev / name).symlink_to(target)


def _cgroup_mounts(top: Path, found: Sequence[Hierarchy]) -> None:
    """Fresh mounts: in a cgroup namespace they show the sandbox's own group as the root."""
    if all(one.version == 2 for one in found):
        if found:
            linux.mount("cgroup2", str(top), "cgroup2", _SAFE)
        return
    linux.mount("tmpfs", str(top), "tmpfs", _SAFE, "mode=755,size=4096k")
    for one in found:
        where = top / one.path.name
        where.mkdir()
        if one.version == 2:
            linux.mount("cgroup2", str(where), "cgroup2", _SAFE)
        else:
            linux.mount("cgroup", str(where), "cgroup", _SAFE, one.options)


def _names(root: Path, hostname: str) -> None:
    linux.set_hostname(hostname)
    (root / "etc/hostname").write_text(f"{hostname}\n")
    (root / "etc/hosts").write_text(f"127.0.0.1\tlocalhost\n127.0.1.1\t{hostname}\n::1\tlocalhost ip6-localhost ip6-loopback\n")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
