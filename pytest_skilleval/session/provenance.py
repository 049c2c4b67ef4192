"""Facts of a session: what made the results, besides what each run records of itself."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.session.evaluation import Evaluation


def provenance_of(evaluation: Evaluation) -> dict[str, str | int]:
    """Flat facts by name: versions, machine, sandbox backend, repository commit and whether it was changed."""
    return {
        "format": 1,
        "plugin": importlib.metadata.version("pytest-skilleval"),
        "pytest": importlib.metadata.version("pytest"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "sandbox": evaluation.backend.name,
        "sandbox.reason": evaluation.place.reason if evaluation.place else "",
        "random_seed": evaluation.plan.random_seed,
        "random_seed.origin": evaluation.plan.seed_origin,
        **repository(evaluation.config.rootpath),
    }


def repository(folder: Path) -> dict[str, str]:
    """Commit and dirtiness of the repository around `folder`; ``unknown`` where there is none, or no git."""
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    dirty = "unknown" if changes is None else "yes" if changes else "no"
    return {"repository.commit": commit or "unknown", "repository.dirty": dirty}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
