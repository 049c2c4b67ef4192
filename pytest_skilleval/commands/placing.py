"""Writing drafted files: none is ever overwritten, and none stays unless the spec among them is valid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


class NewFile(NamedTuple):
    """A file to write."""

    content: bytes
    executable: bool = False


def place(files: Mapping[Path, NewFile], *, mend: str) -> None:
    """Write all of `files`, or none.

    Raises
    ------
    UsageProblem
        Some of them are there already (`mend` says what to do), or one can't be written.
    """
    from pytest_skilleval.core.errors import UsageProblem

    there = [str(path) for path in files if path.exists() or path.is_symlink()]
    if there:
        raise UsageProblem(f"{', '.join(there)}: there already, and nothing is overwritten; {mend}")
    written: list[Path] = []
    try:
        for path, file in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as stream:
                written.append(path)
                stream.write(file.content)
            if file.executable:
                path.chmod(0o755)
    except OSError as error:
        remove(written)
        raise UsageProblem(f"{error.filename}: can't be written ({error.strerror})") from error


def place_spec(spec: Path, files: Mapping[Path, NewFile], catalogue: Path, *, mend: str) -> tuple[str, ...]:
    """Write `files`, `spec` among them, and load it; returns the validator's warnings.

    Raises
    ------
    UsageProblem
        As `place`.
    SpecError
        The spec is not valid where it stands; the files are gone again.
    """
    from pytest_skilleval.core.loading import load_spec

    place(files, mend=mend)
    try:
        loaded = load_spec(spec, catalogue)
    except BaseException:
        remove(files)
        raise
    return tuple(str(warning) for warning in loaded.warnings)


def runbook_beside(runbook: Path, content: bytes, folder: Path, catalogue: Path) -> tuple[str, dict[Path, NewFile]]:
    """The name of a runbook as a spec in `folder` gives it, and the copy to write when it lies where a spec may not look."""
    for allowed in (folder, catalogue):
        if runbook.resolve().is_relative_to(allowed.resolve()):
            return Path(os.path.relpath(runbook.absolute(), folder.absolute())).as_posix(), {}
    return "runbook.md", {folder / "runbook.md": NewFile(content)}


def remove(paths: Iterable[Path]) -> None:
    """Take written files away again, and the folders that are empty then."""
    paths = tuple(paths)
    for path in paths:
        path.unlink(missing_ok=True)
    for folder in sorted({path.parent for path in paths}, reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
