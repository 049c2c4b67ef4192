"""What the catalogue says about a drafted spec: which agents would list the skill, and which neighbours are in the way."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_skilleval.core.catalogue import Catalogue
from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.core.loaded import Skill
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import shown

REAL_AGENTS = ("claude-code", "codex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A skill among its neighbours.

    Attributes
    ----------
    agents
        Agents that would list the skill.
    overlooked
        Neighbours that one of these agents would not list: no arm may install them.
    """

    skill: Skill
    catalogue: Catalogue
    agents: tuple[str, ...]
    overlooked: tuple[str, ...] = ()


def surroundings(skill_id: str, catalogue: Catalogue) -> Surroundings:
    """Look a skill up.

    Raises
    ------
    UsageProblem
        The catalogue has no such skill, its front-matter names it otherwise, or no agent would list it.
    """
    skill = catalogue.skills.get(skill_id)
    if skill is None:
        where = shown(catalogue.folder)
        raise UsageProblem(f"the catalogue {where} has no skill `{skill_id}`{did_you_mean(skill_id, catalogue.skills)}")
    file = shown(catalogue.folder / skill_id / "SKILL.md")
    if skill.name and skill.name != skill_id:
        raise UsageProblem(f"{file}: the front-matter names it `{skill.name}` and the folder `{skill_id}`; make both agree")
    agents = tuple(agent for agent in REAL_AGENTS if agent not in skill.refused_by)
    if not agents:
        reasons = "; ".join(skill.refused_by[agent] for agent in REAL_AGENTS)
        raise UsageProblem(f"{file}: no agent would list this skill: {reasons}; mend it first")
    overlooked = [one.id for one in catalogue.skills.values() if one.id != skill_id and any(agent in one.refused_by for agent in agents)]
    return Surroundings(skill=skill, catalogue=catalogue, agents=agents, overlooked=tuple(overlooked))
