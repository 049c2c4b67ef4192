"""The folder that the processes of a session share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_skilleval.session import control

MAKE = """
from pytest_skilleval.session.control import Control
made = Control.create()
print(made.folder, flush=True)
input()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made, here and in what is started; nothing in it is too young."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(control, "SETTLED_SECONDS", -1)
    return tmp_path


def test_a_killed_sessions_folder_is_swept_and_a_live_ones_is_not(place: Path) -> None:
    """Whoever holds the folder is alive; a killed controller holds nothing."""
    process = subprocess.Popen([sys.executable, "-c", MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    folder = process.stdout.readline().strip()

    assert control.sweep() == ()

    process.kill()
    process.communicate()

    assert control.sweep() == (folder,)
    assert list(place.iterdir()) == []


def test_a_folder_that_is_just_being_made_is_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making and locking, nobody takes the folder for a leftover."""
    monkeypatch.setattr(control, "SETTLED_SECONDS", 10)
    (place / f"{control.PREFIX}new").mkdir()

    assert control.sweep() == ()
