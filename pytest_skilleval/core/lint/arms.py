"""Rules about arms, contrasts, defaults and the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_skilleval.core.contrasts import null_contrasts
from pytest_skilleval.core.lint.context import Context, Problem, ambiguous, called, installs
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import Arm


def arm_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong about arms and what refers to them."""
    for name, arm in context.spec.arms.items():
        where: Where = ("arms", name)
        if arm.revision is None:
            yield from _exclusions(context, arm, where)
        yield from _conditions(context, name, arm)
    yield from _contrasts(context)
    yield from _defaults(context)
    yield from _gate(context)


def _exclusions(context: Context, arm: Arm, where: Where) -> Iterator[Problem]:
    skills = context.catalogue.skills.values()
    for index, name in enumerate(arm.exclude if arm.exclude != "all" else ()):
        matches = called(context.catalogue, name)
        place = (*where, "exclude", index)
        if not matches:
            known = (known for skill in skills for known in (skill.id, skill.name) if known)
            yield Problem(place, f"the catalogue has no skill `{name}`{did_you_mean(name, known)}")
        elif len(matches) > 1:
            yield Problem(place, ambiguous(name, matches))
        elif name in arm.exclude[:index]:
            yield Problem(place, f"`{name}` is excluded twice; remove one")


def _conditions(context: Context, name: str, arm: Arm) -> Iterator[Problem]:
    where: Where = ("arms", name)
    skill = context.catalogue.skills.get(context.spec.skill)
    shows = skill is None or installs(arm, skill)
    if arm.role == "treatment" and not shows:
        yield Problem(
            where, f"a treatment arm must install the skill, and `{name}` excludes it; take it out of `exclude`, or choose another role"
        )
    if arm.role == "treatment" and arm.sham:
        yield Problem(
            where,
            f"a treatment arm must install the skill itself, and `{name}` installs a sham of it; remove `sham`, or choose another role",
        )
    if arm.sham and arm.role != "treatment" and not shows:
        yield Problem(where, f"`{name}` excludes the skill that its sham stands in for; remove one of the two")
    if arm.revision is not None and (arm.revision.startswith("-") or arm.revision.split() != [arm.revision]):
        yield Problem((*where, "revision"), f"`{arm.revision}` is no commit, tag or branch; write one, such as v1.2 or main~3")
    if arm.instructions == "from-skill" and skill is not None and not skill.body.strip():
        yield Problem((*where, "instructions"), "the skill has no body to take the instructions from; write one, or name a file here")


def _contrasts(context: Context) -> Iterator[Problem]:
    contrasts = context.spec.contrasts
    null = list(map(set, null_contrasts(context.spec)))
    seen: set[tuple[str, str]] = set()
    for kind, pairs in (("primary", contrasts.primary), ("secondary", contrasts.secondary)):
        for index, pair in enumerate(pairs):
            where: Where = ("contrasts", kind, index)
            yield from _unknown_arms(context, pair, where)
            if pair[0] == pair[1]:
                yield Problem(where, f"compares `{pair[0]}` with itself; name two arms")
            elif pair in seen:
                yield Problem(where, f"the contrast [{pair[0]}, {pair[1]}] is listed twice; remove one")
            elif kind == "primary" and set(pair) in null:
                yield Problem(
                    where, f"`{pair[0]}` and `{pair[1]}` are declared alike: that calibrates, and is never tested; remove it here"
                )
            seen.add(pair)


def _unknown_arms(context: Context, names: Iterable[str], where: Where) -> Iterator[Problem]:
    arms = context.spec.arms
    for index, name in enumerate(names):
        if name not in arms and name not in context.cuts.words:
            yield Problem((*where, index), f"there is no arm `{name}`{did_you_mean(name, arms)}")


def _defaults(context: Context) -> Iterator[Problem]:
    spec, defaults = context.spec, context.spec.defaults
    yield from _unknown_arms(context, defaults.arms, ("defaults", "arms"))
    yield from _repeated(defaults.arms, ("defaults", "arms"))
    yield from _repeated(defaults.agents, ("defaults", "agents"))
    yield from _repeated(spec.agents, ("agents",))
    for index, agent in enumerate(defaults.agents):
        if agent not in spec.agents:
            given = "agents" in defaults.model_fields_set
            where: Where = ("defaults", "agents", index) if given else ("agents",)
            mend = f"add it there, or default to another (`defaults: {{agents: [{spec.agents[0]}]}}`)"
            yield Problem(where, f"the default agent {agent} is not listed under `agents`; {mend}")


def _repeated(names: tuple[str, ...], where: Where) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem((*where, index), f"`{name}` is listed twice; remove one")


def _gate(context: Context) -> Iterator[Problem]:
    gate = context.spec.gate
    if gate is None or context.cuts.places:
        return
    if gate.improve is None and gate.hold is None and gate.irreversible_loss is None:
        yield Problem(("gate",), "decides nothing; give `improve`, `hold` or `irreversible_loss`, or remove it")
    if not context.spec.contrasts.primary:
        yield Problem(("gate",), "needs a primary contrast; add `contrasts: {primary: [[without, with]]}`")
    expected = {case.expects for case in context.spec.cases}
    for name in ("improve", "hold"):
        if getattr(gate, name) is not None and name not in expected:
            yield Problem(("gate", name), f"no case says `expects: {name}`, so this can never be decided; add such cases, or remove it")
