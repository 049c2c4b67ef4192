"""``skilleval seed``: run a case's seed by hand and leave the sandbox open for a look inside, or make a seed of a real host."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.running import Job

HELP = "Seed a sandbox for one case, keep it open for a look inside, and remove it; or write a seed that resembles this host."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("spec", type=Path, nargs="?", metavar="SPEC", help="spec.yaml")
    parser.add_argument("case", nargs="?", metavar="CASE", help="id of a case")
    parser.add_argument("--skin", type=int, default=0, help="number of the skin, from 0")
    parser.add_argument("--run", metavar="COMMAND", help="run this shell command inside instead of waiting")
    parser.add_argument(
        "--from-host", type=Path, metavar="FOLDER", help="write an anonymised inventory of this host's Docker there, as a seed"
    )
    parser.add_argument("--from-state", type=Path, metavar="FILE", help="with --from-host: of a recorded baseline.json, not of this host")


def run(options: argparse.Namespace) -> int:
    """Returns the command's exit code; 0 after a look, and after writing a seed."""
    from pytest_skilleval.core.errors import UsageProblem

    if (options.from_host is None) == (options.case is None) or (options.from_state and not options.from_host):
        raise UsageProblem("give SPEC and CASE to look at a seed, or --from-host FOLDER (with or without --from-state FILE) to write one")
    if options.from_host is None:
        return _look(options)
    from pytest_skilleval.commands.host_seed import write_seed

    write_seed(options.from_host, options.from_state)
    return 0


def _look(options: argparse.Namespace) -> int:
    from pytest_skilleval.core.ports import Command
    from pytest_skilleval.running.preparing import open_seeded

    with tempfile.TemporaryDirectory() as scratch:
        sandbox = open_seeded(_job(options, Path(scratch)))
        try:
            if options.run:
                result = sandbox.exec(Command(argv=("bash", "-c", options.run)), timeout=600)
                sys.stdout.write(result.stdout.decode(errors="replace"))
                sys.stderr.write(result.stderr.decode(errors="replace"))
                return 124 if result.exit_code is None else result.exit_code
            sys.stdout.write(f"{options.case} is seeded. Look inside, from another terminal:\n\n  {sandbox.way_in()}\n\n")
            sys.stdout.write("Press Enter to remove it. ")
            sys.stdout.flush()
            sys.stdin.readline()
        finally:
            sandbox.close()
    return 0


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _job(options: argparse.Namespace, scratch: Path) -> Job:
    from pytest_skilleval.agents import agent
    from pytest_skilleval.archive import Archive
    from pytest_skilleval.core.dress import dress
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.loading import load_spec
    from pytest_skilleval.core.plan import Row
    from pytest_skilleval.running import Job
    from pytest_skilleval.sandboxes import NAMES, backend

    loaded = load_spec(options.spec)
    if options.case not in loaded.case_lines:
        raise UsageProblem(f"no case {options.case!r} in {options.spec}; there are: {', '.join(loaded.case_lines)}")
    case = loaded.spec.case(options.case)
    if not 0 <= options.skin < len(loaded.skins):
        raise UsageProblem(f"there is no skin {options.skin}; {options.spec} has {len(loaded.skins)}, numbered from 0")
    found = next((one for one in map(backend, NAMES) if one.probe().available), None)
    if found is None:
        raise UsageProblem("no sandbox can be made here; `skilleval doctor` says why")
    found.warm(_tell)
    row = Row(
        index=0,
        run_id=case.id,
        skill=loaded.spec.skill,
        case=case.id,
        kind=case.kind,
        arm=next(iter(loaded.spec.arms)),
        agent="scripted",
        model="default",
        repeat=1,
        block=0,
        skin=options.skin,
    )
    return Job(
        row=row,
        loaded=loaded,
        case=dress(loaded, case, loaded.skins[options.skin]),
        archive=Archive.create(scratch, "seed"),
        agent=agent("scripted"),
        backend=found,
    )
