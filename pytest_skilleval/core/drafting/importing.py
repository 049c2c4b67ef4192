"""The spec that imported files make together."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_skilleval.core.drafting.draft import Cases, Note
from pytest_skilleval.core.drafting.evals_cases import evals_cases
from pytest_skilleval.core.drafting.runbook_cases import runbook_cases
from pytest_skilleval.core.drafting.sources import Source
from pytest_skilleval.core.drafting.spec_text import Draft, spec_text, told_words
from pytest_skilleval.core.drafting.surroundings import Surroundings
from pytest_skilleval.core.drafting.texts import Ids
from pytest_skilleval.core.errors import UsageProblem

_HEAD = (
    "Imported from {files}.\n\n"
    "What stands under `judge` was an assertion for a model to grade. Where the world shows it, a `state`, `commands` or "
    "`validator` check is cheaper and surer, and rehearsals can prove it. Say `expects: hold` where no difference is predicted, "
    "and give cases of one idea a `family`."
)


def imported(sources: Sequence[Source], around: Surroundings, runbook: str | None) -> tuple[str, Cases]:
    """The text of spec.yaml, and its cases with notes on what was left out. `runbook`: the file as the spec names it.

    Raises
    ------
    UsageProblem
        Not a single case could be made; with the reasons.
    """
    ids = Ids()
    parts = [_cases(source, around, ids) for source in sources]
    cases = Cases(
        cases=tuple(case for part in parts for case in part.cases),
        notes=tuple(note for part in parts for note in part.notes),
    )
    names = ", ".join(source.file for source in sources)
    if not cases.cases:
        raise UsageProblem("\n".join([f"{names}: no case could be made of this", *map(str, cases.notes)]))
    draft = Draft(around=around, head=_HEAD.format(files=names), cases=cases.cases, runbook=runbook)
    words = tuple(Note(names, 1, said) for said in told_words(draft))
    return spec_text(draft), Cases(cases=cases.cases, notes=(*cases.notes, *words))


def _cases(source: Source, around: Surroundings, ids: Ids) -> Cases:
    if source.evals is None:
        return runbook_cases(source.prompts, source.file, ids)
    return evals_cases(source.evals, around, ids)
