"""The commands seen in a line are those that a real Bash starts."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skilleval.core.shell import simple_commands

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

STUB = """#!/bin/bash
[ $# -gt 0 ] && printf '%s\\0' "$@" >> "$LOG"
printf '\\n\\n' >> "$LOG"
"""
WORDS = [
    "rm",
    "-f",
    '"a b"',
    "'c d'",
    "e\\ f",
    "$'g\\th'",
    "pre\"mid\"'post'",
    "'it'\\''s'",
    "--flag=1",
    "a=b",
    '"q\\"q"',
    "é",
    "%s",
    "a#b",
    "#no",
]
LINES = st.recursive(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda words: "docker " + " ".join(words)),
    lambda inner: st.one_of(
        inner.map(lambda line: f"bash -c {shlex.quote(line)}"),
        inner.map(lambda line: f"eval {shlex.quote(line)}"),
        inner.map(lambda line: f"( {line}\n)"),
        inner.map(lambda line: f"{{ {line}\n}}"),
        inner.map(lambda line: f"if true; then {line}\nfi"),
        inner.map(lambda line: f"f() {{ {line}\n}}; f"),
        inner.map(lambda line: f': "$( \n{line}\n)"'),
        inner.map(lambda line: f"for x in one; do {line}\ndone"),
        inner.map(lambda line: f"cd / && {line}"),
        inner.map(lambda line: f"A=1 B='x y' env C=2 timeout 5 nice -n 1 bash -c {shlex.quote(line)}"),
        inner.map(lambda line: f"bash <<'END{len(line)}'\n{line}\nEND{len(line)}\n"),
        inner.map(lambda line: f"cat <<'END{len(line)}' | bash\n{line}\nEND{len(line)}\n"),
        inner.map(lambda line: f"printf '%s\\n' {shlex.quote(line)} | bash"),
        st.tuples(inner, inner).map("\n".join),
    ),
    max_leaves=3,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `docker` only writes down how it was called."""
    made = tmp_path_factory.mktemp("stub")
    (made / "docker").write_text(STUB)
    (made / "docker").chmod(0o755)
    return made


def started(line: str, folder: Path) -> set[tuple[str, ...]]:
    """The arguments of every `docker` that Bash starts for `line`."""
    log = folder / "log"
    log.write_bytes(b"")
    environment = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "LOG": str(log), "LC_ALL": "C.UTF-8"}
    subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=True)
    return {tuple(call.split("\0")[:-1]) for call in log.read_text().split("\n\n")[:-1]}


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES)
def test_what_is_seen_is_what_bash_starts(folder: Path, line: str) -> None:
    """Every call with its exact words, through any nesting of shell syntax and wrappers; and no other."""
    assert {simple.words[1:] for simple in simple_commands(line) if simple.program == "docker"} == started(line, folder)
