"""A file to import: what kind it is, and which skill it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pytest_skilleval.core.drafting.evals_file import EvalsFile, read_evals
from pytest_skilleval.core.errors import Fault, SpecError, UsageProblem
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.reading import decode
from pytest_skilleval.core.runbook import RunbookPrompt, parse_runbook

_TITLE = re.compile(r"^#[ \t]+(?:Eval|Runbook)[ \t]*:[ \t]*`?([^`\n]+?)`?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PROMPT = re.compile(r"^##[ \t]+Prompt\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file, read: `evals` or `prompts` (those of a runbook). `skills`: ids it may be for, most telling first."""

    file: str
    skills: tuple[str, ...]
    evals: EvalsFile | None = None
    prompts: tuple[RunbookPrompt, ...] = ()


def read_source(content: bytes, file: str, path: PurePath) -> Source:
    """Read a file by what is in it; `path` is absolute: its folders may name the skill.

    Raises
    ------
    SpecError
        It is neither JSON of a known layout nor a runbook; with the line where that is known.
    """
    text = decode(content, file)
    if text.lstrip()[:1] in ("[", "{") or path.suffix.lower() == ".json":
        evals = read_evals(text, file)
        declared = (evals.skill,) if evals.skill else ()
        return Source(file=file, skills=(*declared, *_folders(path)), evals=evals)
    if _PROMPT.search(text):
        title = _TITLE.search(text)
        return Source(file=file, skills=(*((title[1],) if title else ()), path.stem, *_folders(path)), prompts=parse_runbook(text, file))
    message = "is nothing that can be imported: neither evals as JSON nor a runbook with items like `## Prompt 1: title`"
    raise SpecError((Fault(file, 1, "", message),))


def _folders(path: PurePath) -> Iterator[str]:
    return (folder.name for folder in path.parents if folder.name)


def skill_of(sources: Sequence[Source], known: Sequence[str]) -> str:
    """The one skill that all `sources` are for; evals that name none follow the other files.

    Raises
    ------
    UsageProblem
        A file tells of no skill of the catalogue (`known`), or they tell of several.
    """
    found: dict[str, str] = {}
    skills = [next((name for name in source.skills if name in known), None) for source in sources]
    for source, skill in zip(sources, skills, strict=True):
        if skill is None and any(skills) and source.evals is not None and source.evals.skill is None:
            continue
        if skill is None:
            named = source.skills[0] if source.skills else ""
            raise UsageProblem(
                f"{source.file}: no skill of the catalogue is named there{did_you_mean(named, known)}; say which: --skill ID"
            )
        found.setdefault(skill, source.file)
    if len(found) > 1:
        told = ", ".join(f"{file} for {skill}" for skill, file in found.items())
        raise UsageProblem(f"the files are for several skills ({told}); import one skill at a time, or say which: --skill ID")
    return next(iter(found))
