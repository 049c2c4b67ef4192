"""The order of runs: the plan's, in every process and beside every other plugin."""

from __future__ import annotations

import itertools

import pytest

ORDERED = ("--skill-random-seed=7",)


def plan_order(project, *args: str) -> list[str]:
    """Run ids of an evaluation's plan."""
    assert project.evaluate(*ORDERED, *args).ret == 0
    return [row["run_id"] for row in project.plan()["rows"]]


def test_runs_start_in_the_order_of_the_plan(project):
    """The runs start as plan.json lists them; each block's arms stand together."""
    project.spec()
    order = plan_order(project)
    assert project.opened() == order
    blocks = [block for block, _ in itertools.groupby(run_id.split(".")[0] + run_id.split(".")[-1] for run_id in order)]
    assert len(blocks) == len(set(blocks)) == 4


def test_other_plugins_do_not_change_the_order(project):
    """Hooks that reorder, before or after ours, change nothing; ordinary tests keep their places."""
    project.spec()
    project.conftest(
        """
        import pytest

        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(items):
            items.reverse()
        """
    )
    order = plan_order(project)
    assert project.opened() == order


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_order_under_xdist_and_randomly(project, monkeypatch, hash_seed):
    """With -n 2 and pytest-randomly, whose seed becomes ours, every process has the plan of -n 0."""
    project.spec()
    monkeypatch.setenv("PYTHONHASHSEED", hash_seed)
    flags = ("-p", "no:cacheprovider", "--skill-eval=tidy-up", "--skill-agent=scripted", "--skill-sandbox=none")
    assert project.pytester.runpytest_subprocess("-n", "2", "--randomly-seed=7", *flags, timeout=120).ret == 0
    plan = project.plan()
    assert (plan["random_seed"], plan["seed_origin"]) == (7, "pytest-randomly's")
    order = [row["run_id"] for row in plan["rows"]]
    assert sorted(project.opened()) == sorted(order)
    (project.path / "skill-results").rename(project.path / "earlier")
    assert plan_order(project) == order


def test_the_random_seed_is_printed(project):
    """The random seed and where it is from are printed; without an option it is the same for the same specs."""
    project.spec()
    first = project.evaluate("--skill-repeats=1").stdout.str()
    line = next(line for line in first.splitlines() if "random seed:" in line)
    assert "derived from the specs" in line
    assert line in project.evaluate("--skill-repeats=1").stdout.str()
    assert "random seed: 7 (--skill-random-seed)" in project.evaluate(*ORDERED).stdout.str()
