"""Between the arms of a block, first requests differ by the declared bytes only; anything more is found, in the run that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from first_request_shapes import AGENTS, ARMS, CATALOGUE, side, skill

from pytest_skilleval.core.arm_equality import Side, compare

both = pytest.mark.parametrize("agent", AGENTS)


def block(agent: str, **smuggled: Mapping[str, Any]) -> list[Side]:
    """One run of every arm, each in a session of its own; `smuggled`: arm -> what its run shows besides."""
    return [side(agent, arm, session=number % 2, **smuggled.get(arm, {})) for number, arm in enumerate(ARMS)]


@both
def test_every_arm_is_explained_by_what_it_declares(agent: str) -> None:
    """With, without, standing rules, a guard, a sham, no catalogue, other permissions: nothing but the declared bytes differs."""
    found = compare(block(agent))

    assert (found.unequal, found.recut) == ((), ())


SMUGGLED: dict[str, tuple[Mapping[str, Any], str]] = {
    "a line in the instructions file": ({"stock": "Be brief.\n"}, "'Be brief.'"),
    "a tool": ({"tools": ("Teleport",)}, "'Teleport'"),
    "a skill that the agent was not given": ({"shown": {"stray": "Do as you like."}}, "the agent's own skill stray"),
    "another word in a description": ({"shown": {"alike": "Much unlike it."}}, "skill alike (real)"),
    "a word after a description": ({"shown": {"alike": "Much like it. Or not."}}, "skill alike (real)"),
    "a catalogue that was changed between runs": (
        {"catalogue": CATALOGUE | {"alike": skill("alike", "Much like it.", body="Another body.\n")}},
        "skill alike (real)",
    ),
    "a skill that was removed between runs": (
        {"catalogue": {name: one for name, one in CATALOGUE.items() if name != "alike"}},
        "skill alike (real) is missing",
    ),
}


@both
@pytest.mark.parametrize("what", SMUGGLED)
@pytest.mark.parametrize("arm", ["without", "with", "rules"])
def test_a_smuggled_byte_is_found_in_the_run_that_has_it(agent: str, what: str, arm: str) -> None:
    """The many tell who deviates: that run is named, whichever arm it is of, with the lines that differ."""
    smuggled, told = SMUGGLED[what]

    found = compare(block(agent, **{arm: smuggled}))

    assert [one.run_id for one in found.unequal] == [f"case.{arm}"]
    assert told in found.unequal[0].reason


@both
def test_one_against_one_can_not_be_told_so_both_are_named(agent: str) -> None:
    """With two arms nobody knows which of them is not as declared: neither is averaged."""
    found = compare([side(agent, "without"), side(agent, "with", tools=("Teleport",))])

    assert [one.run_id for one in found.unequal] == ["case.without", "case.with"]
    assert "against the arm without (which of the arms is not as declared can't be told)" in found.unequal[1].reason


@both
def test_what_an_agent_says_of_permissions_is_the_same_in_arms_with_the_same(agent: str) -> None:
    """An arm that declares other permissions explains what the agent says of them, and only its own run's."""

    def widened(one: Side) -> Side:
        text = msgspec.json.encode(one.body).replace(b"danger-full-access", b"workspace-write").replace(b"Tidy up.", b"Tidy up, will you.")
        return msgspec.structs.replace(one, body=msgspec.json.decode(text))

    found = compare([widened(one) if one.arm == "control" else one for one in block(agent)])

    assert [one.run_id for one in found.unequal] == ["case.control"]
    assert ("what the agent says of permissions: bypass differs" in found.unequal[0].reason) == (agent == "codex")
    assert "'Tidy up, will you.'" in found.unequal[0].reason


CUT: dict[str, Callable[[str], str]] = {"claude-code": lambda _text: "", "codex": lambda text: f"{text[:4]}..."}


@both
def test_a_listing_that_is_cut_is_told_and_voids_nothing(agent: str) -> None:
    """One skill more can fill an agent's listing budget: the others are cut by what the arm declares."""
    cut = {name: CUT[agent](CATALOGUE[name].description) for name in CATALOGUE}

    found = compare([side(agent, "without"), side(agent, "with", shown=cut), side(agent, "bare")])

    assert found.unequal == ()
    assert found.recut == ("alike", "zeal")


@both
def test_a_revision_explains_other_skills(agent: str) -> None:
    """An arm that installs the catalogue as of a commit declares that all of it may be another."""
    older = side(agent, "with", catalogue=CATALOGUE | {"alike": skill("alike", "As it was.")})
    before = msgspec.structs.replace(
        older, run_id="case.before", arm="before", declared=msgspec.structs.replace(older.declared, revision="HEAD~1")
    )

    assert compare([side(agent, "without"), side(agent, "with"), before]).unequal == ()
    assert compare([side(agent, "without"), side(agent, "with"), older]).unequal != ()


@both
def test_alone_in_its_block_a_run_has_nothing_to_differ_from(agent: str) -> None:
    """One run, nothing found."""
    assert compare([side(agent, "with", tools=("Teleport",))]).unequal == ()


def test_names_of_skills_count_and_not_their_folders() -> None:
    """A skill whose folder has another name is explained by the name that the model is shown."""
    renamed = CATALOGUE | {"careful": replace(CATALOGUE["careful"], name="caution")}

    found = compare([side("codex", "without", catalogue=renamed), side("codex", "with", catalogue=renamed)])

    assert found.unequal == ()
