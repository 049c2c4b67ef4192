"""The root file system that sandboxes share: a Debian 13 of its own, built once and kept.

The tree's files belong to the sandbox's users as the real system numbers them (`FIRST_ID` up),
so that inside root owns the system and set-user-id programs work.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pytest_skilleval.core.errors import SandboxError

from .wire import Account, Programs

FIRST_ID, IDS = 100000, 65536
SUITE = "trixie"
FALLBACK_MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    *("busybox-static", "ca-certificates", "curl", "docker-buildx", "docker-cli", "docker-compose", "docker.io"),
    *("git", "iproute2", "jq", "less", "nodejs", "procps", "python3", "sudo"),
)
_LIVED_IN = 60 * 86400.0
_KEPT = 30 * 86400.0
WORKSPACE = "/workspace"
HOME = "/home/agent"
_REVISION = 3
"""Raise it when the steps of `_furnish` change."""

DAEMON = {
    "features": {"containerd-snapshotter": False},
    "ip-masq": False,
    "ip6tables": False,
    "iptables": False,
    "log-level": "warn",
    "storage-driver": "overlay2",
}
_PLUGINS_OFF = (
    "io.containerd.grpc.v1.cri",
    "io.containerd.internal.v1.opt",
    "io.containerd.nri.v1.nri",
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.blockfile",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.tracing.processor.v1.otlp",
)
SETTINGS = {
    "etc/containerd/config.toml": f"version = 2\noom_score = 0\ndisabled_plugins = {json.dumps(_PLUGINS_OFF)}\n",
    "etc/docker/daemon.json": json.dumps(DAEMON, indent=2) + "\n",
    "etc/hostname": "devbox\n",
    "etc/hosts": "127.0.0.1\tlocalhost\n",
    "etc/resolv.conf": "nameserver 9.9.9.9\n",
}
"""Files of any root, by path."""
_FILES = {
    **SETTINGS,
    "etc/apt/sources.list": f"deb {FALLBACK_MIRROR} {SUITE} main\n",
    "etc/sudoers.d/agent": "agent ALL=(ALL:ALL) NOPASSWD: ALL\n",
}


@dataclass(frozen=True, slots=True)
class Tree:
    """A root file system ready to use; `digest` names its recipe, `facts` what is in it."""

    path: Path
    digest: str
    accounts: Mapping[str, Account]
    docker_gid: int
    facts: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[tuple[str, str], ...] = ()
    masks: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    """Sentences on what this root does not give."""
    programs: Programs = field(default_factory=Programs)


def recipe() -> str:
    """Hash of everything that decides what the tree holds, but for the packages' versions."""
    text = json.dumps([_REVISION, SUITE, PACKAGES, _FILES, FIRST_ID, WORKSPACE], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def foreseen(cache: Path) -> Tree:
    """The tree as it will be once it is built, but for what only the building can tell."""
    folder = cache / "trees" / recipe()
    return Tree(folder / "root", folder.name, {}, -1)


def find(cache: Path) -> Tree | None:
    """The built tree, if there is one."""
    folder = cache / "trees" / recipe()
    if not (folder / "tree.json").exists():
        return None
    return _load(folder)


def build(cache: Path, report: Callable[[str], None]) -> Tree:
    """The tree, built now if need be; other processes that want it wait.

    Raises
    ------
    SandboxError
        The build failed; the text holds the end of the builder's output.
    """
    with exclusive(cache / "trees", recipe()):
        if (tree := find(cache)) is not None:
            return tree
        target = cache / "trees" / recipe()
        part = target.with_name(target.name + ".part")
        _remove(part)
        report(f"building the sandbox root (Debian 13 with Docker, once, about a minute, 800 MB) in {target}")
        part.mkdir(mode=0o755)
        _bootstrap(part / "root", report)
        record = _furnish(part / "root")
        shift_owners(part / "root")
        _weather(part / "root")
        (part / "tree.json").write_text(json.dumps(record, indent=2, sort_keys=True))
        _remove(target)
        part.rename(target)
        forget(cache)
        return _load(target)


@contextmanager
def exclusive(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock `name` in `folder`; the kernel lets go of it when the holder dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def forget(cache: Path) -> None:
    """Remove trees that no session has used for `_KEPT` seconds, and what was prepared on them."""
    for record in (cache / "trees").glob("*/tree.json"):
        if time.time() - record.stat().st_mtime > _KEPT:
            _remove(record.parent)
            _remove(cache / "prepared" / record.parent.name)


def _load(folder: Path) -> Tree:
    os.utime(folder / "tree.json")
    raw = json.loads((folder / "tree.json").read_text())
    accounts = {name: Account(**{**account, "groups": tuple(account["groups"])}) for name, account in raw["accounts"].items()}
    return Tree(folder / "root", folder.name, accounts, raw["docker_gid"], raw["facts"])


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)


def mirror(listing: str) -> str:
    """The Debian mirror the host uses, out of ``apt-get indextargets``' addresses, one a line."""
    for address in listing.split():
        if re.fullmatch(r"https?://[^/]+(/.*)?/debian/?", address):
            return address.rstrip("/")
    return FALLBACK_MIRROR


def builder() -> str | None:
    """The bootstrap program there is."""
    return next((name for name in ("mmdebstrap", "debootstrap") if shutil.which(name)), None)


def keyring() -> Path | None:
    """Debian's archive keys, which a host of another distribution may lack."""
    names = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")
    return next((path for name in names if (path := Path("/usr/share/keyrings") / name).exists()), None)


def missing_tools() -> tuple[str, ...]:
    """Packages of the host that building needs and that are not there."""
    needed = []
    if builder() is None:
        needed.append("mmdebstrap")
    if keyring() is None:
        needed.append("debian-archive-keyring")
    return tuple(needed)


def _bootstrap(root: Path, report: Callable[[str], None]) -> None:
    if needed := missing_tools():
        if shutil.which("apt-get") is None:
            raise SandboxError(f"building the sandbox root needs {' and '.join(needed)}; install it, or use --skill-engine-root=host")
        report(f"installing {' '.join(needed)} with apt-get")
        _run(["apt-get", "update", "-q"])
        _run(["apt-get", "install", "-q", "-y", "--no-install-recommends", *needed])
    listing = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True, check=False).stdout
    address = mirror(listing)
    keys = str(keyring())
    with_packages = f"--include={','.join(PACKAGES)}"
    if builder() == "mmdebstrap":
        command = ["mmdebstrap", "--mode=root", "--variant=minbase", with_packages, f"--keyring={keys}", SUITE, str(root), address]
    else:
        command = ["debootstrap", "--variant=minbase", with_packages, f"--keyring={keys}", SUITE, str(root), address]
    _run(contained(command))


def contained(command: list[str]) -> list[str]:
    """`command` in namespaces of its own that die with the caller: it leaves no process and no mount, however it ends."""
    return ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", *command]


def _run(command: list[str]) -> str:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, umask=0o022, check=False
    )
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        raise SandboxError(f"{command[0]} failed ({done.returncode}) while building the sandbox root:\n{text[-3000:]}")
    return text


def _furnish(root: Path) -> dict[str, object]:
    """Users, settings and a clean-up; returns what `Tree` is made of."""

    def inside(*command: str) -> str:
        return _run(["chroot", str(root), *command])

    inside("useradd", "--create-home", "--uid", "1000", "--shell", "/bin/bash", "--groups", "docker,sudo", "agent")
    for name, text in _FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o440 if path.parent.name == "sudoers.d" else 0o644)
    (root / WORKSPACE.lstrip("/")).mkdir()
    for path in (root / "etc/docker", root / "etc/containerd", root / WORKSPACE.lstrip("/")):
        path.chmod(0o755)
    os.chown(root / WORKSPACE.lstrip("/"), 1000, 1000)
    for pattern in ("var/log/*", "var/cache/apt/*", "var/lib/apt/lists/*", "run/*", "tmp/*", "etc/*-"):
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(root / "dev")
    (root / "dev").mkdir()
    versions = inside("dpkg-query", "-W", "-f", "${Package} ${Version}\n")
    facts = dict(line.split(" ", 1) for line in versions.splitlines() if line.split(" ")[0] in PACKAGES)
    groups = dict(re.findall(r"^(\w+):[^:]*:(\d+):", (root / "etc/group").read_text(), re.MULTILINE))
    accounts = {
        "root": Account(0, 0, (0,), "/root"),
        "agent": Account(1000, 1000, (1000, int(groups["docker"]), int(groups["sudo"])), HOME),
    }
    return {"accounts": {name: asdict(one) for name, one in accounts.items()}, "docker_gid": int(groups["docker"]), "facts": facts}


def shift_owners(root: Path) -> None:
    """Give every file to the same user's number inside; a change of owner drops mode bits, so set them again."""
    for path in _all(root):
        info = path.lstat()
        if info.st_uid >= FIRST_ID:
            continue
        os.lchown(path, info.st_uid + FIRST_ID, info.st_gid + FIRST_ID)
        if not stat.S_ISLNK(info.st_mode):
            path.chmod(stat.S_IMODE(info.st_mode))


def _weather(root: Path) -> None:
    """Make what the build has just made look as old as the rest of a machine in use."""
    then = time.time() - _LIVED_IN
    for path in _all(root):
        if path.lstat().st_mtime > then:
            os.utime(path, (then, then), follow_symlinks=False)


def _all(root: Path) -> Iterator[Path]:
    """Everything in `root` and itself, deepest first."""
    for folder, folders, files in os.walk(root, topdown=False):
        yield from (Path(folder, name) for name in (*folders, *files))
    yield root
