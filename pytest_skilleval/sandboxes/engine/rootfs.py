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

    scratch: str
    tree: str
    masks: tuple[str, ...]
    read_only: tuple[tuple[str, str], ...]
    size: int | None
    """Bytes of the scratch tmpfs; None: the scratch folder is on disk."""


def lay_out(outside: Outside, owner: int) -> None:
    """As the real root, in a mount namespace of the supervisor: scratch folder and bind mounts."""
    scratch = outside.scratch
    os.makedirs(scratch, exist_ok=True)
    if outside.size is not None:
        linux.mount("tmpfs", scratch, "tmpfs", linux.MS_NODEV, f"mode=755,size={outside.size},uid={owner},gid={owner}")
    for name in ("base", "upper", "work", "root", "empty", *ENGINE_DATA):
        os.mkdir(f"{scratch}/{name}", 0o755)
        os.chown(f"{scratch}/{name}", owner, owner)
    os.chown(scratch, owner, owner)
    linux.bind(outside.tree, f"{scratch}/base", read_only=True)
    for number, (source, _) in enumerate(outside.read_only):
        os.mkdir(f"{scratch}/ro{number}")
        linux.bind(source, f"{scratch}/ro{number}", read_only=True)


def build(outside: Outside, found: Sequence[Hierarchy], hostname: str, archive: int | None, tar: str) -> None:
    """As the sandbox's root, in its own namespaces: make the root, restore `archive`, enter it."""
    os.chdir(outside.scratch)
    linux.mount("overlay", "root", "overlay", 0, "lowerdir=base,upperdir=upper,workdir=work,userxattr")
    for name, inside in ENGINE_DATA.items():
        os.makedirs(f"root{inside}", exist_ok=True)
        linux.bind(name, f"root{inside}")
    if archive is not None:
        subprocess.run([tar, "--xattrs", "--xattrs-include=*", "--numeric-owner", "-C", "root", "-xf", "-"], stdin=archive, check=True)
    for number, (_, inside) in enumerate(outside.read_only):
        os.makedirs(f"root{inside}", exist_ok=True)
        linux.mount("overlay", f"root{inside}", "overlay", linux.MS_RDONLY, f"lowerdir=ro{number}:empty")
    for inside in outside.masks:
        if os.path.isdir(f"root{inside}"):
            linux.mount("tmpfs", f"root{inside}", "tmpfs", linux.MS_RDONLY, "mode=755,size=0")
    _kernel_mounts(found)
    _names(hostname)
    _loopback_up()
    linux.change_root("root")


def _kernel_mounts(found: Sequence[Hierarchy]) -> None:
    linux.mount("proc", "root/proc", "proc", _SAFE)
    linux.mount("sysfs", "root/sys", "sysfs", _SAFE)
    linux.mount("tmpfs", "root/dev", "tmpfs", linux.MS_NOSUID, "mode=755,size=65536k")
    for name in DEVICES:
        Path(f"root/dev/{name}").touch()
        linux.bind(f"/dev/{name}", f"root/dev/{name}")
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"root/dev/{name}")
    linux.mount("devpts", "root/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5")
    linux.mount("shm", "root/dev/shm", "tmpfs", _SAFE, "size=65536k")
    linux.mount("mqueue", "root/dev/mqueue", "mqueue", _SAFE)
    for name, target in _DEV_LINKS.items():
        os.symlink(target, f"root/dev/{name}")
    linux.mount("tmpfs", "root/run", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    os.mkdir("root/run/lock")
    _cgroup_mounts(found)


def _cgroup_mounts(found: Sequence[Hierarchy]) -> None:
    """Fresh mounts: in a cgroup namespace they show the sandbox's own group as the root."""
    top = "root/sys/fs/cgroup"
    if all(one.version == 2 for one in found):
        if found:
            linux.mount("cgroup2", top, "cgroup2", _SAFE)
        return
    linux.mount("tmpfs", top, "tmpfs", _SAFE, "mode=755,size=4096k")
    for one in found:
        where = f"{top}/{one.path.name}"
        os.mkdir(where)
        if one.version == 2:
            linux.mount("cgroup2", where, "cgroup2", _SAFE)
        else:
            linux.mount("cgroup", where, "cgroup", _SAFE, one.options)


def _names(hostname: str) -> None:
    linux.set_hostname(hostname)
    Path("root/etc/hostname").write_text(f"{hostname}\n")
    Path("root/etc/hosts").write_text(f"127.0.0.1\tlocalhost\n127.0.1.1\t{hostname}\n::1\tlocalhost ip6-localhost ip6-loopback\n")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
