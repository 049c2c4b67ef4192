"""The catalogue as of a commit, for arms that name one."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

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
    from pytest_skilleval.core.catalogue import load_catalogue

    archive = _git(folder, "archive", "--format=tar", revision, "--", ".", what=f"the catalogue as of {revision!r} can't be read")
    with tempfile.TemporaryDirectory(prefix="skilleval-catalogue-") as place:
        _unpack(archive, Path(place))
        # Not through the cache of `load_catalogue`: this folder is gone in a moment.
        skills = load_catalogue.__wrapped__(Path(place)).skills
    if not skills:
        raise UsageProblem(f"{folder}: no skill was in it at {revision!r}")
    return skills


def _unpack(archive: bytes, place: Path) -> None:
    """Regular files only; links are left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        for member in content:
            file = content.extractfile(member) if member.isfile() else None
            if file is not None and ".." not in Path(member.name).parts:
                path = place / member.name.lstrip("/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
                path.chmod(member.mode & 0o755)


def _git(folder: Path, *arguments: str, what: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, timeout=60, check=True)
    except FileNotFoundError as error:
        raise UsageProblem(f"{what}: git is not installed") from error
    except subprocess.SubprocessError as error:
        told = getattr(error, "stderr", None) or b""
        raise UsageProblem(f"{what}: {told.decode('utf-8', 'replace').strip() or error}") from error
    return done.stdout
