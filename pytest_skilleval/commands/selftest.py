"""``skilleval selftest``: measure scripted agents whose effect is known, and see what the instrument finds."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.selftest.standards import Standard

HELP = "Measure scripted agents with a known effect, and tell how often the instrument is right (no agent, no Docker, no network)."
FEWEST_SESSIONS = 60
"""Below 59, not even no false claim at all would show that there are at most 5 %."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("standards", nargs="*", metavar="STANDARD", help="names of standards (all, if none is given)")
    parser.add_argument(
        "--sessions", type=int, default=300, help="sessions of each standard (300: some two minutes for all; 5000 to publish)"
    )
    parser.add_argument("--random-seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="how many processes share the work; no figure depends on it")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--list", action="store_true", help="measure nothing; print the standards as JSON, for use by other harnesses")


def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 when a promise is broken, else 0."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.selftest import telling
    from pytest_skilleval.selftest.findings import find_all
    from pytest_skilleval.selftest.results import result

    chosen = _chosen(options.standards)
    if options.list:
        sys.stdout.write(json.dumps(telling.published(chosen), indent=1) + "\n")
        return 0
    if options.sessions < FEWEST_SESSIONS or options.processes < 1:
        raise UsageProblem(f"--sessions must be at least {FEWEST_SESSIONS}, --processes at least 1")
    made = find_all(chosen, sessions=options.sessions, random_seed=options.random_seed, processes=options.processes, told=_tell)
    results = [result(standard, found) for standard, found in made]
    if options.json:
        sys.stdout.write(json.dumps(telling.document(results, options.random_seed), indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in telling.lines(results))
    return 1 if any(one.state == "broken" for one in results) else 0


def _tell(name: str) -> None:
    sys.stderr.write(f"{name} ...\n")


def _chosen(names: list[str]) -> list[Standard]:
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.nearest import did_you_mean
    from pytest_skilleval.selftest.standards import STANDARDS

    known = [one.name for one in STANDARDS]
    for name in names:
        if name not in known:
            raise UsageProblem(f"no standard {name!r}{did_you_mean(name, known)}; there are: {', '.join(known)}")
    return [one for one in STANDARDS if not names or one.name in names]
