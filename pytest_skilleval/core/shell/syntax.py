"""The syntax of a shell line: its commands as written, in source order, from tree-sitter's Bash grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_skilleval.core.shell.characters import stood_in
from pytest_skilleval.core.shell.redirects import hides
from pytest_skilleval.core.shell.words import text_of, unescape_ansi, word_of, words_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_SUBSHELLS = frozenset({"subshell", "command_substitution", "process_substitution"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_ECHO_FLAGS = frozenset({"-e", "-n", "-en", "-ne"})
_PLAIN = re.compile(r"[^\s{},$`'\"\\]+")
_MAX_CHOICES = 50
_SEPARATORS = frozenset(";&|()\n")
_RESERVED = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "for", "case", "esac", "{", "}", "!"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One command as written: wrappers still on, quotes removed."""

    words: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables whose value is known where the command stands."""
    stdin: str | None = None
    """What is fed to it, where the line itself says so (here-document, ``echo ... |``)."""
    reads: tuple[str, ...] = ()
    """Files redirected into it."""
    nested: bool = False
    """Stands in a command or process substitution."""
    hidden: bool = False
    """Its output goes into a file."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """All commands of a source text; `whole` is False where its syntax is broken."""

    commands: tuple[Written, ...]
    whole: bool


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(source: str, variables: Mapping[str, str] | None = None) -> Parsed:
    """Every command of `source`, also those in pipes, lists, loops, functions and substitutions."""
    text = stood_in(source.replace("\r\n", "\n"))
    root = _parser().parse(text.encode("utf-8", "replace")).root_node
    commands = tuple(_Walk(dict(variables or {})).commands(root))
    return Parsed(commands, not root.has_error)


class _Walk:
    """One walk over a syntax tree, with an explicit stack: hostile nesting must not exhaust Python's."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.variables = variables
        self.fed: dict[int, str] = {}
        self.files: dict[int, tuple[str, ...]] = {}
        self.hidden: set[int] = set()

    def commands(self, root: Node) -> Iterator[Written]:
        stack: list[tuple[Node | dict[str, str], bool]] = [(root, False)]
        while stack:
            node, nested = stack.pop()
            if isinstance(node, dict):
                self.variables = node
                continue
            kind = node.type
            if kind == "command":
                yield from (self._command(node, part, nested=nested) for part in _lines(node))
            elif kind == "redirected_statement":
                self._redirects(node)
            elif kind == "pipeline":
                self._pipes([child for child in node.children if child.is_named])
            elif kind == "variable_assignment":
                self._assignment(node)
            elif kind == "for_statement":
                self._loop(node)
            if kind in _SUBSHELLS:
                stack.append((dict(self.variables), nested))
            nested = nested or kind in _SUBSTITUTIONS
            stack.extend((child, nested) for child in reversed(node.children) if child.is_named)

    def _command(self, node: Node, children: list[Node], *, nested: bool) -> Written:
        words: list[str] = []
        reads = list(self.files.get(node.id, ()))
        stdin, hidden = self.fed.get(node.id), node.id in self.hidden
        for child in children:
            if child.type == "file_redirect":
                hidden = hidden or hides(child, self.variables)
                reads.extend(self._read(child))
            elif child.type == "herestring_redirect":
                stdin = self._herestring(child)
            elif child.is_named and child.type not in ("variable_assignment", "ERROR"):
                words.extend(words_of(child.children[0] if child.type == "command_name" else child, self.variables))
        return Written(words=tuple(words), variables=dict(self.variables), stdin=stdin, reads=tuple(reads), nested=nested, hidden=hidden)

    def _redirects(self, node: Node) -> None:
        target = _first_command(node)
        if target is None:
            return
        for child in node.children:
            if child.type == "file_redirect":
                if hides(child, self.variables):
                    self.hidden.update(one.id for one in (target, *_piped(node)))
                self.files[target.id] = (*self.files.get(target.id, ()), *self._read(child))
            elif child.type == "herestring_redirect":
                self.fed[target.id] = self._herestring(child)
            elif child.type == "heredoc_redirect":
                self.fed[target.id] = _heredoc(child)
                self._piped_heredoc(child, target)

    def _piped_heredoc(self, heredoc: Node, source: Node) -> None:
        """In ``cat <<EOF | sh`` the grammar puts the pipe inside the here-document."""
        for child in heredoc.children:
            if child.type == "pipeline":
                self._pipes([source, *(part for part in child.children if part.is_named)])

    def _pipes(self, parts: list[Node]) -> None:
        for left, right in pairwise(parts):
            if left.type == "redirected_statement":
                self._redirects(left)
            source, target = _first_command(left), _first_command(right)
            if source is not None and target is not None and (text := self._printed(source)) is not None:
                self.fed[target.id] = text

    def _printed(self, node: Node) -> str | None:
        written = self._command(node, node.children, nested=False)
        if written.words[:1] == ("cat",) and len(written.words) == 1:
            return written.stdin
        return _echoed(written.words) if written.words[:1] == ("echo",) else _formatted(written.words)

    def _assignment(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        parent = node.parent
        if name is None or (parent is not None and parent.type == "command"):
            return
        literal = "" if value is None else word_of(value, self.variables)
        self._know(text_of(name), None if value is not None and value.type == "array" else literal)

    def _loop(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        if variable is not None:
            self._know(text_of(variable), _choice([word_of(value, self.variables) for value in values]))

    def _know(self, name: str, value: str | None) -> None:
        if value is None or "$" in value or "`" in value:
            self.variables.pop(name, None)
        else:
            self.variables[name] = value

    def _read(self, redirect: Node) -> tuple[str, ...]:
        destination = redirect.child_by_field_name("destination")
        if destination is None or not any(child.type == "<" for child in redirect.children):
            return ()
        return (word_of(destination, self.variables),)

    def _herestring(self, redirect: Node) -> str:
        return word_of(redirect.children[-1], self.variables)


def _echoed(words: tuple[str, ...]) -> str:
    flags = [word for word in words[1:2] if word in _ECHO_FLAGS]
    text = " ".join(words[1 + len(flags) :])
    return unescape_ansi(text) if flags and "e" in flags[0] else text


def _formatted(words: tuple[str, ...]) -> str | None:
    """What ``printf`` prints, where its format is plain text or ``%s``."""
    if words[:1] != ("printf",) or len(words) < 2:
        return None
    form = unescape_ansi(words[1])
    return "".join(form.replace("%s", word) for word in words[2:]) if "%s" in form else form


def _choice(values: list[str]) -> str | None:
    """What a loop's variable stands for: its one value, or all of them as the shell writes alternatives, ``{a,b}``."""
    if len(values) == 1:
        return values[0]
    plain = values and len(values) <= _MAX_CHOICES and all(value and _PLAIN.fullmatch(value) for value in values)
    return f"{{{','.join(values)}}}" if plain else None


def _lines(command: Node) -> list[list[Node]]:
    """The children of a command, line by line: where a line starts with a backslash, the grammar runs on into it."""
    lines: list[list[Node]] = [[]]
    for child in command.children:
        if child.type == "word" and text_of(child).startswith("\n"):
            lines.append([])
        lines[-1].append(child)
    return lines


def _first_command(node: Node) -> Node | None:
    """The command at the left end of `node`: the one that a pipe or redirection reaches.

    Of a list or pipeline it is the last member: there the grammar puts the redirection around the whole.
    """
    current: Node | None = node
    while current is not None and current.type != "command":
        named = [child for child in current.children if child.is_named]
        current = (named[-1] if current.type in ("list", "pipeline") else named[0]) if named else None
    return current


def _piped(redirected: Node) -> list[Node]:
    """The commands of the pipeline whose output a redirection takes."""
    body = redirected.children[0]
    parts = [part for part in body.children if part.is_named] if body.type == "pipeline" else []
    return [command for command in map(_first_command, parts) if command is not None]


def _heredoc(redirect: Node) -> str:
    body = next((text_of(child) for child in redirect.children if child.type == "heredoc_body"), "")
    if redirect.children[0].type == "<<-":
        return "\n".join(line.lstrip("\t") for line in body.split("\n"))
    return body


def broken_parts(source: str) -> Iterator[Written]:
    """Commands of a text that does not parse, split at separators only; an open quote swallows the rest."""
    words: list[str] = []
    comment = False
    for token in _tokens(source):
        if set(token) <= _SEPARATORS:
            yield Written(words=tuple(words))
            words = []
            comment = comment and "\n" not in token
        elif token.startswith("#") or comment:
            comment = True
        elif words or token not in _RESERVED:
            words.append(token)
    yield Written(words=tuple(words))


def _tokens(source: str) -> Iterator[str]:
    import shlex

    lexer = shlex.shlex(source, posix=True, punctuation_chars="".join(sorted(_SEPARATORS)))
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        yield from filter(None, lexer)
    except ValueError:
        if lexer.token:
            yield lexer.token


def nested_in(outer: Written, inner: Written) -> Written:
    """`inner`, found in a script that `outer` runs."""
    return replace(inner, nested=inner.nested or outer.nested, hidden=inner.hidden or outer.hidden)
