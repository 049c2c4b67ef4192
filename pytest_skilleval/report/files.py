"""report.json, report.md and report.html in a results folder: each whole or not at all, replaceable at any time."""

from __future__ import annotations

from pathlib import Path

from pytest_skilleval.core.atomic import write_atomically
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.report.encode import from_json, to_json
from pytest_skilleval.report.markdown import to_markdown
from pytest_skilleval.report.page import to_html
from pytest_skilleval.report.values import Document, Report


def write(folder: Path, report: Report, generated_at: str) -> tuple[Path, ...]:
    """Write the three files, replacing older ones.

    Parameters
    ----------
    folder
        The results folder of the session; must exist.
    generated_at
        UTC, ISO 8601.

    Returns
    -------
    The paths written: JSON, Markdown, HTML.
    """
    contents = {
        "report.json": to_json(report, generated_at),
        "report.md": to_markdown(report).encode(),
        "report.html": to_html(report).encode(),
    }
    for name, data in contents.items():
        write_atomically(folder / name, data)
    return tuple(folder / name for name in contents)


def read(path: Path) -> Document:
    """Read a report.json, given itself or its folder.

    Raises
    ------
    ArchiveError
        There is none, or it can't be read.
    """
    file = path / "report.json" if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as problem:
        sessions = sorted(path.glob("*/report.json"))
        mend = f"name a session's folder, such as {sessions[-1].parent}" if sessions else f"write it with: skilleval report {file.parent}"
        raise ArchiveError(f"{file} can't be read ({problem.strerror}); {mend}") from problem
    return from_json(data, str(file))
