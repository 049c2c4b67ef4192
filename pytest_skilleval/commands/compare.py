"""``skilleval compare``: what changed between two reports, beyond noise."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "Compare two reports of one skill: what changed beyond noise, and what was made differently."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("old", type=Path, metavar="OLD", help="results folder, or its report.json")
    parser.add_argument("new", type=Path, metavar="NEW", help="results folder, or its report.json")


def run(options: argparse.Namespace) -> int:
    """Print the comparison; 0."""
    from pytest_skilleval.report.compare import compare, comparison_lines
    from pytest_skilleval.report.files import read

    for line in comparison_lines(compare(read(options.old), read(options.new))):
        sys.stdout.write(f"{line}\n")
    return 0
