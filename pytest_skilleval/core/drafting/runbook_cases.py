"""Cases out of a runbook: one for each prompt, its check boxes as claims for the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_skilleval.core.drafting.claims import polarised
from pytest_skilleval.core.drafting.draft import Cases, DraftCase, Note
from pytest_skilleval.core.drafting.texts import Ids, cleaned, literal
from pytest_skilleval.core.drafting.yaml_text import Inline
from pytest_skilleval.core.runbook import RunbookPrompt

ANY_CLAIM = "The agent did what the user asked for, and nothing beyond it."


def runbook_cases(prompts: Sequence[RunbookPrompt], file: str, ids: Ids) -> Cases:
    """One outcome case for each prompt, in order; what a case can't say is noted."""
    return Cases(
        cases=tuple(_case(prompt, ids) for prompt in prompts),
        notes=tuple(Note(file, prompt.line, f"prompt {prompt.number}: {said}") for prompt in prompts for said in _left_out(prompt)),
    )


def _case(prompt: RunbookPrompt, ids: Ids) -> DraftCase:
    quotes = [literal(quote) for text in prompt.quotes if (quote := cleaned(text))]
    data: dict[str, Any] = {
        "id": ids.fresh(prompt.title, f"prompt-{prompt.number}"),
        "kind": "outcome",
        "expects": "improve",
        "covers": Inline((prompt.number,)),
    }
    if not quotes:
        data["draft"] = True
    turns: list[dict[str, Any]] = [{"prompt": quote} for quote in quotes or ["Say here what the user asks for."]]
    turns[-1].update(polarised(prompt.expected, prompt.must_not) or polarised((ANY_CLAIM,), ()))
    return DraftCase(data={**data, "turns": tuple(turns)}, comments=tuple(_comments(prompt, drafted=not quotes)))


def _comments(prompt: RunbookPrompt, *, drafted: bool) -> Iterator[str]:
    yield cleaned(f"Prompt {prompt.number} of the runbook: {prompt.title}")
    if prompt.context:
        yield cleaned(f"Said there: {prompt.context}")
    if drafted:
        yield "Fill in: the runbook quotes no words of a user. Write the prompt, then remove `draft`."
    if not (prompt.expected or prompt.must_not):
        yield "Fill in: the runbook has no check boxes here; the claim below is a stand-in."


def _left_out(prompt: RunbookPrompt) -> Iterator[str]:
    if not prompt.quotes:
        yield "quotes no words of a user, so the case is a draft with a stand-in for a prompt"
    if len(prompt.quotes) > 1:
        yield f"its {len(prompt.quotes)} quotes became turns that follow each other; make them `prompts` if they are paraphrases"
    if not (prompt.expected or prompt.must_not):
        yield "has no check boxes, so the case got a stand-in claim"
    if prompt.context:
        yield f"the context is a comment only; let the seed or an earlier turn bring it about: {cleaned(prompt.context)}"
    for text in prompt.verification:
        yield f"left out, for want of a command with a decidable outcome (write a `validator` check): {cleaned(text)}"
