"""Programs that only start another command: what is left when they are taken off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "fish"})
_SHELL_VALUE_FLAGS = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """How to find the wrapped command: flags that take a value, and words before the command."""

    values: frozenset[str] = frozenset()
    positional: int = 0
    asks_only: frozenset[str] = frozenset()
    """Flags with which nothing is started."""


def _wrapper(values: str = "", positional: int = 0, asks_only: str = "") -> _Wrapper:
    return _Wrapper(frozenset(values.split()), positional, frozenset(asks_only.split()))


_SUDO = _wrapper(
    "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --close-from --command-timeout --chroot --chdir --role --type",
    asks_only="-l -v -V --list --validate --version",
)
_WRAPPERS = {
    "sudo": _SUDO,
    "doas": _wrapper("-u -C"),
    "env": _wrapper("-u -C --unset --chdir"),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "unbuffer": _wrapper(),
    "coproc": _wrapper(),
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("-t -w"),
    "command": _wrapper(asks_only="-v -V"),
    "exec": _wrapper("-a"),
    "time": _wrapper("-f -o --format --output"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n --class --classdata", asks_only="-p --pid"),
    "timeout": _wrapper("-s -k --signal --kill-after", positional=1),
    "gtimeout": _wrapper("-s -k --signal --kill-after", positional=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "taskset": _wrapper(positional=1, asks_only="-p --pid"),
    "flock": _wrapper("-w -E --timeout --conflict-exit-code", positional=1),
    "gosu": _wrapper(positional=1),
    "strace": _wrapper("-e -o -p -s -u"),
    "xargs": _wrapper("-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --max-chars --arg-file --process-slot-var"),
    "parallel": _wrapper("-j -I -n -N --jobs --colsep --delay --timeout"),
    "watch": _wrapper("-n --interval", asks_only="-v --version"),
}
JOINING = frozenset({"watch", "parallel", "eval"})
"""Wrappers that hand their words, joined, to a shell."""


def base_name(program: str) -> str:
    """``/usr/bin/docker`` -> ``docker``; what is not a path stays."""
    name = program.rsplit("/", 1)[-1]
    return name or program


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """`words` without one layer of wrapper or leading assignments; the same words when there is none.

    A wrapper that starts nothing (``command -v docker``, a bare ``xargs``) is left as it is.
    """
    if words and _ASSIGNMENT.match(words[0]):
        return _without_assignments(words)
    wrapper = _WRAPPERS.get(base_name(words[0])) if words else None
    if wrapper is None:
        return words
    rest = _behind_flags(words[1:], wrapper)
    if rest is None:
        return words
    return _without_assignments(rest)[wrapper.positional :] or words


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    start = 0
    while start < len(words) and _ASSIGNMENT.match(words[start]):
        start += 1
    return words[start:]


def _behind_flags(words: tuple[str, ...], wrapper: _Wrapper) -> tuple[str, ...] | None:
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] != "-":
        flag = words[index]
        if flag in wrapper.asks_only:
            return None
        index += 2 if flag in wrapper.values else 1
        if flag == "--":
            break
    return words[index:]


def split_string(words: tuple[str, ...]) -> str | None:
    """The script in ``env -S "..."`` (``--split-string``), joined with what follows; None where there is none."""
    if not words or base_name(words[0]) != "env":
        return None
    for index, word in enumerate(words[1:], 1):
        if word in ("-S", "--split-string", "-vS", "-iS"):
            return " ".join(words[index + 1 :])
        if word.startswith("--split-string="):
            return " ".join((word.partition("=")[2], *words[index + 1 :]))
        if not word.startswith("-"):
            break
    return None


@dataclass(frozen=True, slots=True)
class ShellCall:
    """How a shell was called: with a script (``-c``), with a file, or to read its standard input (neither)."""

    script: str | None = None
    arguments: tuple[str, ...] = ()
    """``$0``, ``$1`` ... of the script."""
    file: str | None = None


def shell_call(words: tuple[str, ...]) -> ShellCall | None:
    """What the shell in ``words[0]`` was asked to run; None when ``words[0]`` is no shell."""
    if not words or base_name(words[0]) not in SHELLS:
        return None
    index, takes_script, reads_stdin = 1, False, False
    while index < len(words) and words[index][:1] in ("-", "+") and words[index] not in ("-", "--"):
        flag = words[index]
        short = flag[:1] == "-" and flag[1:2] != "-"
        takes_script = takes_script or (short and "c" in flag) or flag == "--command"
        reads_stdin = reads_stdin or (short and "s" in flag)
        index += 2 if flag in _SHELL_VALUE_FLAGS else 1
    rest = words[index + 1 :] if words[index : index + 1] in (("-",), ("--",)) else words[index:]
    if takes_script:
        return ShellCall(script=rest[0], arguments=rest[1:]) if rest else ShellCall()
    return ShellCall(file=rest[0]) if rest and not reads_stdin else ShellCall()


def su_script(words: tuple[str, ...]) -> str | None:
    """The script in ``su [user] -c "..."``, ``runuser`` or ``script -c``; None where there is none."""
    if words and base_name(words[0]) in ("su", "runuser", "script"):
        for flag, value in pairwise(words):
            if flag in ("-c", "--command", "-qc"):
                return value
    return None
