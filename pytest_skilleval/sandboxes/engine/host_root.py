"""The other root: the host's own ``/usr``, read-only, under a small tree of our making.

Nothing but ``/usr`` (without what is only this host's: ``/usr/local`` and ``/usr/src``) and a few
public files of ``/etc`` are shown.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from pytest_skilleval.core.errors import SandboxError

from . import tree
from .wire import Account, Programs

_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_FOLDERS = (
    *("dev", "etc", "home/agent", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "usr"),
    *("var/lib", "var/log", "var/tmp", "workspace"),
)
_PUBLIC = ("alternatives", "ca-certificates.conf", "debian_version", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "nsswitch.conf")
_DOCKER_GID = 999
_USERS = "root:x:0:0:root:/root:/bin/bash\nagent:x:1000:1000::/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
_GROUPS = f"root:x:0:\ntty:x:5:\ndocker:x:{_DOCKER_GID}:agent\nagent:x:1000:\nnogroup:x:65534:\n"
_NO_SUDO = "the host's /usr is shown read-only: no sudo inside, and no package can be installed"


def make(cache: Path, host: Path = Path("/")) -> tree.Tree:
    """A tree around the ``usr`` of `host`, made anew whenever the host's engine or our files change.

    Raises
    ------
    SandboxError
        The host has no Docker Engine, or its ``/bin`` is not a link into ``/usr``.
    """
    made = foreseen(cache, host)
    with tree.exclusive(cache / "trees", made.digest):
        if not made.path.exists():
            _fill(made.path, host)
    return made


def foreseen(cache: Path, host: Path = Path("/")) -> tree.Tree:
    """What `make` would return; nothing is made."""
    if not (host / "bin").is_symlink():
        raise SandboxError("--skill-engine-root=host needs a host whose /bin is a link to /usr/bin; use --skill-engine-root=tree")
    programs = _programs(host)
    version = engine_version(host / programs.dockerd.lstrip("/"))
    digest = "host-" + hashlib.sha256(f"{tree.recipe()} {version} {host}".encode()).hexdigest()[:12]
    root = cache / "trees" / digest / "root"
    accounts = {"root": Account(0, 0, (0,), "/root"), "agent": Account(1000, 1000, (1000, _DOCKER_GID), tree.HOME)}
    limits = (_NO_SUDO, *old_engine(version))
    made = tree.Tree(root, digest, accounts, _DOCKER_GID, {"docker": version}, limits=limits, programs=programs)
    return replace(made, read_only=((str(host / "usr"), "/usr"),), masks=("/usr/local", "/usr/src"))


def old_engine(version: str) -> tuple[str, ...]:
    """What to say of an engine that differs in what it destroys."""
    major = re.match(r"\d+", version)
    if major is None or int(major[0]) >= 26:
        return ()
    return (f"Docker Engine {version} is below 26: `docker volume prune` may remove named volumes too, which newer engines keep",)


def engine_version(dockerd: Path) -> str:
    """The version that ``dockerd --version`` tells."""
    text = subprocess.run([str(dockerd), "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    found = re.search(r"version ([^,\s]+)", text)
    return found[1] if found else "unknown"


def _programs(host: Path) -> Programs:
    def find(name: str, *folders: str) -> str:
        for folder in folders:
            if (host / folder.lstrip("/") / name).exists():
                return f"{folder}/{name}"
        raise SandboxError(f"--skill-engine-root=host needs {name} in {' or '.join(folders)} (package docker.io); or use the tree")

    return Programs(
        containerd=find("containerd", "/usr/bin"),
        dockerd=find("dockerd", "/usr/sbin", "/usr/bin"),
    )


def _fill(root: Path, host: Path) -> None:
    part = root.with_name("part")
    shutil.rmtree(part, ignore_errors=True)
    for name in _FOLDERS:
        (part / name).mkdir(parents=True)
    for name in _LINKS:
        if (host / name).is_symlink():
            (part / name).symlink_to((host / name).readlink())
    for name in _PUBLIC:
        _copy(host / "etc" / name, part / "etc" / name)
    (part / "etc/ssl").mkdir()
    _copy(host / "etc/ssl/certs", part / "etc/ssl/certs")
    (part / "etc/os-release").symlink_to("../usr/lib/os-release")
    (part / "var/run").symlink_to("/run")
    for name, text in {"etc/passwd": _USERS, "etc/group": _GROUPS, **tree.SETTINGS}.items():
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        (part / name).write_text(text)
    for path in (part, *part.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    for name in ("tmp", "var/tmp"):
        (part / name).chmod(0o1777)
    for name in ("home/agent", "workspace"):
        os.chown(part / name, 1000, 1000)
    tree.shift_owners(part)
    part.rename(root)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copy(source, target)
