"""Finds the agent CLIs that are installed on this host, so that a sandbox can bind them read-only."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_skilleval.core.errors import UsageProblem

PREFIX = "SKILLEVAL_AGENT_PREFIX"
"""Variable with an npm prefix in which the CLIs are looked for first (``npm install --prefix DIR ...``)."""

ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def package_folders(package: str, program: str) -> Iterator[Path]:
    """Folders that may hold the npm package's native part: named prefix, then where `program` on PATH really lies."""
    if prefix := os.environ.get(PREFIX):
        yield Path(prefix) / "node_modules" / package
        yield Path(prefix) / "lib" / "node_modules" / package
    found = shutil.which(program)
    if found:
        for folder in Path(found).resolve().parents:
            if folder.name == package.rpartition("/")[2]:
                yield folder


def native(package: str, program: str, inner: str) -> Path:
    """The folder, inside the platform's part of the npm `package`, that holds the native program; `inner` is a glob in it.

    Raises
    ------
    UsageProblem
        When it is not installed here, with the mending command.
    """
    kind = f"linux-{ARCHITECTURES.get(platform.machine().lower(), platform.machine())}"
    if sys.platform == "linux":
        for folder in package_folders(package, program):
            for home in (folder.parent, folder / "node_modules" / package.partition("/")[0]):
                for part in sorted(home.glob(f"{folder.name}-{kind}*")):
                    for file in part.glob(inner):
                        return file.parent
    raise UsageProblem(
        f"{program} is not installed here as an npm package for {kind}: run `npm install -g {package}`"
        f" (or install it under a folder of its own and set {PREFIX})"
    )


def on_path(program: str, folder: str) -> tuple[str, ...]:
    """The start of an argv that finds `program` on the sandbox's own PATH, else in the bound `folder`."""
    return ("/bin/sh", "-c", f'PATH="$PATH:{folder}" exec {program} "$@"', program)
