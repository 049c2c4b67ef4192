"""Input files of evals: where they lie in the workspace, and the seed that puts them there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

_INPUTS: Final = re.compile(r"\A(?:\./)*(?:evals/)?(?:files/)?")
_PROGRAM: Final = """#!/bin/sh
# Puts the files that the user speaks of into the workspace.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cp -R "$here/{case}/." .
"""


def seed_run(case: str) -> str:
    """The program that puts a case's files into the workspace, as the spec names it."""
    return f"seed/{case}.sh"


def seeded(case: str, prompt: str, files: Iterable[str], beside: Mapping[str, bytes | str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files to write below the spec's folder so that a seed puts `files` into the workspace, and what was not carried over.

    `beside` holds the content of each file as the evals name it, or why it can't be had.
    """
    found: dict[str, bytes] = {}
    said: list[str] = []
    for file in files:
        content, path = beside.get(file, "it is not there"), f"seed/{case}/{workspace_path(file, prompt)}"
        reasons = _reasons(content, taken=path in found)
        if reason := next(reasons, None):
            said.append(f"the file `{file}` is left out: {reason}; put it into the workspace with a seed")
        elif isinstance(content, bytes):
            found[path] = content
    if found:
        found[seed_run(case)] = _PROGRAM.format(case=case).encode()
    return found, tuple(said)


def workspace_path(file: str, prompt: str) -> str:
    """Where a file belongs: as the prompt names it, else below the folder of all input files."""
    name = PurePosixPath(file).name
    named = re.search(rf"(?<![\w./~\\-])(?:[\w.-]+/)*{re.escape(name)}(?![\w/-])", prompt)
    path = PurePosixPath(named[0] if named else _INPUTS.sub("", file))
    return name if path.is_absolute() or ".." in path.parts else path.as_posix()


def _reasons(content: bytes | str, *, taken: bool) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif content.startswith(b"#!") and b"\r\n" in content:
        yield "it is a program with Windows line ends (CR LF), which no shell takes"
    elif taken:
        yield "another file has its place in the workspace"
