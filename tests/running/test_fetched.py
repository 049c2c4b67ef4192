"""Folders fetched out of a sandbox."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_skilleval.archive import Archive
from pytest_skilleval.core.arms import tarball
from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.core.ports import ExecResult, SandboxFile
from pytest_skilleval.running.story import _fetch
from pytest_skilleval.sandboxes.engine.sandbox import EngineSandbox


def packing(exit_code: int) -> SimpleNamespace:
    """A sandbox whose tar ends like this."""
    packed = tarball([SandboxFile(path="projects/one.jsonl", content=b"{}\n")])
    told = ExecResult(exit_code=exit_code, stdout=packed, stderr=b"tar: no", seconds=0.0)
    sandbox = SimpleNamespace(exec=lambda *_, **__: told)
    sandbox.get = partial(EngineSandbox.get, sandbox)
    return sandbox


def test_a_file_that_is_written_to_while_it_is_packed_loses_no_run(tmp_path: Path) -> None:
    """Something that an agent left running may write on: tar says so, and what it packed is kept."""
    folder = Archive(tmp_path).run("one")
    folder.begin()
    _fetch(packing(1), "/home/agent/projects", folder)
    assert (tmp_path / "runs/one/session/projects/one.jsonl").read_bytes() == b"{}\n"


def test_a_folder_that_can_not_be_packed_is_the_sandboxs_fault(tmp_path: Path) -> None:
    """Any other end is told with tar's own words."""
    with pytest.raises(SandboxError, match="tar: no"):
        _fetch(packing(2), "/home/agent/projects", Archive(tmp_path).run("one"))
