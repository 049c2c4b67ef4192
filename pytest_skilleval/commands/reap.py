"""``skilleval reap``: remove what sessions that were killed have left."""

from __future__ import annotations

import argparse
import sys

HELP = "Remove what dead sessions and kept sandboxes left on this machine; live sessions are not touched."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: there are none."""
    parser.set_defaults()


def run(options: argparse.Namespace) -> int:  # noqa: ARG001  every command is called alike
    """Reap every backend that works here and name what was removed."""
    from pytest_skilleval.sandboxes import NAMES, backend
    from pytest_skilleval.session.control import sweep

    for removed in sweep():
        sys.stdout.write(f"removed {removed}\n")
    for name in NAMES:
        found = backend(name)
        if not found.probe().available:
            continue
        for removed in found.reap():
            sys.stdout.write(f"removed {removed}\n")
    return 0
