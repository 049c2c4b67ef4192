"""A spec.yaml that is no plain file is named, with what it is and what to do; it is never opened, so nothing can hang."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "fifo": (os.mkfifo, "it is a named pipe (FIFO); put a plain file in its place"),
    "folder": (Path.mkdir, "it is a folder; put a plain file in its place"),
    "circle": (lambda path: path.symlink_to(path.name), "it is a link that leads in a circle; correct or remove it"),
    "dangling": (lambda path: path.symlink_to("gone.yaml"), "it is a link that leads nowhere (to `gone.yaml`); correct or remove it"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it leads to a device; put a plain file in its place"),
    "socket": (_socket, "it is a socket; put a plain file in its place"),
}
kinds = pytest.mark.parametrize("kind", ODD)


def odd(project, kind: str) -> str:
    """Make specs/tidy-up/spec.yaml one; returns what must be said of it."""
    make, said = ODD[kind]
    path = project.spec()
    path.unlink()
    here = Path.cwd()
    make(path)
    os.chdir(here)
    return f"specs/tidy-up/spec.yaml:1: is not taken as a spec: {said}"


@kinds
def test_collect_only(project, kind):
    """--collect-only warns of it once; the folder may also be named."""
    project.spec("other")
    said = odd(project, kind)
    for paths in ((), ("specs",), ("specs/tidy-up",)):
        result = project.run("--collect-only", "-q", "-W", "default", *paths)
        assert [line for line in result.outlines if "InvalidSpecWarning" in line and line.endswith(said)], paths
        assert result.outlines.count(next(line for line in result.outlines if line.endswith(said))) == 1


@kinds
def test_evaluation_of_it_alone(project, kind):
    """Where it is the only spec, and asked for, the evaluation is refused with the reason."""
    said = odd(project, kind)
    result = project.evaluate(skill="tidy-up")
    assert result.ret == 4
    assert said in result.stderr.str()


@kinds
def test_evaluation_beside_others(project, kind):
    """Asked for by name it is refused beside a good one; of `all` it is passed over with a warning."""
    project.spec("other")
    said = odd(project, kind)
    assert said in project.evaluate(skill="tidy-up,other").stderr.str()
    everything = project.evaluate(skill="all")
    assert everything.ret == 0
    assert f"  warning: {said}" in everything.outlines


def test_named_itself(project):
    """Nothing is found by pytest in a folder that is named like a spec; the reason is told."""
    said = odd(project, "folder")
    result = project.run("-W", "default", "specs/tidy-up/spec.yaml")
    assert said in result.stdout.str()


def test_a_plain_session_says_nothing(project):
    """A session that neither validates nor evaluates leaves it alone."""
    project.spec("other")
    odd(project, "fifo")
    assert "InvalidSpecWarning" not in project.run("-W", "default").stdout.str()
