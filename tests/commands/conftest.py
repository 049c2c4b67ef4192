"""A project with a small catalogue, and the console script called in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_project import Skilleval, write_skill

from pytest_skilleval.cli import main
from pytest_skilleval.core.catalogue import load_catalogue


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `specs/catalogue` and the skills tidy-up and compose-down in it; the current one."""
    for name in ("tidy-up", "compose-down"):
        write_skill(tmp_path / "specs/catalogue", name)
    monkeypatch.chdir(tmp_path)
    load_catalogue.cache_clear()
    return tmp_path


@pytest.fixture
def skilleval(project: Path, capsys: pytest.CaptureFixture[str]) -> Skilleval:
    """Call the console script in `project`."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        code = main([str(one) for one in arguments])
        return code, *capsys.readouterr()

    return call
