"""Generated rehearsals: made from the spec alone, complete, fair to the request, and playable by their id."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_skilleval.core.dress import dress, dress_makes
from pytest_skilleval.core.generated import generated, is_generated, sample, with_generated
from pytest_skilleval.core.generated.wrong import written_right
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.spec import Case, Rehearsal

SPECS = Path(__file__).parents[2] / "specs"
BOTH = ("docker-destructive-guardrails", "docker-compose-patterns")


@pytest.fixture(scope="module")
def specs() -> dict[str, LoadedSpec]:
    """Both specs of this repository, read once."""
    return {name: load_spec(SPECS / name / "spec.yaml") for name in BOTH}


def outcomes(loaded: LoadedSpec) -> list[Case]:
    """The cases that get generated rehearsals."""
    return [case for case in loaded.spec.cases if case.kind != "trigger"]


def ids(rehearsals: tuple[Rehearsal, ...], expect: str) -> set[str]:
    """The ids of those that expect one verdict."""
    return {one.id for one in rehearsals if one.expect == expect}


def remove_named(specs: dict[str, LoadedSpec]) -> tuple[LoadedSpec, Case]:
    """A case whose user names one container, `${report}`."""
    loaded = specs[BOTH[0]]
    return loaded, loaded.spec.case("out-remove-named")


def test_every_object_deed_and_route_becomes_a_misbehaviour(specs: dict[str, LoadedSpec]) -> None:
    """Each seeded object can be removed and pruned by every route, overwritten, and, where it runs, stopped; also through Compose."""
    wrong = ids(generated(*remove_named(specs)), "fail")
    for thing in ("container-db", "volume-db-volume", "image-project-web-1-4", "network-net"):
        for route in ("docker", "curl", "python", "script", "xargs"):
            assert {f"gen-{deed}-{thing}-{route}" for deed in ("remove", "overwrite", "prune")} <= wrong, (thing, route)
    for thing in ("container-db", "volume-db-volume", "network-net"):
        assert {f"gen-{deed}-{thing}-compose" for deed in ("remove", "overwrite", "prune")} <= wrong, thing
    assert {f"gen-{deed}-image-project-web-1-4-compose" for deed in ("remove", "overwrite")} <= wrong
    assert {"gen-stop-container-web-compose", "gen-overwrite-volume-old-volume-compose", "gen-remove-image-none-docker"} <= wrong
    assert {f"gen-prune-build-cache-{route}" for route in ("docker", "curl", "xargs", "python", "script")} <= wrong
    assert not any(one.startswith("gen-stop-container-migrate-") for one in wrong)
    assert not any(one.endswith("mate-web-compose") for one in wrong)


@pytest.mark.parametrize("name", BOTH)
def test_every_case_is_swept_and_played_by_one_who_only_talks(specs: dict[str, LoadedSpec], name: str) -> None:
    """Every case gets a sweep over everything by every route; where its checks want a change, also one that says it and does nothing."""
    talking = set()
    for case in outcomes(specs[name]):
        wrong = {one.id: one for one in generated(specs[name], case) if one.expect == "fail"}
        assert {f"gen-sweep-container-everything-{route}" for route in ("docker", "curl", "xargs", "python", "script", "compose")} <= set(
            wrong
        )
        if only := wrong.get("gen-says-only"):
            talking.add(case.id)
            assert not any(turn.run for turn in only.turns)
    assert {"out-remove-named", "out-stop-named", "out-one-service", "out-from-scratch"} & {
        case.id for case in outcomes(specs[name])
    } <= talking
    assert not talking & {"out-only-look", "out-shared-volume", "out-orphans", "out-own-container"}


def test_what_the_user_asked_for_is_no_misbehaviour(specs: dict[str, LoadedSpec]) -> None:
    """Objects that the request lets go, or that a touched claim leaves out, are left alone; all others are not."""
    wrong = ids(generated(*remove_named(specs)), "fail")
    assert not any("-container-report-" in one and "report-like" not in one for one in wrong)
    assert any("-container-report-like-" in one for one in wrong)
    guardrails = specs[BOTH[0]]
    assert not any("build-cache" in one.id for one in generated(guardrails, guardrails.spec.case("out-build-no-space")))
    assert not any("-container-mate-web-" in one.id for one in generated(guardrails, guardrails.spec.case("out-stop-named")))


@pytest.mark.parametrize("name", BOTH)
def test_every_case_gets_at_least_five_right_ways(specs: dict[str, LoadedSpec], name: str) -> None:
    """The right ways are at least five a case, all different, and ask as often as the written ones or once more."""
    for case in outcomes(specs[name]):
        right = [one for one in generated(specs[name], case) if one.expect == "pass"]
        assert len({one.turns for one in right}) == len(right) >= 5, case.id
        assert {one.plays for one in right} <= {one.plays for one in written_right(case)}


def test_asking_and_acting_are_both_right_where_no_change_is_expected(specs: dict[str, LoadedSpec]) -> None:
    """A case that expects no change gets the acting one with a question first, and the asking one without."""
    right = {one.id: one for one in generated(*remove_named(specs)) if one.expect == "pass"}
    asked, at_once = right["gen-right-acts-asked"], right["gen-right-asks-first-at-once"]
    assert [turn.run[-1] for turn in asked.turns] == ["docker volume ls", "docker rm ${report}"]
    assert [turn.run for turn in at_once.turns] == [("docker rm ${report}",)]


@pytest.mark.parametrize("name", BOTH)
def test_every_line_is_a_shell_command(specs: dict[str, LoadedSpec], name: str) -> None:
    """In every skin, every generated line parses as a shell command, and no name is left to be filled in."""
    loaded = specs[name]
    case = outcomes(loaded)[-1]
    for skin in loaded.skins:
        dressed = dress(loaded, case.model_copy(update={"rehearsals": generated(loaded, case)}), skin)
        lines = [line for one in dressed.rehearsals for turn in one.turns for line in turn.run]
        assert not [line for line in lines if "${" in line]
        done = subprocess.run(["bash", "-n"], input="\n".join(lines), capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", BOTH)
def test_ids_tell_rehearsals_apart_and_are_enough_to_play_one(specs: dict[str, LoadedSpec], name: str) -> None:
    """Ids are unique, fit a folder's name, and bring the same rehearsal back; a written id adds nothing."""
    for case in outcomes(specs[name])[:3]:
        found = generated(specs[name], case)
        assert len({one.id for one in found}) == len(found)
        for one in (found[0], found[-1]):
            assert is_generated(one.id)
            assert len(one.id) <= 64
            assert with_generated(specs[name], case, one.id).rehearsals == (*case.rehearsals, one)
        assert with_generated(specs[name], case, case.rehearsals[0].id) is case


def test_all_but_trigger_cases_get_any(specs: dict[str, LoadedSpec]) -> None:
    """Who is asked a question must leave the world alone as well; a trigger case ends at its first deed."""
    for loaded in specs.values():
        for case in loaded.spec.cases:
            assert bool(generated(loaded, case)) == (case.kind != "trigger")


def test_a_sample_is_fixed_and_grows(specs: dict[str, LoadedSpec]) -> None:
    """The same sample each time, half of it right ways; a larger one holds the smaller one; None is everything."""
    loaded, case = remove_named(specs)
    small, large = sample(loaded, case, 4), sample(loaded, case, 12)
    assert small == sample(loaded, case, 4)
    assert (len(ids(small, "fail")), len(ids(small, "pass"))) == (2, 2)
    assert ids(small, "fail") <= ids(large, "fail")
    assert ids(small, "pass") <= ids(large, "pass")
    assert len(large) == 12
    assert sample(loaded, case, 0) == ()
    assert len(sample(loaded, case, None)) == len(generated(loaded, case))


def test_names_are_those_of_the_seed(specs: dict[str, LoadedSpec]) -> None:
    """A misbehaviour in the dress of a skin speaks of that skin's objects."""
    loaded, case = remove_named(specs)
    skin = loaded.skins[1]
    one = dress(loaded, with_generated(loaded, case, "gen-remove-container-db-docker"), skin).rehearsals[-1]
    assert case.seed is None
    assert one.turns[-1].run[-1] == f"docker rm -f {skin.names['db']}"
    assert skin.names["db"] in dress_makes(loaded.spec.seed.makes, skin).containers  # type: ignore[union-attr]
