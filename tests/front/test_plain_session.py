"""A project that merely has the plugin installed feels nothing."""

from __future__ import annotations

HEAVY = {
    "aiohttp",
    "anthropic",
    "docker",
    "jinja2",
    "matplotlib",
    "msgspec",
    "numpy",
    "pandas",
    "pydantic",
    "re2",
    "scipy",
    "ssl",
    "statsmodels",
    "tree_sitter",
    "yaml",
}

OURS = {"pytest_skilleval", *(f"pytest_skilleval.{name}" for name in ("hookspecs", "options", "plugin", "session"))}


def test_nothing_heavy_is_imported(pytester):
    """A plain session imports the front only, and no module that is slow to load."""
    pytester.makepyfile(
        """
        import sys

        def test_modules():
            print("modules:", *sorted(sys.modules))
        """
    )
    result = pytester.runpytest_subprocess(
        "-s", "-p", "no:randomly", "-p", "no:anyio", "-p", "no:hypothesispytest", "-p", "no:xdist", timeout=60
    )
    assert result.ret == 0
    modules = set(next(line for line in result.outlines if "modules:" in line).split("modules:")[1].split())
    assert not HEAVY & modules
    assert {name for name in modules if name.split(".")[0] == "pytest_skilleval"} == OURS


def test_without_xdist(project):
    """An evaluation works with -p no:xdist."""
    project.spec()
    project.evaluate("-p", "no:xdist").assert_outcomes(passed=8)


def test_without_terminal(project):
    """An evaluation works without a terminal."""
    project.spec()
    assert project.run("-p", "no:terminal", "--skill-eval=tidy-up", "--skill-agent=scripted", "--skill-sandbox=none").ret == 0
    assert (project.results() / "report.json").exists()
