"""What stands where a plain file belongs: folders, pipes, sockets, devices, links that lead nowhere. Nothing is ever opened."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import Final

_REPLACE: Final = "put a plain file in its place"
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def no_plain_file(path: Path) -> str | None:
    """What `path` is, and what to do; None for a plain file or a link to one, and where there is nothing at all."""
    try:
        kind = _KINDS.get(stat.S_IFMT(path.stat().st_mode))
    except (OSError, ValueError) as error:
        return _broken_link(path, error)
    return kind and f"{'leads to' if path.is_symlink() else 'is'} {kind}; {_REPLACE}"


def _broken_link(path: Path, error: OSError | ValueError) -> str | None:
    try:
        target = path.readlink()
    except (OSError, ValueError):
        return None
    circle = isinstance(error, OSError) and error.errno == errno.ELOOP
    where = "in a circle" if circle else f"nowhere (to `{target}`)"
    return f"is a link that leads {where}; correct or remove it"
