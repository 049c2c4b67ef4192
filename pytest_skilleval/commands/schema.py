"""``skilleval schema``: the JSON Schema of spec files, for editors."""

from __future__ import annotations

import argparse
import sys

HELP = "Print the JSON Schema of spec.yaml (or of report.json), for editors and other tools."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("of", choices=("spec", "report"), nargs="?", default="spec", help="which file's schema")


def run(options: argparse.Namespace) -> int:
    """Print the shipped schema; 0."""
    from importlib.resources import files

    place = {"spec": "core/schema.json", "report": "report/report.schema.json"}[options.of]
    sys.stdout.write(files("pytest_skilleval").joinpath(place).read_text(encoding="utf-8"))
    return 0
