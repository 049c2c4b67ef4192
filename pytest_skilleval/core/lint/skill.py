"""Rules about the skill under test, the skills around it, and the engine."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_skilleval.core.lint.context import Context, Problem, ambiguous, called, installs
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import shown
from pytest_skilleval.core.versions import clauses


def skill_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with `skill`, with what the arms install, and with `engine`."""
    spec, skills = context.spec, context.catalogue.skills
    if spec.skill != context.folder:
        yield Problem(
            ("skill",), f"`{spec.skill}` differs from the spec's folder `{context.folder}`; both are the skill's id, so rename one"
        )
    if spec.skill not in skills:
        yield Problem(
            ("skill",), f"the catalogue {shown(context.catalogue.folder)} has no skill `{spec.skill}`{did_you_mean(spec.skill, skills)}"
        )
    elif (name := skills[spec.skill].name) and name != spec.skill:
        yield Problem(("skill",), f"the front-matter of `{spec.skill}` names it `{name}`; both must agree, so rename one")
    elif len(same := called(context.catalogue, spec.skill)) > 1 and not any(spec.skill in arm.exclude for arm in spec.arms.values()):
        yield Problem(("skill",), ambiguous(spec.skill, same))
    yield from _overlooked(context)
    yield from _left_out(context)
    if spec.engine is not None:
        try:
            clauses(spec.engine)
        except ValueError as error:
            yield Problem(("engine",), str(error))
    for word, reason in spec.allow_words.items():
        if not reason.strip():
            yield Problem(("allow_words", word), "is empty; write why the word may stand in prompts")


def _left_out(context: Context) -> Iterator[Problem]:
    """What an arm would install without anybody seeing that a part of it is missing, told at the first such arm."""
    arms = {name: arm for name, arm in context.spec.arms.items() if arm.revision is None and arm.exclude != "all"}
    for fault in context.catalogue.left_out if arms else ():
        yield Problem(("arms", next(iter(arms))), f"installs the catalogue without `{fault.file}`, which {fault.message}")
    for skill in context.catalogue.skills.values():
        name = next((name for name, arm in arms.items() if installs(arm, skill)), None) if skill.left_out else None
        for fault in skill.left_out if name else ():
            text = f"installs the skill `{skill.id}` without `{fault.file}`, which {fault.message}; or exclude the skill"
            yield Problem(("arms", name or ""), text)


def _overlooked(context: Context) -> Iterator[Problem]:
    spec = context.spec
    refused = [skill for skill in context.catalogue.skills.values() if skill.refused_by]
    for name, arm in spec.arms.items():
        if arm.revision is not None:
            continue
        for skill in refused:
            agents = [agent for agent in spec.agents if agent in skill.refused_by]
            if agents and installs(arm, skill):
                mend = f"mend its SKILL.md, exclude it, or take {' and '.join(agents)} out of `agents`"
                yield Problem(("arms", name), f"installs the skill `{skill.id}`: {skill.refused_by[agents[0]]}; {mend}")
