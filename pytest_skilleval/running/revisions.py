"""The catalogue as of a commit, for arms that name one."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_skilleval.core.arms import unpacked
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.loaded import LoadedSpec, Skill

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Arm

CATALOGUE = "catalogue"


def catalogue_of(loaded: LoadedSpec, arm: Arm) -> Mapping[str, Skill]:
    """The skills that the arm installs from: today's, or those of its `revision`.

    Raises
    ------
    UsageProblem
        The commit is not there, or had no catalogue.
    """
    if arm.revision is None:
        return loaded.catalogue
    return catalogue_at(loaded.folder.parent / CATALOGUE, arm.revision)


@lru_cache(maxsize=8)
def catalogue_at(folder: Path, revision: str) -> Mapping[str, Skill]:
    """Every skill of the catalogue `folder` as it was at `revision`, read from the repository around it."""
    from pytest_skilleval.core.catalogue import read_catalogue

    archive = _git(folder, "archive", "--format=tar", revision, "--", ".", what=f"the catalogue as of {revision!r} can't be read")
    with tempfile.TemporaryDirectory(prefix="skilleval-catalogue-") as place:
        for file in unpacked(archive):
            path = Path(place, file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(file.mode & 0o755)
        skills = read_catalogue(Path(place)).skills
    if not skills:
        raise UsageProblem(f"{folder}: no skill was in it at {revision!r}")
    return skills


def _git(folder: Path, *arguments: str, what: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, timeout=60, check=True)
    except FileNotFoundError as error:
        raise UsageProblem(f"{what}: git is not installed") from error
    except subprocess.SubprocessError as error:
        told = getattr(error, "stderr", None) or b""
        raise UsageProblem(f"{what}: {told.decode('utf-8', 'replace').strip() or error}") from error
    return done.stdout
