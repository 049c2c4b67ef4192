"""``skilleval report``: score recorded runs again, from their raw files, and write the report anew."""

from __future__ import annotations

import argparse
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

REFUSED, UNDECIDED = 4, 6
"""Exit codes where another spec was locked; the second when the gate is asked for."""
HELP = "Score recorded runs again from their raw files (no agent, no Docker, no network) and write report.json, .md and .html."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="results folder of one session and spec, or the folder of all"
    )
    parser.add_argument("--spec", type=Path, help="score by this spec.yaml instead of the recorded one; refused where it differs")
    parser.add_argument(
        "--exploratory", action="store_true", help="score by a spec that differs from the locked one, too: no verdict, no gate"
    )
    parser.add_argument("--prices", type=Path, metavar="FILE", help="count by these prices of one's own instead of the recorded ones")
    parser.add_argument("--gate", action="store_true", help="let the spec's gate decide the exit code")
    parser.add_argument("--strict", action="store_true", help="a treatment run that does not meet its checks is a failure")


def run(options: argparse.Namespace) -> int:
    """Report on every folder; returns the worst exit code.

    A folder that locked another spec is refused, the others are not. Rehearsals are no evaluation: they are passed over, and named.
    """
    from pytest_skilleval.archive import PLAN, Archive
    from pytest_skilleval.core.loading import load_spec
    from pytest_skilleval.core.locks import OtherSpec
    from pytest_skilleval.core.own_prices import read_own
    from pytest_skilleval.core.plan import Plan
    from pytest_skilleval.report.files import write
    from pytest_skilleval.report.terminal import terminal_lines
    from pytest_skilleval.rescoring import report_on

    loaded = load_spec(options.spec) if options.spec else None
    prices = read_own(options.prices, "--prices") if options.prices else None
    width = shutil.get_terminal_size((100, 24)).columns
    worst = 0
    for folder in sessions(options.results):
        archive = Archive.open(folder)
        if archive.read(PLAN, Plan).rehearsal:
            sys.stderr.write(f"skilleval report: {folder}: passed over, it holds rehearsals and no evaluation; see its rehearsal.md\n")
            continue
        try:
            report = report_on(
                archive,
                loaded=loaded,
                prices=prices,
                strict=options.strict,
                gate=options.gate,
                exploratory=options.exploratory,
            )
        except OtherSpec as error:
            sys.stderr.write(f"skilleval report: {error}; for figures without any verdict, add --exploratory\n")
            worst = max(worst, UNDECIDED if options.gate else REFUSED)
            continue
        write(folder, report, datetime.now(UTC).isoformat(timespec="seconds"))
        for line in terminal_lines(report, width):
            sys.stdout.write(f"{line.text}\n")
        worst = max(worst, report.exit_code)
    return worst


def sessions(folders: list[Path]) -> list[Path]:
    """Each folder itself, or the results folders in it when it is the folder of all."""
    found: list[Path] = []
    for folder in folders:
        inside = sorted(path.parent for path in folder.glob("*/plan.json"))
        found += inside if inside and not (folder / "plan.json").exists() else [folder]
    return found
