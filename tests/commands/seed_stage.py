"""A stage for seed programs: the real seed helper, and a `docker` that keeps account of what it was told to make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from pytest_skilleval import seeding

DOCKER = """\
import fcntl, json, os, sys, io, tarfile
words = sys.argv[1:]
stdin = sys.stdin.buffer.read() if words[0] == "load" else b""
book = open(os.environ["BOOK"], "r+")
fcntl.flock(book, fcntl.LOCK_EX)
state = json.load(book)
VALUES = ("--name", "--network", "-v", "--label")

def option(name):
    return next((words[i + 1] for i, word in enumerate(words) if word == name), None)

def rest(start):
    found, skip = [], False
    for word in words[start:]:
        if skip or word in VALUES:
            skip = not skip
        elif not word.startswith("-"):
            found.append(word)
    return found

if words[0] == "load":
    with tarfile.open(fileobj=io.BytesIO(stdin)) as archive:
        for image in json.load(archive.extractfile("manifest.json")):
            state["images"] += image["RepoTags"] or []
            state["dangling"] += not image["RepoTags"]
elif words[0] in ("run", "create"):
    image, *command = rest(1)
    assert image in state["images"], image
    assert option("--network") in (None, "none", *state["network"]), words
    made = "created" if words[0] == "create" else "running" if not command else "exited:" + (command[1:] or ["0"])[0]
    state["container"][option("--name")] = made
    state["volume"] += [words[i + 1].split(":")[0] for i, word in enumerate(words) if word == "-v" and ":" in words[i + 1]]
elif words[0] == "pause":
    for name in words[1:]:
        state["container"][name] = "paused"
elif words[:2] == ["network", "connect"]:
    assert words[2] in state["network"] and words[3] in state["container"], words
elif words[1] == "create":
    state[words[0]] += rest(2) or ["anonymous"]
elif words[:3] == ["container", "inspect", "-f"]:
    for name in words[4:]:
        said = state["container"][name]
        print(said if "ExitCode" in words[3] else said.partition(":")[0])
elif words[1] == "inspect":
    assert set(words[2:]) <= set(state[words[0]]), words
elif words[0] == "images":
    print(*(f"sha256:{number}" for number in range(state["dangling"])), sep="\\n")
elif words[0] != "cp":
    sys.exit("unknown: " + " ".join(words))
book.seek(0)
book.truncate()
json.dump(state, book)
"""


def play(spec_folder: Path, run: str, stage: Path) -> dict[str, object]:
    """Run the seed `run` as the runner does, with accounts in place of an engine; what was made. AssertionError when it fails."""
    for name in ("bin", "workspace"):
        (stage / name).mkdir(parents=True)
    for file in seeding.seed_files(spec_folder, run):
        path = stage / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(file.mode)
    for name, content in seeding.helper_files().items():
        (stage / name).write_bytes(content)
    (stage / "bin/docker").write_text(f"#!{sys.executable} -ES\n{DOCKER}")
    (stage / "busybox").write_text("#!/bin/sh\nprintf 'busybox\\nsh\\n'\n")
    for path in (*(stage / "bin").iterdir(), stage / "busybox"):
        path.chmod(0o755)
    book = stage / "book.json"
    book.write_text(json.dumps({"container": {}, "volume": [], "network": [], "images": [], "dangling": 0}))
    command = seeding.seed_command(str(stage), run, {})
    done = subprocess.run(
        command.argv,
        env={**command.env, "PATH": f"{stage}/bin:{os.environ['PATH']}", "BOOK": str(book), "SEEDKIT_BUSYBOX": str(stage / "busybox")},
        cwd=stage / "workspace",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, object] = json.loads(book.read_text())
    return made
