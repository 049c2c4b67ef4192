"""``skilleval export``: a report in the layout of the Agent Skills standard, for other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "Write grading.json, timing.json and benchmark.json from a report, as the Agent Skills tools lay them out."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("results", type=Path, metavar="RESULTS", help="results folder, or its report.json")
    parser.add_argument("target", type=Path, metavar="FOLDER", help="folder to write to; must not exist yet")
    parser.add_argument("--dialect", choices=("standard", "skill-creator"), default="standard", help="which of the two layouts")


def run(options: argparse.Namespace) -> int:
    """Write the files and say how many; UsageProblem when the folder is there already."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.report.export import export
    from pytest_skilleval.report.files import read

    files = export(read(options.results), options.dialect)
    try:
        options.target.mkdir(parents=True)
    except FileExistsError as error:
        raise UsageProblem(f"{options.target} exists already; name a new folder") from error
    for name, content in files.items():
        path = options.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    sys.stdout.write(f"{len(files)} files in {options.target}\n")
    return 0
