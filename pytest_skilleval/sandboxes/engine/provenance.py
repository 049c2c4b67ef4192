"""What a run's record says of the sandbox it ran in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .cgroups import hierarchies, layout
from .tree import Tree
from .wire import Started

if TYPE_CHECKING:
    from docker import APIClient


def describe(client: APIClient, tree: Tree, started: Started, commands: Sequence[str]) -> Mapping[str, str]:
    """Facts by name; raises docker.errors.DockerException when the engine is gone."""
    info, version = client.info(), client.version()
    containerd_store = any("io.containerd.snapshotter" in str(value) for pair in info.get("DriverStatus") or [] for value in pair)
    limits = ", ".join(f"{name} {value}" for name, value in sorted(started.limits.items()))
    return {
        "backend": "engine",
        "command": "\n".join(commands),
        "engine": version["Version"],
        "api": version["ApiVersion"],
        "storage": info["Driver"],
        "image store": "containerd" if containerd_store else "classic",
        "cgroups": layout(hierarchies()),
        "limits": limits or "none",
        "root": tree.digest,
        "filesystem": dict(info.get("DriverStatus") or []).get("Backing Filesystem", ""),
        "kernel": version.get("KernelVersion", ""),
        "notes": "; ".join((*started.notes, *tree.limits)),
        **{f"package {name}": value for name, value in tree.facts.items()},
    }
