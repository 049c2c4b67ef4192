#!/usr/bin/env python3
"""Make believable Docker state without a registry and without a network.

    seedkit names                          shell assignments of this run's names (from SEED_SKIN)
    seedkit load < RECIPE                  make the images of a recipe and load them
    seedkit rows COUNT                     COUNT lines of CSV, always the same
    seedkit expect KIND NAME... [STATE]    fail unless it is there; KIND: container, volume, image, network, dangling

docs/seeds.md has the whole story. Only modules of a minimal Python are used: a sandbox may have no more.
"""

# ruff: noqa: T201, PTH110, PTH123  (it is a shell tool, and pathlib is not in every minimal Python)

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import NoReturn

BUSYBOX = ("/bin/busybox", "/usr/bin/busybox", "/bin/busybox.static")
FOLDERS = ("bin", "data", "dev", "etc", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "usr/bin", "usr/sbin", "var", "var/log")
PASSWD = b"root:x:0:0:root:/root:/bin/sh\nservice:x:999:999:service:/data:/bin/sh\n"
GROUP = b"root:x:0:\nservice:x:999:\n"
BASE_DATE = "2024-11-26T18:04:51Z"
SIZES = {"k": 1 << 10, "m": 1 << 20}
PATIENCE = 20.0

Entry = tuple[str, bytes, "bytes | str", int]
"""One member of an archive: name, kind (``b"0"`` file, ``b"2"`` link, ``b"5"`` folder), content or target, mode."""


def die(message: str) -> NoReturn:
    """End with `message`; the runner shows it as the reason why the seed failed."""
    sys.exit(f"seedkit: {message}")


# --- tar and images ---------------------------------------------------------------------------------------


def header(name: str, kind: bytes, size: int, mode: int, target: str = "") -> bytes:
    """One ustar header of 512 bytes: no owner, no time, so that equal content gives equal bytes."""
    fields = (
        name.encode().ljust(100, b"\0"),
        b"%07o\0" % mode,
        b"0000000\0" * 2,
        b"%011o\0" % size,
        b"00000000000\0",
        b" " * 8,
        kind,
        target.encode().ljust(100, b"\0"),
        b"ustar\x0000",
    )
    block = b"".join(fields).ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def tar(entries: Iterable[Entry]) -> bytes:
    """A tar archive of `entries`, in their order."""
    parts: list[bytes] = []
    for name, kind, content, mode in entries:
        if len(name) > 100:
            die(f"path too long for the archive: {name}")
        if isinstance(content, bytes):
            parts += [header(name, kind, len(content), mode), content, b"\0" * (-len(content) % 512)]
        else:
            parts.append(header(name, kind, 0, mode, content))
    return b"".join(parts) + b"\0" * 1024


def busybox() -> tuple[str, bytes]:
    """The content of a statically linked busybox."""
    for path in filter(None, (os.environ.get("SEEDKIT_BUSYBOX"), *BUSYBOX)):
        if os.path.exists(path):
            with open(path, "rb") as file:
                content = file.read()
            if b"/lib64/ld-linux" in content[:4096] or b"/lib/ld-" in content[:4096]:
                continue
            return path, content
    die("no static busybox in this sandbox; install busybox-static or set SEEDKIT_BUSYBOX to one")


def base_layer() -> bytes:
    """Busybox, a link for each of its applets, and the folders that programs expect."""
    path, content = busybox()
    applets = subprocess.run([path, "--list"], capture_output=True, check=True, text=True).stdout.split()
    entries: list[Entry] = [(f"{folder}/", b"5", "", 0o1777 if folder == "tmp" else 0o755) for folder in FOLDERS]
    entries += [("etc/passwd", b"0", PASSWD, 0o644), ("etc/group", b"0", GROUP, 0o644)]
    entries.append(("bin/busybox", b"0", content, 0o755))
    entries += [(f"bin/{name}", b"2", "busybox", 0o777) for name in applets if name != "busybox"]
    return tar(entries)


def filler(label: str, size: int) -> bytes:
    """`size` bytes that look like packed data and depend on `label` only."""
    return hashlib.shake_128(label.encode()).digest(size)


def amount(text: str) -> int:
    """A size as ``300k`` or ``6m``, in bytes."""
    match = re.fullmatch(r"([1-9][0-9]*)([km])", text)
    return int(match[1]) * SIZES[match[2]] if match else die(f"not a size like 300k or 6m: {text}")


class Image:
    """One image of a recipe."""

    def __init__(self, tag: str) -> None:
        self.tags = None if tag == "-" else tag.split()
        self.created = BASE_DATE
        self.environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        self.config: dict[str, object] = {"WorkingDir": "/"}
        self.sets: dict[str, dict[str, object]] = {}
        self.entries: list[Entry] = []
        self.steps: list[str] = []

    def line(self, word: str, rest: str) -> None:
        """Take one line of the recipe into account."""
        if word == "created":
            self.created = rest
        elif word == "step":
            self.steps.append(rest)
        elif word == "cmd":
            self.config["Cmd"] = rest.split()
        elif word == "env":
            self.environment.append(rest)
        elif word == "workdir":
            self.config["WorkingDir"] = rest
        elif word == "volume":
            self.sets.setdefault("Volumes", {})[rest] = {}
        elif word == "label":
            key, _, value = rest.partition("=")
            self.sets.setdefault("Labels", {})[key] = value
        elif word == "port":
            self.sets.setdefault("ExposedPorts", {})[rest] = {}
        else:
            self.add(word, rest)

    def add(self, word: str, rest: str) -> None:
        """Take a line into account that puts a file into the image."""
        path, _, source = rest.partition(" ")
        name = path.lstrip("/")
        if word == "file":
            self.entries.append((name, b"0", source.encode() + b"\n", 0o644))
        elif word == "program":
            with open(source, "rb") as file:
                self.entries.append((name, b"0", file.read(), 0o755))
        elif word == "pad":
            label = " ".join(self.tags or [self.created])
            self.entries.append((name, b"0", filler(label, amount(source)), 0o644))
        else:
            die(f"recipe: unknown word {word!r}")

    def described(self, base: bytes) -> tuple[bytes, list[bytes]]:
        """Its config as bytes, and its layers."""
        layers = [base] + ([tar(sorted(self.entries))] if self.entries else [])
        history: list[dict[str, object]] = [{"created": BASE_DATE, "created_by": "/bin/sh -c #(nop) ADD file:rootfs.tar in / "}]
        steps = self.steps or (["COPY . / # buildkit"] if self.entries else [])
        for number, step in enumerate(steps, 1):
            entry: dict[str, object] = {"created": self.created, "created_by": step}
            history.append(entry if self.entries and number == 1 else {**entry, "empty_layer": True})
        config = {
            "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine),
            "os": "linux",
            "created": self.created,
            "config": {"Env": self.environment, **self.config, **self.sets},
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]},
            "history": history,
        }
        return json.dumps(config, sort_keys=True).encode(), layers


def parsed(recipe: str) -> list[Image]:
    """The images of a recipe: lines of a word and its value; ``image`` begins the next one."""
    images: list[Image] = []
    for number, line in enumerate(recipe.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            continue
        if word == "image":
            images.append(Image(rest.strip()))
        elif images:
            images[-1].line(word, rest.strip())
        else:
            die(f"recipe, line {number}: {word!r} before the first image")
    return images or die("recipe: no image in it")


def archive(images: list[Image]) -> bytes:
    """A docker-archive of all the images; untagged ones have null tags and are dangling once loaded."""
    base = base_layer()
    files: dict[str, bytes] = {}
    manifest: list[dict[str, object]] = []
    for image in images:
        config, layers = image.described(base)
        names = [hashlib.sha256(layer).hexdigest() + ".tar" for layer in layers]
        files.update(zip(names, layers, strict=True))
        config_name = hashlib.sha256(config).hexdigest() + ".json"
        files[config_name] = config
        manifest.append({"Config": config_name, "RepoTags": image.tags, "Layers": names})
    files["manifest.json"] = json.dumps(manifest).encode()
    return tar((name, b"0", content, 0o644) for name, content in files.items())


def load() -> None:
    """Load the images of the recipe on standard input into the engine."""
    images = parsed(sys.stdin.read())
    done = subprocess.run(["docker", "load", "--quiet"], input=archive(images), capture_output=True, check=False)
    if done.returncode:
        die("docker load: " + done.stderr.decode(errors="replace").strip())


# --- names and data ---------------------------------------------------------------------------------------


def names() -> None:
    """Print the skin's names as assignments, for ``eval``."""
    for key, value in json.loads(os.environ.get("SEED_SKIN") or "{}").items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            die(f"skin: not a shell name: {key!r}")
        print(f"{key}='" + str(value).replace("'", "'\\''") + "'")


def rows(count: str) -> None:
    """Print `count` CSV lines: number, customer, amount in cents, day."""
    for number in range(1, int(count) + 1):
        mark = hashlib.sha256(b"%d" % number).digest()
        cents = int.from_bytes(mark[2:4], "big") % 90000 + 500
        print(f"{number},c{int.from_bytes(mark[:2], 'big') % 4000:04d},{cents},2025-{mark[4] % 12 + 1:02d}-{mark[5] % 28 + 1:02d}")


# --- verification -----------------------------------------------------------------------------------------


def docker(*arguments: str) -> str | None:
    """The standard output of a docker command, or None when it failed."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def expect_containers(arguments: tuple[str, ...]) -> None:
    """Wait until the containers are in the state: ``running``, ``created``, ``paused``, ``exited`` or ``exited:CODE``."""
    *wanted, state = arguments
    template = "{{.State.Status}}:{{.State.ExitCode}}" if ":" in state else "{{.State.Status}}"
    deadline = time.monotonic() + PATIENCE
    while True:
        seen = docker("container", "inspect", "-f", template, *wanted)
        if seen is not None and set(seen.split()) == {state}:
            return
        if time.monotonic() > deadline:
            die(f"containers {' '.join(wanted)}: wanted {state}, found {seen or 'not all of them'}")
        time.sleep(0.05)


def expect_dangling(count: str) -> None:
    """Check how many images have no tag."""
    seen = docker("images", "-q", "--no-trunc", "-f", "dangling=true")
    found = len(set((seen or "").split()))
    if found != int(count):
        die(f"images without a tag: wanted {count}, found {found}")


def expect(kind: str, *arguments: str) -> None:
    """Fail unless the objects are there, containers in the state named last."""
    if kind == "container":
        expect_containers(arguments)
    elif kind == "dangling":
        expect_dangling(*arguments)
    elif docker(kind, "inspect", *arguments) is None:
        die(f"{kind}: not all of these are there: {' '.join(arguments)}")


COMMANDS: dict[str, Callable[..., None]] = {"names": names, "load": load, "rows": rows, "expect": expect}


def main(arguments: list[str]) -> None:
    """Carry out one command."""
    if not arguments or arguments[0] not in COMMANDS:
        die(f"one of {', '.join(COMMANDS)} is wanted")
    try:
        COMMANDS[arguments[0]](*arguments[1:])
    except TypeError as error:
        die(f"{arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
