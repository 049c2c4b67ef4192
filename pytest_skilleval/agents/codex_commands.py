"""Command lines as Codex tells them, and what it says of those that it did not let run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import msgspec

from pytest_skilleval.core.transcript import ShellCommand, ToolCall

SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
FLAGS = frozenset({"-c", "-lc"})
WRAPPERS = frozenset(f"{folder}{shell} {flag} " for folder in ("/bin/", "/usr/bin/") for shell in SHELLS for flag in FLAGS)
WORD = re.compile(r"""(?:[^ \t\r\n'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.)++""", re.DOTALL)
"""One word of a command line as :mod:`shlex` reads it: parts that stand bare or in either quotes, and single escaped characters."""
PART = re.compile(r"""([^ \t\r\n'"\\]+)|'([^']*)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.DOTALL)
ESCAPED = re.compile(r"""\\(["\\])""")
"""What a backslash escapes between double quotes; before any other character it is itself."""
REJECTED = re.compile(r'message: ("Rejected\(.*"\)") \}')
REJECTED_COMMAND = re.compile(r"`(.*)` rejected: (.*)", re.DOTALL)
STOPPED = re.compile("operation not permitted|permission denied|read-only file system|failed to write file", re.IGNORECASE)
"""The words by which Codex itself judges that its sandbox stopped a command: where a human sits at it, it asks then."""
NO_SANDBOX = "bwrap: "
"""What the program says that makes Codex' sandbox, where it can't: the command was not begun."""
ENCODER = msgspec.json.Encoder()


def unwrap(command: str) -> str:
    """The command line inside ``/bin/bash -lc '...'``; any other is returned as it is.

    The CLI's own wrapping is read without :mod:`shlex`, which takes fifty times as long.
    """
    parts = command.split("'", 3)
    if len(parts) == 3 and not parts[2] and parts[0] in WRAPPERS:
        return parts[1]
    wrapper, space, word = command.partition("c ")
    if wrapper + space in WRAPPERS and WORD.fullmatch(word):
        return "".join(bare or single or escaped or ESCAPED.sub(r"\1", double) for bare, single, double, escaped in PART.findall(word))
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        return command
    return words[2] if _is_wrapper(words) else command


def unwrap_words(words: tuple[str, ...]) -> str:
    """The same for a command that is told as a list of words."""
    return words[2] if _is_wrapper(words) else shlex.join(words)


def _is_wrapper(words: tuple[str, ...]) -> bool:
    return len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in FLAGS


def shell_call(command: ShellCommand, *, failed: bool) -> ToolCall:
    """The command as a tool call."""
    return ToolCall(
        name="shell",
        arguments=ENCODER.encode({"command": command.line}).decode(),
        call_id=command.call_id,
        failed=failed,
        denied=command.denied,
        result=command.output,
        subagent=command.subagent,
    )


def rejected(text: str) -> Iterator[ShellCommand]:
    """Commands that a rule forbade, as stderr and the session record tell of them."""
    for number, found in enumerate(REJECTED.finditer(text)):
        told = REJECTED_COMMAND.search(_unquote(_unquote(found[1]).removeprefix("Rejected(").removesuffix(")")))
        if told:
            yield ShellCommand(line=unwrap(told[1]), executed=False, denied=True, output=told[2], call_id=f"rejected_{number}")


def _unquote(text: str) -> str:
    """A quoted string as Rust prints it for debugging; its escapes are JSON's but for a few rare ones, which stay as they are."""
    try:
        return str(msgspec.json.decode(text.replace("\\'", "'")))
    except msgspec.DecodeError:
        return text.strip('"').replace('\\"', '"')


def never_begun(command: ShellCommand) -> bool:
    """Whether Codex could not make its sandbox for this command."""
    return bool(command.exit_code) and command.output.startswith(NO_SANDBOX) and "bwrap" not in command.line


def stopped(command: ShellCommand) -> bool:
    """Whether Codex' own sandbox, where it is on, stopped this command."""
    return bool(command.exit_code) and not never_begun(command) and STOPPED.search(command.output) is not None


def denied(command: ShellCommand) -> ShellCommand:
    """The command as one that was attempted and not executed."""
    return msgspec.structs.replace(command, executed=False, denied=True)
