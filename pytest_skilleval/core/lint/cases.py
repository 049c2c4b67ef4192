"""Rules about cases: what each kind needs, and the runbook they cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_skilleval.core.hosts import Host, parse
from pytest_skilleval.core.lint.context import Context, Placed, Problem, ambiguous, called, installs
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import Case, Turn

_ONLY_TRIGGER = ("prompt", "prompts", "should_load", "owner")
_NEVER_TRIGGER = ("turns", "final", "expects")
_ENOUGH_IMPROVE = 6


def case_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with the cases themselves."""
    first: dict[str, int] = {}
    for index, case in enumerate(context.spec.cases):
        where: Where = ("cases", index)
        if case.id in first:
            line = context.line(("cases", first[case.id]))
            yield Problem((*where, "id"), f"the case id `{case.id}` is used twice (first on line {line}); rename one")
        first.setdefault(case.id, index)
        yield from _by_kind(context, case, index)
        yield from _turns(case, where)
        yield from _check_ids(context, context.checks[index])
        yield from _covers(context, case, where)
        yield from _hosts(case, (*where, "sandbox", "hosts"))
    yield from _never_shown(context)
    yield from _uncovered(context)


def _by_kind(context: Context, case: Case, index: int) -> Iterator[Problem]:
    where: Where = ("cases", index)
    if case.kind == "trigger":
        yield from _trigger(context, case, where)
        return
    for key in _ONLY_TRIGGER:
        if key in case.model_fields_set:
            mend = "put it under `turns`" if key.startswith("prompt") else "remove it"
            yield Problem((*where, key), f"`{key}` belongs to trigger cases only; {mend}")
    if case.kind == "outcome" and case.expects is None:
        yield Problem(where, "an outcome case needs `expects`: improve, or hold where no difference is predicted")
    if case.kind == "fidelity" and case.expects is not None:
        yield Problem((*where, "expects"), "`expects` belongs to outcome cases only; remove it")
    if context.cuts.below(context.cuts.original(where)):
        return
    if not case.turns:
        yield Problem(where, f"a case of kind {case.kind} needs at least one entry under `turns`")
    elif not context.checks[index]:
        yield Problem(where, f"a case of kind {case.kind} needs at least one check under `must` or `must_not`")


def _trigger(context: Context, case: Case, where: Where) -> Iterator[Problem]:
    for key in _NEVER_TRIGGER:
        if key in case.model_fields_set:
            yield Problem((*where, key), f"a trigger case has no `{key}`: it ends when the skill loads; remove it")
    yield from _one_prompt(case, where)
    skills = context.catalogue.skills
    if case.should_load is None:
        yield Problem(where, "a trigger case needs `should_load`: true or false")
    elif case.should_load and context.spec.skill in skills and skills[context.spec.skill].hidden:
        yield Problem(
            (*where, "should_load"),
            "the skill hides itself from agents (disable-model-invocation), so it can never load by itself; "
            "remove that key there, or say `should_load: false`",
        )
    if case.owner is None:
        return
    if case.should_load:
        yield Problem((*where, "owner"), "`owner` names the skill that loads instead, so it needs `should_load: false`")
    elif case.owner == context.spec.skill:
        yield Problem((*where, "owner"), "the owner must be another skill than the one under test; name that one, or remove `owner`")
    elif case.owner not in skills:
        yield Problem((*where, "owner"), f"the catalogue has no skill `{case.owner}`{did_you_mean(case.owner, skills)}")
    elif len(same := called(context.catalogue, case.owner)) > 1:
        yield Problem((*where, "owner"), ambiguous(case.owner, same))


def _turns(case: Case, where: Where) -> Iterator[Problem]:
    for index, turn in enumerate(case.turns):
        yield from _one_prompt(turn, (*where, "turns", index))
        if index == 0 and turn.only_if:
            yield Problem((*where, "turns", 0, "only_if"), "the first turn is always sent; remove `only_if`")


def _one_prompt(prompted: Case | Turn, where: Where) -> Iterator[Problem]:
    if (prompted.prompt is None) == (prompted.prompts is None):
        yield Problem(where, "needs either `prompt` or `prompts` (paraphrases), and not both")
    prompts = prompted.prompts or ()
    for index, text in enumerate(prompts):
        if text in prompts[:index]:
            yield Problem((*where, "prompts", index), "is the same as an earlier paraphrase; remove one")


def _check_ids(context: Context, checks: Iterable[Placed]) -> Iterator[Problem]:
    first: dict[str, Where] = {}
    for placed in checks:
        if placed.check.id in first:
            line = context.line(first[placed.check.id])
            yield Problem(
                (*placed.where, "id"), f"the check id `{placed.check.id}` is used twice in this case (first on line {line}); rename one"
            )
        first.setdefault(placed.check.id, placed.where)


def _covers(context: Context, case: Case, where: Where) -> Iterator[Problem]:
    if case.covers and context.spec.runbook is None and "runbook" not in context.cuts.words:
        yield Problem((*where, "covers"), "covers prompts of a runbook, but the spec names none; add `runbook: runbook.md`")
    if context.runbook is None:
        return
    for index, number in enumerate(case.covers):
        if number not in context.runbook:
            known = ", ".join(map(str, sorted(context.runbook)))
            yield Problem((*where, "covers", index), f"the runbook has no prompt {number}; it has {known}")
        elif number in case.covers[:index]:
            yield Problem((*where, "covers", index), f"prompt {number} is listed twice; remove one")


def _hosts(case: Case, where: Where) -> Iterator[Problem]:
    named: list[Host] = []
    for index, text in enumerate(case.sandbox.hosts):
        try:
            host = parse(text)
        except ValueError as error:
            yield Problem((*where, index), str(error))
            continue
        if host in named:
            yield Problem((*where, index), f"`{text}` is listed twice; remove one")
        named.append(host)


def _never_shown(context: Context) -> Iterator[Problem]:
    """Trigger and fidelity cases need an arm in which the skill can load."""
    skill = context.catalogue.skills.get(context.spec.skill)
    if skill is None or context.cuts.places or any(installs(arm, skill) for arm in context.spec.arms.values()):
        return
    for index, case in enumerate(context.spec.cases):
        if case.kind != "outcome":
            yield Problem(("cases", index), f"a {case.kind} case is about a skill that loads, and no arm installs it; add an arm that does")


def _uncovered(context: Context) -> Iterator[Problem]:
    if context.cuts.places or context.runbook is None:
        return
    covered = {number for case in context.spec.cases for number in case.covers}
    for number in sorted(context.runbook.keys() - covered):
        title = f" ({context.runbook[number]})" if context.runbook[number] else ""
        yield Problem(("runbook",), f"no case covers prompt {number}{title}; add `covers: [{number}]` to one")


def case_warnings(context: Context) -> Iterator[Problem]:
    """What leaves a spec usable but weak."""
    if context.cuts.places:
        return
    cases = context.spec.cases
    improving = sum(case.expects == "improve" and not case.draft for case in cases)
    if improving < _ENOUGH_IMPROVE and any(case.kind == "outcome" for case in cases):
        say = "case says" if improving == 1 else "cases say"
        yield Problem(
            ("cases",),
            f"{improving} {say} `expects: improve`; with fewer than {_ENOUGH_IMPROVE} no verdict about new cases is possible; add some",
        )
    ready = {number for case in cases if not case.draft for number in case.covers}
    for number in sorted({number for case in cases for number in case.covers} - ready):
        yield Problem(("runbook",), f"prompt {number} is covered by drafts only, which do not run; finish one and remove its `draft`")
    for index, case in enumerate(cases):
        if case.departs and not case.covers:
            yield Problem(("cases", index, "departs"), "departs from a runbook item, but `covers` names none; add its number there")
    judged = next((placed.where for checks in context.checks for placed in checks if placed.check.judge is not None), None)
    if judged and context.spec.judge.model is None:
        yield Problem((*judged, "judge"), "a judge is needed here; add `judge: {model: ...}`, another model than the one under test")
