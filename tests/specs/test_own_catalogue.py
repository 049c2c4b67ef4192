"""The catalogue that the specs of this repository stand on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.core.catalogue import load_catalogue

CATALOGUE = Path(__file__).parents[2] / "specs" / "catalogue"
IDS = {
    "docker-agent-config",
    "docker-agent-deploy",
    "docker-agent-run",
    "docker-build-strategies",
    "docker-compose-patterns",
    "docker-destructive-guardrails",
    "docker-project-foundations",
    "docker-sandboxes-env",
    "docker-sandboxes-kits",
    "docker-sandboxes-lifecycle",
    "docker-sandboxes-network-credentials",
}


def test_holds_the_eleven_skills() -> None:
    """The catalogue holds eleven skills, each in a folder of its own name, and nothing that departs from the standard."""
    skills = load_catalogue(CATALOGUE).skills
    assert set(skills) == IDS
    assert not [problem for skill in skills.values() for problem in skill.problems]
    assert not [(skill.id, agent) for skill in skills.values() for agent in skill.refused_by]


@pytest.mark.parametrize("name", sorted(IDS))
def test_a_skill_is_of_a_real_size(name: str) -> None:
    """Each skill has a description and a body as long as real ones, with headings."""
    skill = load_catalogue(CATALOGUE).skills[name]
    assert 250 <= len(skill.description) <= 950
    assert 60 <= skill.files["SKILL.md"][1].count(b"\n") <= 200
    assert skill.body.count("\n## ") >= 4


def test_the_listing_fits_the_smallest_budget() -> None:
    """All descriptions together stay below 8,000 characters, so that leaving one skill out shortens no other."""
    assert sum(len(skill.name) + len(skill.description) for skill in load_catalogue(CATALOGUE).skills.values()) < 8000
