"""``skilleval seed --from-host``: the inventory of a real host as a seed, anonymised."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import DockerState

_SECONDS = 300


def write_seed(folder: Path, recorded: Path | None) -> None:
    """Write the seed into `folder` and tell what to put into a spec; `recorded` is a baseline.json, None: look at this host.

    Raises
    ------
    UsageProblem
        The seed's files are there already, or no Docker Engine answers here.
    ArchiveError
        `recorded` can't be read.
    """
    from pytest_skilleval.archive import decode
    from pytest_skilleval.commands.placing import NewFile, place
    from pytest_skilleval.core.drafting.yaml_text import block
    from pytest_skilleval.core.inventory.anonymous import anonymous
    from pytest_skilleval.core.inventory.program import makes, seed_program
    from pytest_skilleval.core.snapshot import DockerState

    state = decode(recorded, DockerState) if recorded else host_state()
    inventory = anonymous(state)
    age = f"- {{age_days: {inventory.age_days}}}\n"
    files = {folder / "world.sh": NewFile(seed_program(inventory).encode(), executable=True), folder / "skins.yaml": NewFile(age.encode())}
    place(files, mend="name another folder")
    seed = {"run": f"{folder.name}/world.sh", "skins": f"{folder.name}/skins.yaml", "makes": makes(inventory)}
    told = [*(f"wrote {path}" for path in files), *(f"not in it: {note}" for note in inventory.notes)]
    sys.stderr.write("\n".join([*told, "Read it before you share it. In a spec.yaml beside that folder:"]) + "\n")
    sys.stdout.write(block({"seed": seed}))


def host_state() -> DockerState:
    """The Docker state of this host, by calls that change nothing; UsageProblem when no engine answers."""
    import docker
    import requests

    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.sandboxes.docker_state import look

    try:
        client = docker.from_env(timeout=_SECONDS)
        try:
            return look(client.api)
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException) as error:
        mend = "say where one is in DOCKER_HOST, or give a recorded state: --from-state baseline.json"
        raise UsageProblem(f"no Docker Engine answers here ({error}); {mend}") from error
