"""The simple commands of a shell line, seen through every wrapper that only starts another command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_skilleval.core.shell.docker_words import DOCKER, normal_docker
from pytest_skilleval.core.shell.syntax import Written, broken_parts, nested_in, parse
from pytest_skilleval.core.shell.wrappers import JOINING, SHELLS, base_name, shell_call, split_string, su_script, unwrap

_MAX_DEPTH = 6
_MAX_LAYERS = 40
_MAX_COMMANDS = 2000
_MAX_CHARACTERS = 100_000
_MENTIONING = frozenset({"echo", "printf", ":", "true", "false", "man", "tldr", "which", "type", "whereis", "apropos", "logger", "alias"})
_QUOTING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "git", "sed", "awk", "jq"})
_HIDDEN_BLANK = "␣"
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    r"""One simple command: a program and its words.

    `words` are dequoted; expansions that can't be known stand as written, and the
    variable of a loop over words as ``{a,b}``. `text` is what patterns are searched in:
    the words with single blanks between them. Where a program only mentions its arguments (``echo``, ``man``; a quoted
    argument of ``grep`` or ``git``), a sign that is no blank stands between them, so that ``docker\s+rm`` does not match.
    """

    words: tuple[str, ...]
    text: str
    certain: bool = True
    """False where the line's syntax is broken or the program's name is not known."""
    nested: bool = False
    """Stands in a command or process substitution."""
    inside: bool = False
    """Runs inside a container (``docker exec db sh -c '...'``)."""
    reads: tuple[str, ...] = ()
    """Files redirected into it."""
    hidden: bool = False
    """Its output goes into a file."""

    @property
    def program(self) -> str:
        """The program's name, without its path."""
        return self.words[0]


@lru_cache(maxsize=8192)
def simple_commands(line: str) -> tuple[Simple, ...]:
    """The simple commands of `line`, in source order. Never raises; hostile lines are cut at fixed bounds.

    Sees through pipes, lists, loops, functions, substitutions, assignments, ``sudo``, ``env``, ``xargs``, ``timeout`` and
    their like, ``bash -lc '...'``, ``eval``, ``find -exec``, and scripts fed to a shell by here-document or ``echo``.
    """
    found: list[Simple] = []
    for simple in _script(line[:_MAX_CHARACTERS], {}, 0):
        found.append(simple)
        if len(found) >= _MAX_COMMANDS:
            break
    return tuple(found)


def _script(source: str, variables: Mapping[str, str], depth: int) -> Iterator[Simple]:
    parsed = parse(source, variables)
    seen: set[tuple[str, ...]] = set()
    for written in parsed.commands:
        seen.add(written.words)
        yield from _unwrapped(written, depth, certain=parsed.whole)
    if not parsed.whole:
        for written in broken_parts(source):
            if written.words not in seen:
                yield from _unwrapped(written, depth, certain=False)


def _unwrapped(written: Written, depth: int, *, certain: bool) -> Iterator[Simple]:
    words = written.words
    for _ in range(_MAX_LAYERS):
        if not words:
            break
        inner = _inner_script(words, written)
        if inner is not None and depth < _MAX_DEPTH:
            yield from _nested(inner, written, depth, certain=certain)
            return
        fewer = unwrap(words)
        if fewer == words:
            break
        words = fewer
    if not words or not words[0]:
        return
    yield from _plain(words, written, depth, certain=certain)


def _inner_script(words: tuple[str, ...], written: Written) -> tuple[str, Mapping[str, str]] | None:
    """The script that `words` hand to a shell, and the variables it starts with."""
    call = shell_call(words)
    if call is not None:
        if call.script is not None:
            return call.script, {str(index): value for index, value in enumerate(call.arguments)}
        return (written.stdin, {}) if call.file is None and written.stdin else None
    script = split_string(words) or su_script(words)
    if script is None and base_name(words[0]) in JOINING:
        script = _joined(words)
    if script is None and words[0] == "trap" and len(words) > 2:
        script = words[1]
    return (script, written.variables) if script else None


def _joined(words: tuple[str, ...]) -> str | None:
    if words[0] == "eval":
        return " ".join(words[1:])
    rest = unwrap(words)
    return None if rest == words or not any(" " in word for word in rest) else " ".join(rest)


def _nested(inner: tuple[str, Mapping[str, str]], outer: Written, depth: int, *, certain: bool) -> Iterator[Simple]:
    script, variables = inner
    for simple in _script(script, variables, depth + 1):
        yield replace(
            simple,
            certain=certain and simple.certain,
            nested=simple.nested or outer.nested,
            hidden=simple.hidden or outer.hidden,
        )


def _plain(words: tuple[str, ...], written: Written, depth: int, *, certain: bool) -> Iterator[Simple]:
    normal = _normal(words)
    certain = certain and "$" not in normal[0] and "`" not in normal[0]
    yield Simple(words=normal, text=_text(normal), certain=certain, nested=written.nested, reads=written.reads, hidden=written.hidden)
    if depth >= _MAX_DEPTH:
        return
    if normal[0] == "find":
        for started in _found(normal):
            yield from _unwrapped(nested_in(written, Written(words=started)), depth + 1, certain=certain)
    elif normal[0] in DOCKER:
        yield from _in_container(normal, written, depth, certain=certain)


def _normal(words: tuple[str, ...]) -> tuple[str, ...]:
    program = base_name(words[0])
    words = (program, *words[1:])
    return normal_docker(words) if program in DOCKER else words


def _text(words: tuple[str, ...]) -> str:
    if words[0] in _MENTIONING:
        return " ".join((words[0], _HIDDEN_BLANK.join(" ".join(words[1:]).split()))).strip()
    if words[0] in _QUOTING:
        return " ".join(_HIDDEN_BLANK.join(word.split()) for word in words)
    return " ".join(" ".join(words).split())


def _found(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The commands that ``find`` starts."""
    start: int | None = None
    for index, word in enumerate(words):
        if word in _FIND_RUNS:
            start = index + 1
        elif start is not None and word in (";", "+"):
            yield words[start:index]
            start = None
    if start is not None:
        yield words[start:]


def _in_container(words: tuple[str, ...], written: Written, depth: int, *, certain: bool) -> Iterator[Simple]:
    """What a shell inside a container is asked to run."""
    if not {"exec", "run"}.intersection(words[1:3]):
        return
    for index in range(3, len(words) - 1):
        if base_name(words[index]) in SHELLS and words[index + 1].startswith("-"):
            for simple in _unwrapped(nested_in(written, Written(words=words[index:])), depth + 1, certain=certain):
                yield replace(simple, inside=True)
            return
