"""The few system calls that Python's standard library does not offer (x86-64 and arm64)."""

from __future__ import annotations

import ctypes
import os
import platform
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_NUMBERS = {"x86_64": {"clone": 56, "pivot_root": 155}, "aarch64": {"clone": 220, "pivot_root": 41}}

# PyDLL keeps the interpreter lock over the call: a raw clone must not come back without it.
_libc = ctypes.PyDLL(None, use_errno=True)


def supported() -> bool:
    """Whether the system calls' numbers are known for this machine."""
    return platform.machine() in _NUMBERS


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(name: str, *arguments: object) -> int:
    return _check(_libc.syscall(_NUMBERS[platform.machine()][name], *arguments), name)


def clone(flags: int) -> int:
    """Fork into new namespaces; 0 in the child. Only for processes with a single thread."""
    return _syscall("clone", ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None)


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, flags: int) -> None:
    """Enter the namespaces `flags` of the process behind a pidfd, all at once."""
    _check(_libc.setns(descriptor, flags), "setns")


def die_with_parent() -> None:
    """Be killed when the parent's thread ends. A change of user forgets this."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")


def refuse_tracing() -> None:
    """Let nobody below the real root look into this process's memory and files."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0), "prctl")


def set_hostname(name: str) -> None:
    """Set the host name of this UTS namespace."""
    raw = name.encode()
    _check(_libc.sethostname(raw, len(raw)), "sethostname")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); raises OSError naming what could not be mounted where."""
    arguments = (source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None)
    _check(_libc.mount(*arguments), f"mount {kind or 'bind'} {source} on {target}")


def bind(source: str, target: str, *, read_only: bool = False) -> None:
    """Show `source` at `target` too."""
    mount(source, target, flags=MS_BIND)
    if read_only:
        mount("", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def unmount(target: str) -> None:
    """Detach what is mounted at `target`, now or when its last user goes."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def change_root(new_root: str) -> None:
    """Make `new_root` (a mount) the root of this mount namespace and let the old one go."""
    os.chdir(new_root)
    _syscall("pivot_root", b".", b".")
    unmount(".")
    os.chdir("/")
