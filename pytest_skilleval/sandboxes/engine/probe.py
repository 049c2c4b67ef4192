"""Whether this machine can make sandboxes of this kind: a few cheap looks, nothing that lasts."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import Probe

from . import host_root, linux, tree
from .cgroups import hierarchies, layout, writable

KERNEL = (5, 11)
"""The first that lets a user namespace mount an overlay."""
MARKS_IN_MEMORY = (6, 6)
"""The first whose tmpfs takes the user attributes that such an overlay needs."""
_NAMESPACES = ("--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--mount-proc")
_LIMITS = (
    "the agent shares this machine's kernel: the sandbox guards against mistakes, less against malice",
    "containers inside are not kept apart from each other's networks, and nothing inside reaches the outside network",
    "containers, images and networks of a prepared state look as old as asked for; a volume tells when it was restored",
)


def look(root: str, cache: Path) -> Probe:
    """The verdict for root ``tree`` or ``host``."""
    trouble = next(_troubles(root, cache), None)
    if trouble is not None:
        return Probe(available=False, reason=trouble)
    found = hierarchies()
    limits: tuple[str, ...] = _LIMITS
    if missing := {"memory", "pids"} - {name for one in found for name in one.controllers}:
        limits = (*limits, f"the controllers {' and '.join(sorted(missing))} are not delegated here: sandboxes have no such limits")
    if not memory_files_take_marks():
        limits = (*limits, f"Linux {platform.release()} is below 6.6: sandboxes write to disk, without a limit, and are slower")
    if root == "host":
        made = host_root.make(cache)
        engine, limits = made.facts["docker"], (*limits, *made.limits)
    else:
        built = tree.find(cache)
        engine = built.facts["docker.io"].split("+")[0] if built else "of Debian 13 (its root is built first, about a minute)"
    return Probe(available=True, reason=f"private Docker Engine {engine}, {layout(found)}", facts={"root": root}, limits=limits)


def _release() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])


def memory_files_take_marks() -> bool:
    """Whether what sandboxes write can be kept in memory."""
    return _release() >= MARKS_IN_MEMORY


def _troubles(root: str, cache: Path) -> Iterator[str]:
    if sys.platform != "linux":
        yield "needs Linux; use the sbx or docker sandbox here"
    if not linux.supported():
        yield f"needs an x86-64 or arm64 machine, not {platform.machine()}"
    if os.geteuid() != 0:
        yield "needs root: run pytest with sudo, or in a container started with --privileged"
    if _release() < KERNEL:
        yield f"needs Linux {KERNEL[0]}.{KERNEL[1]} or later, not {platform.release()}"
    yield from _namespace_trouble()
    if not writable(hierarchies()):
        yield "needs a writable control group file system; in a container, start it with --privileged"
    if root == "host":
        try:
            host_root.make(cache)
        except SandboxError as error:
            yield str(error)
    elif tree.find(cache) is None and tree.missing_tools() and shutil.which("apt-get") is None:
        yield f"needs {' and '.join(tree.missing_tools())} to build its root; install it"


def _namespace_trouble() -> Iterator[str]:
    if shutil.which("unshare") is None:
        yield "needs the program unshare (package util-linux)"
    done = subprocess.run(["unshare", *_NAMESPACES, "true"], capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        yield f"namespaces can't be made here ({done.stderr.strip()}); in a container, start it with --privileged"
