"""``skilleval import``: the evals, trigger lists and runbooks of other tools as a spec."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.drafting.draft import Cases
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
    read = {path: read_source(content, shown(path), path.absolute()) for path, content in contents.items()}
    sources = {path: _with_inputs(source, path) for path, source in read.items()}
    around = surroundings(options.skill or skill_of(tuple(sources.values()), tuple(known.skills)), known)
    folder = options.specs / around.skill.id
    spec = folder / "spec.yaml"
    files, runbook = {spec: NewFile(b"")}, None
    for path in _runbooks(sources):
        runbook, copies = runbook_beside(path, contents[path], folder, catalogue)
        files.update(copies)
    text, cases = imported(tuple(sources.values()), around, runbook)
    files[spec] = NewFile(text.encode())
    files.update({folder / name: NewFile(content, executable=content.startswith(b"#!")) for name, content in _carried(cases)})
    elsewhere = f"move it away first, or write elsewhere: --specs FOLDER --catalogue {shown(catalogue)}"
    warnings = place_spec(spec, files, catalogue, mend=elsewhere)
    told = [*map(str, cases.notes), *(f"warning: {warning}" for warning in warnings), *(f"wrote {path}" for path in files)]
    told.append(f"{len(cases.cases)} cases; {len(cases.notes)} things were not carried over as they were")
    sys.stdout.write("\n".join(told) + "\n")
    return 0


def _with_inputs(source: Source, path: Path) -> Source:
    """The source with the content of every input file that its evals name, or why that can't be had."""
    if source.evals is None:
        return source
    beside = {name: _input(name, path.absolute().parent) for name in source.evals.inputs}
    return replace(source, evals=replace(source.evals, beside=beside))


def _input(name: str, folder: Path) -> bytes | str:
    """An input file of evals in `folder`: named from the skill's folder, which holds theirs, or from theirs; nowhere else."""
    from pytest_skilleval.core.errors import SpecError
    from pytest_skilleval.core.reading import read_bytes

    within = folder.parent if folder.name == "evals" else folder
    try:
        places = [place for start in (within, folder) if (place := (start / name).resolve()).is_relative_to(within.resolve())]
        if not places:
            return "it lies outside the skill's folder"
        found = next((place for place in places if place.is_file()), None)
        if found is not None:
            return read_bytes(found)
        return "it is a folder" if any(place.is_dir() for place in places) else "it is not there"
    except SpecError as error:
        return f"it {error.faults[0].message}"
    except (OSError, ValueError, RuntimeError):
        return "it is no name of a file"


def _carried(cases: Cases) -> Iterator[tuple[str, bytes]]:
    for case in cases.cases:
        yield from case.files.items()


def _runbooks(sources: Mapping[Path, Source]) -> list[Path]:
    """The runbook among the files, if any; UsageProblem when there are several, since a spec names one."""
    from pytest_skilleval.core.errors import UsageProblem

    found = [path for path, source in sources.items() if source.prompts]
    if len(found) > 1:
        raise UsageProblem(f"{', '.join(map(str, found))}: a spec has one runbook; put their prompts into one file first")
    return found
