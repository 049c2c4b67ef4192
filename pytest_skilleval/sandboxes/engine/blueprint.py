"""The commands that make a sandbox, as text: the same for one that was made and for one that would be."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .supervisor import daemon_argv
from .wire import Setup


def supervisor_argv() -> list[str]:
    """What the backend starts; the supervisor's program and its `Setup` go in by stdin, so that no other program's list shows them."""
    return [Path(sys.executable).resolve().name, "-I", "-S", "-"]


def commands(argv: Sequence[str], setup: Setup) -> Iterator[str]:
    """The supervisor's command line, with what it is told; then what it starts inside.

    What differs from one sandbox to the next of the same kind (names, folders, descriptors) is left out.
    """
    root = Path(setup.tree).parent.name
    bound = " ".join(f"{source}:{inside}:ro" for source, inside in setup.read_only)
    limits = " ".join(f"{name}={value}" for name, value in sorted({**setup.limits, "disk": setup.size}.items()) if value is not None)
    yield f"{shlex.join(argv)}  # root {root}, host name {setup.hostname}, limits {limits or 'none'}, bound {bound or 'nothing'}"
    for name in ("containerd", "dockerd"):
        names = [f"{variable}=..." for variable in sorted(setup.engine_env)]
        yield " ".join([*names, shlex.join(daemon_argv(name, setup.programs))])
