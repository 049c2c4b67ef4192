"""Redirections: whether what a command prints is still shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_skilleval.core.shell.words import text_of, word_of

if TYPE_CHECKING:
    from tree_sitter import Node

_WRITING = frozenset({">", ">>", ">|", "&>", "&>>"})
_SHOWN = frozenset({"/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"})


def hides(redirect: Node, variables: Mapping[str, str]) -> bool:
    """Whether `redirect` sends standard output into a file: not to where standard error goes, nor into another command."""
    descriptor, destination = redirect.child_by_field_name("descriptor"), redirect.child_by_field_name("destination")
    if destination is None or destination.type == "process_substitution" or (descriptor is not None and text_of(descriptor) != "1"):
        return False
    return any(child.type in _WRITING for child in redirect.children) and word_of(destination, variables) not in _SHOWN
