"""Planned looks: runs start look by look, an early look may end the session, and the report says so."""

from __future__ import annotations

import json
import re

import pytest

ALL_CHANGED = {"*.without.*": "fail"}
"""Two cases that the skill always turns from fail to pass: p = .0048 after three repeats."""


def report(project) -> dict[str, object]:
    """What report.json says."""
    return json.loads((project.results() / "report.json").read_text())


def repeats_of(run_ids: list[str]) -> list[int]:
    """The repeat of each run."""
    return [int(run_id.rpartition(".r")[2]) for run_id in run_ids]


def look_of(repeat: int) -> int:
    """Number of the look that first counts a repeat."""
    return 1 + (repeat > 3) + (repeat > 6)


def test_blocks_are_ordered_look_by_look(project):
    """Ten repeats are planned; all blocks of one look stand before the next, shuffled within it, and the plan locks looks and contrasts."""
    project.spec()
    assert project.evaluate("--skill-looks").ret == 0
    plan = project.plan()
    repeats = repeats_of([row["run_id"] for row in plan["rows"]])
    assert sorted(set(repeats)) == list(range(1, 11))
    looks = [look_of(repeat) for repeat in repeats]
    assert looks == sorted(looks)
    assert repeats != sorted(repeats)
    assert [(look["repeats"], look["alpha"], look["futile"]) for look in plan["looks"]] == [(3, 0.01, 1), (6, 0.015, 0.5), (10, 0.025, 1)]
    assert plan["contrasts"] == {"tidy-up": [["without", "with"]]}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_clear_change_ends_the_session_at_the_first_look(project, workers):
    """Nothing beyond the first look is started, with and without workers; it isn't partial, and the report says where it stopped."""
    project.spec()
    project.behaves(ALL_CHANGED)
    result = project.evaluate("--skill-looks", "-n", workers, apart=workers != "0")
    assert set(repeats_of(project.opened())) == {1, 2, 3}
    assert len(project.opened()) == 12
    plan, made = project.plan(), report(project)
    assert plan["stopped"] == {"tidy-up": 1}
    beyond = [row for row in plan["rows"] if row["repeat"] > 3]
    assert len(beyond) == 28
    assert {(row["selected"], row["reason"]) for row in beyond} == {(False, "stopped at look 1")}
    assert made["partial"] is False
    assert (made["design"]["stopped_at"], made["design"]["alpha"]) == (1, 0.01)
    assert result.ret == 0
    assert "Stopped at look 1 of 3, after 3 of 10 repeats, testing at 0.01" in re.sub(r"\s+", " ", result.stdout.str())


def test_nothing_in_sight_ends_the_session_at_the_second_look(project):
    """Where nothing has changed after six repeats (p = 1) the session gives up, as its plan says; it isn't partial and claims nothing."""
    project.spec(cases=project.cases[:1])
    result = project.evaluate("--skill-looks")
    assert set(repeats_of(project.opened())) == {1, 2, 3, 4, 5, 6}
    plan, made = project.plan(), report(project)
    assert (plan["stopped"], plan["stopped_why"]) == ({"tidy-up": 2}, {"tidy-up": "futile"})
    design = made["design"]
    assert (design["stopped_at"], design["stopped_why"], design["alpha"], made["partial"]) == (2, "futile", 0.015, False)
    assert "p above 0.5 on these cases, where the plan gives up" in re.sub(r"\s+", " ", result.stdout.str())


def test_an_open_question_goes_to_the_last_look(project):
    """What has not changed but still may keeps the session going; claims are tested at the last look's level."""
    project.spec(cases=project.cases[:1])
    project.behaves({"one.without.*.r1": "fail", "one.without.*.r5": "fail"})
    result = project.evaluate("--skill-looks")
    assert len(project.opened()) == 20
    design = report(project)["design"]
    assert (design["stopped_at"], design["alpha"]) == (None, 0.025)
    assert project.plan()["stopped"] == {}
    assert "planned looks after repeats 3 (testing at 0.01)" in result.stdout.str()


def test_a_partial_session_is_never_stopped(project):
    """A session that can claim nothing has nothing to stop for."""
    project.spec()
    project.behaves(ALL_CHANGED)
    project.evaluate("--skill-looks", "-k", "one")
    assert len(project.opened()) == 20
    assert report(project)["partial"] is True


def test_lost_runs_keep_a_look_from_stopping(project):
    """A look that lost too many runs decides nothing: the session goes on."""
    project.spec()
    project.behaves({"one.with.*.r1": "blame:seed", "one.with.*.r2": "blame:seed", **ALL_CHANGED})
    project.evaluate("--skill-looks")
    assert set(repeats_of(project.opened())) == set(range(1, 11))


def test_a_dead_worker_opens_the_look(project):
    """When a worker dies, the look it worked for is passed without a decision, so that nobody waits for runs queued behind him."""
    project.spec()
    project.behaves({"one.with.*.r2": "crash", **ALL_CHANGED})
    result = project.evaluate("--skill-looks", "-n", "2", apart=True)
    assert result.ret == 1
    assert set(repeats_of(project.opened())) >= {1, 2, 3, 4, 5, 6}
    assert report(project)["design"]["stopped_at"] in (2, None)


def test_a_stopped_session_is_resumed_within_its_look(project):
    """Resuming makes the lost runs up to the look that ended the session, and none beyond."""
    project.spec()
    project.behaves(ALL_CHANGED)
    project.evaluate("--skill-looks")
    (project.results() / "runs/one.with.scripted.default.r1/run.json").unlink()
    (project.path / "diary.txt").unlink()
    result = project.run(f"--skill-resume={project.results()}", "--skill-sandbox=none")
    assert result.ret == 0
    assert "partial" not in result.stdout.str()
    assert project.opened() == ["one.with.scripted.default.r1"]
    assert report(project)["design"]["stopped_at"] == 1
    assert report(project)["partial"] is False


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--skill-repeats=5",), "--skill-looks plans 10 repeats, --skill-repeats says 5"),
        (("--skill-rehearse",), "rehearsals are played once each"),
        (("-n", "2", "--dist", "worksteal"), "--dist worksteal can't be used with --skill-looks"),
    ],
)
def test_what_does_not_go_with_looks(project, flags, told):
    """What would break the look's order or size is refused before anything starts."""
    project.spec()
    result = project.evaluate("--skill-looks", *flags)
    assert result.ret == 4
    assert told in result.stderr.str()
    assert not project.opened()
