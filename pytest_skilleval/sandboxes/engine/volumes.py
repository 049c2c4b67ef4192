"""A hash of a small volume's content, read from outside the sandbox.

The sandbox's root decides what its paths mean, so every step opens one name below an open
folder and follows no link: a hostile link can't lead the reader out.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, suppress

MAX_BYTES, MAX_FILES = 1 << 20, 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_VOLUMES = ("var", "lib", "docker", "volumes")


class TooLarge(Exception):
    """A volume holds more than is hashed."""


def fingerprint(pid: int, volume: str) -> str | None:
    """SHA-256 over the sorted relative paths, kinds and bytes in `volume` of the sandbox of `pid`.

    None when it holds more than `MAX_BYTES` bytes or `MAX_FILES` entries, or can't be read.
    """
    with ExitStack() as stack:
        try:
            folder = os.open(f"/proc/{pid}/root", os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, folder)
            for name in (*_VOLUMES, volume, "_data"):
                folder = os.open(name, _FOLDER, dir_fd=folder)
                stack.callback(os.close, folder)
            return hash_folder(folder)
        except (OSError, TooLarge):
            return None


def hash_folder(folder: int) -> str:
    """The hash of an open folder; raises OSError and TooLarge."""
    digest = hashlib.sha256()
    budget = [MAX_FILES, MAX_BYTES]
    for path, kind, content in sorted(_entries(folder, "", budget)):
        for part in (path.encode("utf-8", "surrogateescape"), kind, content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _entries(folder: int, prefix: str, budget: list[int]) -> Iterator[tuple[str, bytes, bytes]]:
    for name in os.listdir(folder):
        budget[0] -= 1
        if budget[0] < 0:
            raise TooLarge
        with suppress(FileNotFoundError):
            mode = os.lstat(name, dir_fd=folder).st_mode
            path = prefix + name
            if stat.S_ISDIR(mode):
                yield path, b"folder", b""
                yield from _below(folder, name, path + "/", budget)
            elif stat.S_ISREG(mode):
                yield path, b"file", _content(folder, name, budget)
            elif stat.S_ISLNK(mode):
                yield path, b"link", os.readlink(name, dir_fd=folder).encode("utf-8", "surrogateescape")
            else:
                yield path, b"other", b""


def _below(folder: int, name: str, prefix: str, budget: list[int]) -> Iterator[tuple[str, bytes, bytes]]:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield from _entries(inner, prefix, budget)
    finally:
        os.close(inner)


def _content(folder: int, name: str, budget: list[int]) -> bytes:
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
        data = file.read(budget[1] + 1)
    budget[1] -= len(data)
    if budget[1] < 0:
        raise TooLarge
    return data
