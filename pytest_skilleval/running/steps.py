"""What a run does inside its sandbox before the agent begins, as values: run by runs, told by dry runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_skilleval.core import arms
from pytest_skilleval.core.ports import AGENT_USER, Command, ExecResult, Sandbox, SandboxFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Files that go into the folder `into` as one tar archive, unpacked as `user`."""

    names: tuple[str, ...]
    archive: bytes = field(repr=False)
    into: str
    user: str = AGENT_USER


Step = Put | Command


def put(files: Iterable[SandboxFile], *, into: str, user: str = AGENT_USER) -> Put:
    """The step that puts `files`, their paths relative to `into`, there."""
    files = tuple(files)
    return Put(names=tuple(sorted(file.path for file in files)), archive=arms.tarball(files), into=into, user=user)


def take(sandbox: Sandbox, step: Step, *, timeout: float = 30.0) -> ExecResult | None:
    """Take one step; how it ended when it is a command (`timeout` in seconds).

    Raises
    ------
    SandboxError
        The sandbox is gone, or the files can't be unpacked.
    """
    if isinstance(step, Command):
        return sandbox.exec(step, timeout=timeout)
    sandbox.put(step.archive, into=step.into, user=step.user)
    return None


def told(step: Step) -> str:
    """The step as one line: argv and the names of what its environment needs, or the files, and the archive's size and SHA-256."""
    if isinstance(step, Command):
        names = [f"{name}=..." for name in sorted({*step.env, *step.env_secret})]
        return " ".join([*names, *map(_word, step.argv)]) + ("" if step.user == AGENT_USER else f"  # as {step.user}")
    size, digest = len(step.archive), arms.digest(step.archive)
    files = " ".join(map(shlex.quote, step.names))
    return f"tar -x -C {shlex.quote(step.into)}  # as {step.user}, {size} bytes, sha256 {digest}: {files}"


def _word(text: str) -> str:
    """One word of a command line in bash's own quotes; without line ends, whatever is in it."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(_ESCAPES.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}") for one in text) + "'"


_ESCAPES = {"\n": "\\n", "\t": "\\t", "'": "\\'", "\\": "\\\\"}
