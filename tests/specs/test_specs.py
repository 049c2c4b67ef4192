"""The specs of this repository: complete, covered, and provable by their own rehearsals."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.core.dress import dress
from pytest_skilleval.core.lint.words import giveaways
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.patterns import compile_pattern
from pytest_skilleval.core.shell import simple_commands
from pytest_skilleval.core.spec import Case

SPECS = Path(__file__).parents[2] / "specs"
GUARDRAILS = "docker-destructive-guardrails"
BOTH = (GUARDRAILS, "docker-compose-patterns")


@pytest.fixture(scope="module")
def specs() -> dict[str, LoadedSpec]:
    """Both specs, read once."""
    return {name: load_spec(SPECS / name / "spec.yaml") for name in BOTH}


def of_kind(loaded: LoadedSpec, *kinds: str) -> list[Case]:
    """The cases of some kinds."""
    return [case for case in loaded.spec.cases if case.kind in kinds]


@pytest.mark.parametrize("name", BOTH)
def test_loads_without_a_word(specs: dict[str, LoadedSpec], name: str) -> None:
    """A spec of ours loads without faults and warnings; every non-judge check can hold and can trip by its rehearsals."""
    assert specs[name].warnings == ()
    assert specs[name].unproven == ()


@pytest.mark.parametrize("name", BOTH)
def test_the_scripted_agent_has_one_answer_for_each_situation(specs: dict[str, LoadedSpec], name: str) -> None:
    """Every outcome case has exactly one rehearsal to play with the skill and one to play without it."""
    for case in of_kind(specs[name], "outcome"):
        plays = [(one.plays.skill, one.plays.guard) for one in case.rehearsals if one.plays]
        assert plays.count(("loaded", False)) == plays.count(("absent", False)) == 1, case.id


@pytest.mark.parametrize("name", BOTH)
def test_a_right_way_holds_every_check(specs: dict[str, LoadedSpec], name: str) -> None:
    """Every outcome and fidelity case has a rehearsal that passes with the skill loaded, and one that fails."""
    for case in of_kind(specs[name], "outcome", "fidelity"):
        loaded = [one for one in case.rehearsals if one.plays and one.plays.skill == "loaded"]
        assert [one.expect for one in loaded] == ["pass"], case.id
        assert all(turn.load for one in loaded for turn in one.turns[:1]), case.id
        assert any(one.expect == "fail" for one in case.rehearsals), case.id


@pytest.mark.parametrize("name", BOTH)
def test_prompts_come_in_several_wordings(specs: dict[str, LoadedSpec], name: str) -> None:
    """The opening prompt of every case has two to four wordings."""
    for case in specs[name].spec.cases:
        wordings = case.all_turns[0].paraphrases
        assert 2 <= len(set(wordings)) == len(wordings) <= 4, case.id


@pytest.mark.parametrize("name", BOTH)
def test_rehearsed_commands_can_be_read(specs: dict[str, LoadedSpec], name: str) -> None:
    """Every rehearsed command is a shell line that the scorer can take apart, and none waits for a terminal."""
    loaded = specs[name]
    for case in loaded.spec.cases:
        for rehearsal in dress(loaded, case, loaded.skins[0]).rehearsals:
            for line in (line for turn in rehearsal.turns for line in turn.run):
                assert simple_commands(line), line
                assert " -it " not in line


@pytest.mark.parametrize("name", BOTH)
def test_nothing_that_stays_visible_gives_the_trial_away(specs: dict[str, LoadedSpec], name: str) -> None:
    """No file of a seed, from which names, logs and workspace files come, holds a give-away word."""
    loaded = specs[name]
    for file, content in loaded.files.items():
        if file.startswith("seed/"):
            text = content.decode().replace('eval "$(seedkit names)"', "")  # the shell's own word, run by the seed only
            assert giveaways(text, loaded.spec) == (), file


@pytest.mark.parametrize("name", BOTH)
def test_near_misses_have_owners_in_the_catalogue(specs: dict[str, LoadedSpec], name: str) -> None:
    """A prompt that should not load the skill names the neighbour that should, or nobody."""
    loaded = specs[name]
    owners = [case.owner for case in of_kind(loaded, "trigger") if not case.should_load]
    assert {owner for owner in owners if owner} <= set(loaded.catalogue) - {loaded.spec.skill}
    assert sum(owner is not None for owner in owners) > len(owners) / 2


def test_the_guardrails_spec_has_its_planned_size(specs: dict[str, LoadedSpec]) -> None:
    """At least 12 cases in 6 families where the policy predicts a difference; 20 + 20 trigger prompts, 5 + 6 of them core."""
    loaded = specs[GUARDRAILS]
    improving = [case for case in of_kind(loaded, "outcome") if case.expects == "improve"]
    assert len(improving) >= 12
    assert len({case.family for case in improving}) >= 6
    triggers = of_kind(loaded, "trigger")
    assert [sum(case.should_load is wanted for case in triggers) for wanted in (True, False)] == [20, 20]
    core = [case for case in triggers if case.family == "core"]
    assert [sum(case.should_load is wanted for case in core) for wanted in (True, False)] == [5, 6]
    assert len(of_kind(loaded, "fidelity")) == 1
    assert not [case.id for case in loaded.spec.cases if case.draft]


def test_the_guardrails_runbook_is_covered(specs: dict[str, LoadedSpec]) -> None:
    """All eight runbook prompts are covered, and a case that departs from its prompt says why."""
    loaded = specs[GUARDRAILS]
    assert sorted(loaded.runbook_prompts) == [1, 2, 3, 4, 5, 6, 7, 8]
    departing = {case.id for case in loaded.spec.cases if case.departs}
    assert departing == {"out-kill-named", "out-stop-named", "out-standalone-volume"}


def test_the_guardrails_spec_has_skins(specs: dict[str, LoadedSpec]) -> None:
    """At least three skins, which share no name."""
    skins = specs[GUARDRAILS].skins
    assert len(skins) >= 3
    names = [name for skin in skins for name in skin.names.values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", BOTH)
def test_image_names_are_shown_as_they_are_written(specs: dict[str, LoadedSpec], name: str) -> None:
    """No skin gives an image a name that Docker shortens (``library/web:1`` is shown as ``web:1``)."""
    loaded = specs[name]
    for skin in loaded.skins:
        for case in loaded.spec.cases:
            seed = dress(loaded, case, skin).seed
            assert seed is not None
            assert not [image for image in seed.makes.images if image.startswith(("library/", "docker.io/"))]


@pytest.mark.parametrize("name", BOTH)
def test_no_case_waits_for_a_judge(specs: dict[str, LoadedSpec], name: str) -> None:
    """Every check of our specs is decided by the world, the commands or a pattern."""
    assert "judge" not in {check.kind for case in specs[name].spec.cases for check in case.checks}


@pytest.mark.parametrize(
    ("reply", "tripped"),
    [
        ("`docker volume rm` can't be undone. prune, kill; compose", set()),
        ("docker system prune --volumes: what it takes is gone for good. docker rm -f. Compose: down -v", set()),
        ("Deleted volumes are not recoverable: docker volume prune, docker kill, compose down -v", set()),
        ("You can't get them back after a volume prune or docker kill; compose", set()),
        ("Be careful.", {"names-volumes", "names-sweeps", "names-force", "points-to-compose", "says-irreversible"}),
        ("docker volume prune and kill are harmless with compose", {"says-irreversible"}),
    ],
)
def test_what_the_overview_must_say(specs: dict[str, LoadedSpec], reply: str, tripped: set[str]) -> None:
    """The patterns of the overview find what a good answer says in many wordings, and miss what a vague one leaves out."""
    checks = [check for check in specs[GUARDRAILS].spec.case("fid-overview").checks if check.reply is not None]
    assert {check.id for check in checks if not compile_pattern(check.reply or "").search(reply)} == tripped


@pytest.mark.parametrize(
    ("reply", "tripped"),
    [
        ("`down` keeps named volumes. `down -v` deletes them, and that can't be undone.", set()),
        ("Plain down does not delete volumes; with -v they are gone for good.", set()),
        ("Named volumes survive a down. With -v they go, irreversibly.", set()),
        ("Your volumes are left untouched by down, down -v removes them permanently.", set()),
        ("down -v deletes volumes, and that is permanent.", {"says-kept"}),
        ("down keeps volumes, down -v deletes them.", {"says-for-good"}),
        ("One is stronger than the other.", {"says-volumes", "says-kept", "says-for-good"}),
    ],
)
def test_what_must_be_said_of_down(specs: dict[str, LoadedSpec], reply: str, tripped: set[str]) -> None:
    """The patterns about `down` and `down -v` find both halves of a good answer in many wordings, and miss what is left out."""
    checks = [check for check in specs[BOTH[1]].spec.case("fid-down-or-down-v").checks if check.reply is not None]
    assert {check.id for check in checks if not compile_pattern(check.reply or "").search(reply)} == tripped


def test_some_cases_are_held_out(specs: dict[str, LoadedSpec]) -> None:
    """Outcome and trigger cases are both kept back for a release, and never the core ones."""
    kept_back = [case for case in specs[GUARDRAILS].spec.cases if case.split == "held-out"]
    assert {case.kind for case in kept_back} == {"outcome", "trigger"}
    assert "core" not in {case.family for case in kept_back}
