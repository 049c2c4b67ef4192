"""A drafted spec as the text of spec.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_skilleval.core.drafting.draft import DraftCase
from pytest_skilleval.core.drafting.surroundings import Surroundings
from pytest_skilleval.core.drafting.yaml_text import Inline, InlineMap, block, comment, indented
from pytest_skilleval.core.lint.words import giveaways
from pytest_skilleval.core.spec import Arm, Case, Spec

JUDGE_MODEL = "claude-haiku-4-5"
ALLOWED_BECAUSE = "stands in a prompt that was taken over; reword the prompt if you can, and remove this line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that a drafted spec says. `head` is its first comment; `seed` is as it stands in the spec."""

    around: Surroundings
    head: str
    cases: tuple[DraftCase, ...]
    summary: str = ""
    runbook: str | None = None
    seed: Mapping[str, Any] | None = None
    seed_comment: str = ""


def spec_text(draft: Draft) -> str:
    """The whole file."""
    return "\n".join(_parts(draft))


def _parts(draft: Draft) -> Iterator[str]:
    skill, agents = draft.around.skill.id, draft.around.agents
    yield comment(draft.head)
    top: dict[str, Any] = {"skill": skill, "summary": draft.summary, "runbook": draft.runbook}
    words = allow_words(draft)
    if words:
        top["allow_words"] = words
    yield block({key: value for key, value in top.items() if value})
    yield block({"defaults": {"agents": Inline(agents[:1]), "arms": Inline(("without", "with")), "repeats": 3}, "agents": Inline(agents)})
    yield _arms(draft.around) + "\n" + block({"contrasts": {"primary": Inline((["without", "with"],))}})
    if draft.seed is not None:
        yield comment(draft.seed_comment) + block({"seed": draft.seed})
    if any("judge" in check for case in draft.cases for check in checks(case)):
        yield comment("Another model than the one under test.") + block({"judge": {"votes": 3, "model": JUDGE_MODEL}})
    yield "cases:\n" + "\n".join(map(_case, draft.cases))


def _arms(around: Surroundings) -> str:
    excluded = around.overlooked
    said = "Order is the order in reports."
    if excluded:
        said += "\nNot installed, because an agent would not list them (their SKILL.md says why): " + ", ".join(excluded)
    treatment = InlineMap(role="treatment", **({"exclude": Inline(excluded)} if excluded else {}))
    arms = {"without": InlineMap(role="baseline", exclude=Inline((around.skill.id, *excluded))), "with": treatment}
    return comment(said) + block({"arms": arms})


def _case(case: DraftCase) -> str:
    above = "".join(comment(line, "  ") for line in case.comments)
    return above + indented(block((case.data,)), "  ")


def checks(case: DraftCase) -> Iterator[Mapping[str, Any]]:
    """Every check of a case."""
    for part in (*case.data.get("turns", ()), case.data.get("final", {})):
        for polarity in ("must", "must_not"):
            yield from part.get(polarity, ())


def allow_words(draft: Draft) -> dict[str, str]:
    """The give-away words in prompts and seeded names, each with the reason why it may stay."""
    plain = Spec(skill=draft.around.skill.id, arms={"with": Arm(role="treatment")}, cases=(Case(id="any", kind="trigger"),))
    found = dict.fromkeys(word for text in _visible(draft) for word in giveaways(text, plain))
    return {word.replace(" ", "-"): ALLOWED_BECAUSE for word in found}


def told_words(draft: Draft) -> Iterator[str]:
    """What to tell about the words that had to be allowed."""
    for word in allow_words(draft):
        yield f"a prompt holds `{word}`, which tells an agent that this is no real request; it stands under `allow_words` for now"


def _visible(draft: Draft) -> Iterator[str]:
    for made in (draft.seed or {}).get("makes", {}).values():
        yield from made if isinstance(made, Iterable) else ()
    for case in draft.cases:
        for part in (case.data, *case.data.get("turns", ())):
            yield from filter(None, (part.get("prompt"), *part.get("prompts", ())))
