"""``skilleval new``: a first spec for a skill of the catalogue, valid from the start."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "Write a first spec for a skill of the catalogue: a seed, an example, and a case for each prompt of its runbook."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("skill", metavar="SKILL", help="id of the skill, or its folder in the catalogue")
    parser.add_argument("--runbook", type=Path, metavar="FILE", help="its runbook (default: looked for beside spec and skill)")
    folders(parser)


def folders(parser: argparse.ArgumentParser) -> None:
    """Declare where specs and skills are."""
    parser.add_argument("--specs", type=Path, default=Path("specs"), metavar="FOLDER", help="folder of the specs (default: specs)")
    parser.add_argument("--catalogue", type=Path, metavar="FOLDER", help="folder of the skills (default: catalogue in --specs)")


def run(options: argparse.Namespace) -> int:
    """Write the files and say which; 0. Nothing is overwritten."""
    from pytest_skilleval.commands.placing import NewFile, place_spec, runbook_beside
    from pytest_skilleval.core.catalogue import load_catalogue
    from pytest_skilleval.core.drafting.scaffold import SEED_RUN, scaffold, seed_program
    from pytest_skilleval.core.drafting.surroundings import surroundings
    from pytest_skilleval.core.positions import shown
    from pytest_skilleval.core.reading import decode, read_bytes
    from pytest_skilleval.core.runbook import RunbookPrompt, parse_runbook

    catalogue = (options.catalogue or options.specs / "catalogue").absolute()
    around = surroundings(_skill_id(options.skill), load_catalogue(catalogue))
    folder = options.specs / around.skill.id
    spec = folder / "spec.yaml"
    files = {spec: NewFile(b""), folder / SEED_RUN: NewFile(seed_program(), executable=True)}
    runbook = options.runbook or _runbook_of(around.skill.id, folder, catalogue)
    prompts: tuple[RunbookPrompt, ...] = ()
    named = None
    if runbook:
        content = read_bytes(runbook)
        prompts = parse_runbook(decode(content, shown(runbook)), shown(runbook))
        named, copies = runbook_beside(runbook, content, folder, catalogue)
        files.update(copies)
    text, notes = scaffold(around, prompts, named, shown(runbook) if runbook else "")
    files[spec] = NewFile(text.encode())
    place_spec(spec, files, catalogue, mend="edit it, or remove it first")
    told = [
        *(f"wrote {path}" for path in files),
        *map(str, notes),
        'Now follow the comments that say "Fill in"; check with: pytest --collect-only',
    ]
    sys.stdout.write("\n".join(told) + "\n")
    return 0


def _skill_id(given: str) -> str:
    path = Path(given)
    return path.parent.name if path.name == "SKILL.md" else path.name


def _runbook_of(skill: str, folder: Path, catalogue: Path) -> Path | None:
    """The runbook of a skill, where repositories keep it."""
    places = (
        folder / "runbook.md",
        catalogue / skill / "runbook.md",
        catalogue / skill / "evals/runbook.md",
        catalogue.parent / f"evals/{skill}.md",
    )
    return next((place for place in places if place.is_file()), None)
