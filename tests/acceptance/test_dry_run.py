"""What a dry run tells is what a session then does: sandbox, seed, arm and agent, command by command."""

from __future__ import annotations

import json
import re
import subprocess
import time

import pytest
from acceptance_project import SKILL, Project

from pytest_skilleval.sandboxes.engine.backend import default_cache
from tests import required

pytestmark = pytest.mark.engine

RECORDER = """
import hashlib, json
from pytest_skilleval.sandboxes.engine.sandbox import EngineSandbox

def kept(kind, method):
    def wrapped(self, *arguments, **named):
        note = {"kind": kind}
        if kind == "put":
            note |= {"into": named["into"], "user": named.get("user", "agent"), "size": len(arguments[0])}
            note |= {"sha256": hashlib.sha256(arguments[0]).hexdigest()}
        else:
            command = arguments[0]
            note |= {"argv": command.argv, "user": command.user, "names": sorted({*command.env, *command.env_secret})}
        with open(DONE, "a") as file:
            file.write(json.dumps(note) + "\\n")
        return method(self, *arguments, **named)
    return wrapped

EngineSandbox.put, EngineSandbox.exec = kept("put", EngineSandbox.put), kept("exec", EngineSandbox.exec)
"""
GUARD = "deny: [docker system prune, docker volume prune]\n"
PUT = re.compile(r"tar -x -C (\S+)  # as (\w+), (\d+) bytes, sha256 (\w{64}): ")
SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def told(output: str) -> list[str]:
    """The commands of a dry run, without their numbers."""
    lines = output[output.index("\nsandbox: ") : output.index("\nExit 0: ")].splitlines()[2:]
    commands = (re.sub(r"^  (sandbox|seed|arm|turn \d+) #\d+: ", "", line).strip() for line in lines)
    return [line for line in commands if not line.startswith(("as above: ", "1/", "2/", "warning: "))]


def words(line: str) -> list[str]:
    """A command line as bash reads it, its remark left out."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize("name", ["scripted", "claude-code", "codex"])
def test_a_dry_run_tells_what_the_session_then_does(project: Project, name: str) -> None:
    """Every command told is run, with the same words, variables and bytes; the run's own record tells how its sandbox was made."""
    required.program(name)
    project.edit(
        f"specs/{SKILL}/spec.yaml", "with: {role: treatment}", "with: {role: treatment, instructions: from-skill, guard: guard.yaml}"
    )
    (project.folder / "specs" / SKILL / "guard.yaml").write_text(GUARD)
    project.edit(f"specs/{SKILL}/seed/world.sh", "#!/bin/sh\n", f"#!/bin/sh\n# {project.folder} {time.time_ns()}\n")  # seeded by nobody yet
    done = project.folder / "done.jsonl"
    conftest = project.folder / "conftest.py"
    conftest.write_text(conftest.read_text() + RECORDER.replace("DONE", repr(str(done))))
    asked = ["--skill-case=tidy", "--skill-arms=with", *([] if name == "scripted" else ["--skill-model=scripted"])]

    dry = project.run("--skill-dry-run", *asked, agent=name)
    assert dry.returncode == 0, dry.stdout + dry.stderr
    assert not done.exists()
    assert not project.results.exists()
    assert project.left() == []
    real = project.run(*asked, agent=name)
    assert real.returncode == 0, real.stdout + real.stderr

    prepared = re.search(r"kept as prepared state (\w+)", dry.stdout)
    assert prepared
    kept = tuple((default_cache() / "prepared").glob(f"*/{prepared[1]}*"))
    assert len(kept) == 2, "the state and its note"
    for path in kept:
        path.unlink()
    commands = told(dry.stdout)
    [record] = project.records().values()
    sandbox = record["provenance"]["sandbox.command"].splitlines()
    assert [line for line in commands if line in sandbox] == sandbox
    notes = [json.loads(line) for line in done.read_text().splitlines()]
    put = {(note["into"], note["user"], str(note["size"]), note["sha256"]) for note in notes if note["kind"] == "put"}
    assert {found.groups() for line in commands if (found := PUT.match(line))} == put
    assert len(put) == 2, "the seed and the arm"
    ran = [[*(f"{one}=..." for one in note["names"]), *note["argv"]] for note in notes if note["kind"] == "exec"]
    ran += [[SESSION.sub("SESSION", word) for word in words] for words in ran]
    rest = [words(line) for line in commands if line not in sandbox and not PUT.match(line)]
    assert len(rest) == 4, "the seed, its removal, and two turns"
    assert [line for line in rest if line not in ran] == []
