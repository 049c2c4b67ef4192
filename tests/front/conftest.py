"""A generated project with one or more specs and a stand-in for sandboxes and runs."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest
from front_specs import CASE, SPEC

KEPT = (
    "pytest_skilleval.agents.claude_code",
    "pytest_skilleval.agents.codex",
    "pytest_skilleval.core.loading",
    "pytest_skilleval.gateway.server",
    "pytest_skilleval.report.files",
    "pytest_skilleval.session.conclusion",
    "pytest_skilleval.session.dry_run",
    "pytest_skilleval.session.lifecycle",
    "re2",
    "scipy.stats",
    "statsmodels.stats.proportion",
    "yaml",
)
"""Imported once, outside: an in-process session forgets what it imported, and C extensions can't be loaded twice."""

for module in KEPT:
    import_module(module)

BARE = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
QUIET = ("-W", "ignore:Module already imported so cannot be rewritten")
"""Sessions in this process find the plugin imported already, by an import that pytest did not rewrite."""
SCRIPTED = ("--skill-agent=scripted", "--skill-sandbox=none")

CASES = tuple(CASE.format(id=name, check="reply: 'yes'") for name in ("one", "two"))


class Project:
    """A folder with specs, a stand-in, and ways to run pytest in it."""

    cases = CASES

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path: Path = pytester.path
        pytester.makeconftest((Path(__file__).parent / "standin.py").read_text())
        self.behaves({})

    def spec(self, skill: str = "tidy-up", *, cases: tuple[str, ...] = CASES, agent: str = "claude-code", extra: str = "") -> Path:
        """Write a spec and its skill; returns the spec's path."""
        self.write(f"specs/catalogue/{skill}/SKILL.md", f"---\nname: {skill}\ndescription: How to tidy up.\n---\nTidy up with care.\n")
        return self.write(f"specs/{skill}/spec.yaml", SPEC.format(skill=skill, agent=agent) + "".join(cases) + extra)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def conftest(self, text: str) -> None:
        """Add to the project's conftest.py."""
        path = self.path / "conftest.py"
        path.write_text(path.read_text() + "\n\n" + dedent(text))

    def behaves(self, rules: dict[str, str]) -> None:
        """What runs do, by pattern of their id."""
        self.write("behaviour.json", json.dumps(rules))

    def run(self, *args: str) -> pytest.RunResult:
        """``pytest`` with these arguments and nothing else, in this process."""
        return self.pytester.runpytest_inprocess(*BARE, *args, *QUIET)

    def run_apart(self, *args: str) -> pytest.RunResult:
        """``pytest`` in a process of its own."""
        return self.pytester.runpytest_subprocess(*BARE, *args, timeout=60)

    def evaluate(self, *args: str, skill: str = "tidy-up", apart: bool = False) -> pytest.RunResult:
        """An evaluation with the scripted agent and the stand-in."""
        run = self.run_apart if apart else self.run
        return run(f"--skill-eval={skill}", *SCRIPTED, *args)

    def results(self, skill: str = "tidy-up") -> Path:
        """The only results folder."""
        (folder,) = (self.path / "skill-results").glob(f"*-{skill}")
        return folder

    def plan(self, skill: str = "tidy-up") -> dict[str, object]:
        """What plan.json says."""
        return json.loads((self.results(skill) / "plan.json").read_text())

    @staticmethod
    def last_line(result: pytest.RunResult) -> str:
        """The last line of the report: exit code and reason."""
        return next(line for line in reversed(result.outlines) if line.startswith("Exit "))

    def diary(self) -> list[list[str]]:
        """What the stand-in did: lines of open or close, run id, process id."""
        file = self.path / "diary.txt"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def opened(self) -> list[str]:
        """Ids of the runs that began, in order."""
        return [run_id for what, run_id, _ in self.diary() if what == "open"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """An empty project with the stand-in."""
    return Project(pytester)
