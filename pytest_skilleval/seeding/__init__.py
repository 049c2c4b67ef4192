"""The helper that seeds use inside the sandbox, and how the runner calls a seed.

The runner makes an empty folder inside the sandbox, puts `helper_files` and `seed_files` under it, runs
`seed_command` as the agent's user with the workspace as working directory, and removes the folder before the
baseline snapshot. What a seed may rely on is written in ``docs/seeds.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath

from pytest_skilleval.core.errors import SeedError
from pytest_skilleval.core.ports import Command, SandboxFile

HELPER_PATH = "bin/seedkit"
SEED_FOLDER = "seed"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SEED_TIMEOUT = 120.0
"""Seconds a seed may take; one that takes longer failed."""


def helper_files() -> dict[str, bytes]:
    """The helper's files: path relative to the seeding folder -> content. All are to be executable."""
    return {HELPER_PATH: (resources.files(__package__) / "seedkit.py").read_bytes()}


def seed_files(spec_folder: Path, run: str) -> tuple[SandboxFile, ...]:
    """The whole folder of the seed program `run`, as files relative to the seeding folder.

    `run` is relative to `spec_folder`. Of one that lies beside spec.yaml nothing but itself is carried along: the spec
    must never be found inside.
    Modes are kept as they are on disk (executable or not). Raises SeedError when the program is not there.
    """
    program = spec_folder / run
    if not program.is_file():
        raise SeedError(f"the seed {run} is not in {spec_folder}: correct `seed: run:` in spec.yaml")
    folder = program.parent
    everything = [program] if folder == spec_folder else sorted(folder.rglob("*"))
    return tuple(
        SandboxFile(
            path=f"{SEED_FOLDER}/{path.relative_to(folder).as_posix()}",
            content=path.read_bytes(),
            mode=0o755 if path.stat().st_mode & 0o100 else 0o644,
        )
        for path in everything
        if path.is_file() and "__pycache__" not in path.parts
    )


def seed_environment(skin: Mapping[str, str | int]) -> dict[str, str]:
    """The variables a seed sees besides PATH: ``SEED_SKIN``, the skin's names as one line of JSON."""
    return {"SEED_SKIN": json.dumps(dict(skin), sort_keys=True)}


def seed_command(folder: str, run: str, skin: Mapping[str, str | int]) -> Command:
    """The command that runs the seed `run`, whose files were put under `folder` inside the sandbox.

    As the agent's user, in the workspace, with the helper first on PATH.
    """
    path = f"{PurePosixPath(folder, HELPER_PATH).parent}:{SYSTEM_PATH}"
    program = PurePosixPath(folder, SEED_FOLDER, PurePosixPath(run).name)
    return Command(argv=(str(program),), env={"PATH": path, **seed_environment(skin)})
