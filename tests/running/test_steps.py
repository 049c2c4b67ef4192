"""What a dry run tells of one step can be read by a person, and by a shell; no value of a variable is in it."""

from __future__ import annotations

import subprocess

import pytest

from pytest_skilleval.core.arms import digest
from pytest_skilleval.core.ports import Command, SandboxFile
from pytest_skilleval.running.steps import put, told

WORDS = [
    "plain",
    "two words",
    "it's",
    "a\nb",
    "tab\there",
    "back\\slash\n",
    '$HOME `x` "q"',
    "\x1b[31m'",
    "Grüße\u2028ü",
    "",
    "# no remark",
    "-n",
]


@pytest.mark.parametrize("word", WORDS)
def test_a_command_is_one_line_that_bash_reads_back(word: str) -> None:
    """Whatever is in an argument, it arrives as it is, and the line holds no control character."""
    line = told(Command(argv=("printf", r"%s\0", word, "end")))

    assert line.isprintable()
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, timeout=10, check=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    )
    assert done.stdout.decode().split("\0") == [word, "end", ""]


def test_variables_are_named_and_not_told() -> None:
    """Names in order, secret ones among them; another user than the agent's is a remark."""
    command = Command(argv=("rm", "-rf", "/run/setup"), env={"B": "plain"}, env_secret={"A": "hidden"}, user="root")

    assert told(command) == "A=... B=... rm -rf /run/setup  # as root"


def test_files_are_told_by_name_size_and_hash() -> None:
    """The archive that is put is the one whose size and SHA-256 are told."""
    step = put([SandboxFile(path="b", content=b"2"), SandboxFile(path="a/with space", content=b"1")], into="/home/agent")

    size = len(step.archive)
    assert told(step) == f"tar -x -C /home/agent  # as agent, {size} bytes, sha256 {digest(step.archive)}: 'a/with space' b"
