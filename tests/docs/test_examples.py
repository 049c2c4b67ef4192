"""Every command and example in README and docs is run, or planned for real where running it would cost money or machines."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(\w+)?[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(language: str) -> list[Block]:
    """All blocks of one language, over all pages."""
    return [
        Block(page.name, text[: match.start()].count("\n") + 1, match[1], match[2])
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for match in FENCE.finditer(text)
        if match[1] == language
    ]


def commands(program: str) -> list[tuple[str, list[str]]]:
    """Where a documented command line stands, and its words, for every line that calls `program`."""
    lines = [(str(block), line[2:]) for block in blocks("console") for line in block.text.splitlines() if line.startswith("$ ")]
    return [(place, words) for place, line in lines for words in [shlex.split(line)] if Path(words[0]).name == program]


def run(words: list[str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command from the project's folder, to its end."""
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(("place", "words"), commands("pytest"))
def test_a_documented_evaluation_can_be_planned(place: str, words: list[str], tmp_path: Path) -> None:
    """Each pytest line of the pages is understood, down to the last option: its plan can be made, and nothing is started."""
    planned = [word for word in words[1:] if word not in {"-n", "2"}]
    dry = [] if "--collect-only" in planned or "--skill-dry-run" in planned else ["--skill-dry-run"]

    done = run([sys.executable, "-m", "pytest", *planned, *dry, f"--skill-results={tmp_path}", "-p", "no:cacheprovider"])

    assert done.returncode == 0, f"{place}: {' '.join(words)}\n{done.stdout}{done.stderr}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("place", "words"), commands("skilleval"))
def test_a_documented_command_is_one(place: str, words: list[str]) -> None:
    """Each skilleval line of the pages names a command that exists and options that it has."""
    from pytest_skilleval.cli import parser

    parsed = parser().parse_args(words[1:])

    assert parsed.command == words[1], place


@pytest.mark.parametrize(("place", "words"), commands("nox"))
def test_a_documented_task_exists(place: str, words: list[str]) -> None:
    """Each nox line of the pages names tasks of the noxfile."""
    tasks = set(re.findall(r"^def (\w+)\(session: nox.Session\)", (ROOT / "noxfile.py").read_text(), re.MULTILINE))

    assert {word.replace("-", "_") for word in words[2:] if not word.startswith("-")} <= tasks, place


def test_the_readme_commands_are_what_ci_runs() -> None:
    """Both commands of the README stand in .ci/run word for word, so a green CI means that they work."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    shown = [line for block in blocks("console") if block.page == "README.md" for line in block.text.splitlines()]
    lines = [line[2:] for line in shown if ".venv/bin/nox" in line]

    assert len(lines) == 2
    for line in lines:
        assert line in script


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_a_documented_spec_part_is_valid(block: Block) -> None:
    """Each YAML example parses, and each case in it is a case by the spec model."""
    from pydantic import TypeAdapter

    from pytest_skilleval.core.spec import Case

    content = yaml.safe_load(block.text)
    cases = [entry for entry in content if isinstance(entry, dict) and "kind" in entry] if isinstance(content, list) else []
    for case in cases:
        TypeAdapter(Case).validate_python(case, strict=False)


def test_every_option_is_documented() -> None:
    """The page of options names every option and its ini twin, in the words of --help."""
    from pytest_skilleval.options import OPTIONS

    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    for option in OPTIONS:
        assert f"`{option.flag}" in page
        assert f"`{option.ini}`" in page
        assert option.help in page


def test_relative_links_lead_somewhere() -> None:
    """No page links to a file that is not there."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"
