"""Arms that install the catalogue as of a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_skilleval.core.errors import UsageProblem
from pytest_skilleval.running.revisions import catalogue_at


def git(folder: Path, *arguments: str) -> None:
    """Run git there as somebody."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A repository with a skill that was rewritten in its second commit."""
    folder = tmp_path / "specs" / "catalogue"
    (folder / "one").mkdir(parents=True)
    git(tmp_path, "init", "-q")
    for body in ("Old words.", "New words."):
        (folder / "one" / "SKILL.md").write_text(f"---\nname: one\ndescription: About one.\n---\n{body}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", body)
    return folder


def test_a_revision_is_the_catalogue_of_that_commit(catalogue: Path) -> None:
    """The earlier words are installed, whatever lies in the folder today."""
    assert catalogue_at(catalogue, "HEAD~1")["one"].body == "Old words.\n"
    assert catalogue_at(catalogue, "HEAD")["one"].body == "New words.\n"


def test_a_commit_that_is_not_there_is_told(catalogue: Path) -> None:
    """The error names the revision and says what git said."""
    with pytest.raises(UsageProblem, match=r"as of 'HEAD~9' can't be read: fatal: not a valid object name"):
        catalogue_at(catalogue, "HEAD~9")


def test_a_folder_outside_any_repository_is_told(tmp_path: Path) -> None:
    """Without a repository there is no earlier catalogue."""
    with pytest.raises(UsageProblem, match="can't be read: fatal: not a git repository"):
        catalogue_at(tmp_path, "HEAD")
