"""Where the values of a YAML file stand: every part of a document knows its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pytest_skilleval.core.errors import Fault

Where = tuple[str | int, ...]
"""Keys and indices from the top of a document to one value."""


def shown(file: Path) -> str:
    """How messages name a file: relative to the current folder where it lies below it."""
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def path_text(where: Where) -> str:
    """``$.cases[2].turns[0]`` for ("cases", 2, "turns", 0); empty for the top."""
    if not where:
        return ""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)


@dataclass(frozen=True)
class Document:
    """One YAML file: its value, and the line of every part of it.

    `faults` are those that leave the value readable (a repeated key); a file that can't be read raises instead.
    """

    file: str
    value: Any
    faults: tuple[Fault, ...] = ()
    compose: Callable[[], Node | None] = lambda: None
    """Makes the tree of nodes that tells where everything stands: only wanted where something is wrong."""
    lines: Mapping[Where, int] = field(default_factory=dict)
    """Lines that are known without the tree."""
    has_references: bool = True
    """Whether ``${`` occurs anywhere."""

    @cached_property
    def root(self) -> Node | None:
        """The tree of nodes."""
        return self.compose()

    def line(self, where: Where) -> int:
        """1-based line of the key or list entry at `where`, or of the nearest thing around it."""
        return self.lines.get(where) or _walk(self.root, where)[0]

    def source(self, where: Where) -> str | None:
        """The scalar at `where` as it is written, or None when there is no scalar."""
        node = _walk(self.root, where)[1]
        return node.value if isinstance(node, ScalarNode) else None

    def fault(self, where: Where, message: str) -> Fault:
        """A fault at `where`."""
        return Fault(self.file, self.line(where), path_text(where), message)


def _walk(node: Node | None, where: Where) -> tuple[int, Node | None]:
    line = 1
    for step in where:
        found = _child(node, step)
        if found is None:
            return line, None
        key, node = found
        line = key.start_mark.line + 1
    return line, node


def _child(node: Node | None, step: str | int) -> tuple[Node, Node] | None:
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    if isinstance(node, MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), None)
    return None


def paths_to(start: Node | None, target: Node, where: Where) -> Iterator[Where]:
    """Every way from `start` (itself at `where`) to the node `target`."""
    if start is target:
        yield where
    elif isinstance(start, SequenceNode):
        for index, entry in enumerate(start.value):
            yield from paths_to(entry, target, (*where, index))
    elif isinstance(start, MappingNode):
        for key, value in start.value:
            if key is target:
                yield (*where, str(key.value)) if isinstance(key, ScalarNode) else where
            else:
                yield from paths_to(value, target, (*where, str(key.value)))
