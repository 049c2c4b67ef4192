"""``skilleval import``: the evals, trigger lists and runbooks of other tools as a spec."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.drafting.sources import Source

HELP = "Write a spec from Agent Skills evals.json, trigger lists and runbooks, and list what could not be carried over."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    from pytest_skilleval.commands.new import folders

    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="evals.json, trigger list or runbook.md, all for one skill")
    parser.add_argument("--skill", metavar="SKILL", help="id of the skill (default: what the files or their folders say)")
    folders(parser)


def run(options: argparse.Namespace) -> int:
    """Write the spec, list what was left out, and sum up; 0. Nothing is overwritten."""
    from pytest_skilleval.commands.placing import NewFile, place_spec, runbook_beside
    from pytest_skilleval.core.catalogue import load_catalogue
    from pytest_skilleval.core.drafting.importing import imported
    from pytest_skilleval.core.drafting.sources import read_source, skill_of
    from pytest_skilleval.core.drafting.surroundings import surroundings
    from pytest_skilleval.core.positions import shown
    from pytest_skilleval.core.reading import read_bytes

    catalogue = (options.catalogue or options.specs / "catalogue").absolute()
    known = load_catalogue(catalogue)
    contents = {path: read_bytes(path) for path in dict.fromkeys(options.files)}
    sources = {path: read_source(content, shown(path), path.absolute()) for path, content in contents.items()}
    around = surroundings(options.skill or skill_of(tuple(sources.values()), tuple(known.skills)), known)
    folder = options.specs / around.skill.id
    spec = folder / "spec.yaml"
    files, runbook = {spec: NewFile(b"")}, None
    for path in _runbooks(sources):
        runbook, copies = runbook_beside(path, contents[path], folder, catalogue)
        files.update(copies)
    text, cases = imported(tuple(sources.values()), around, runbook)
    files[spec] = NewFile(text.encode())
    elsewhere = f"move it away first, or write elsewhere: --specs FOLDER --catalogue {shown(catalogue)}"
    warnings = place_spec(spec, files, catalogue, mend=elsewhere)
    told = [*map(str, cases.notes), *(f"warning: {warning}" for warning in warnings), *(f"wrote {path}" for path in files)]
    told.append(f"{len(cases.cases)} cases; {len(cases.notes)} things were not carried over as they were")
    sys.stdout.write("\n".join(told) + "\n")
    return 0


def _runbooks(sources: Mapping[Path, Source]) -> list[Path]:
    """The runbook among the files, if any; UsageProblem when there are several, since a spec names one."""
    from pytest_skilleval.core.errors import UsageProblem

    found = [path for path, source in sources.items() if source.prompts]
    if len(found) > 1:
        raise UsageProblem(f"{', '.join(map(str, found))}: a spec has one runbook; put their prompts into one file first")
    return found
