"""Which command did it to an object: by its words, and by time where both command and event tell it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytest_skilleval.core.changes import DESTROYING, Thing
from pytest_skilleval.core.object_types import BUILD_CACHE, ObjectType
from pytest_skilleval.core.shell import Simple, simple_commands, spread
from pytest_skilleval.core.snapshot import EngineEvent
from pytest_skilleval.core.transcript import ShellCommand

Verbs = Mapping[tuple[str, ...], frozenset[ObjectType]]
"""Docker's commands, and the types of object they do something to."""

_ALL: frozenset[ObjectType] = frozenset({"container", "volume", "image", "network"})
_VERBS: Verbs = {
    ("rm",): frozenset({"container", "volume"}),
    ("container", "rm"): frozenset({"container", "volume"}),
    ("container", "remove"): frozenset({"container", "volume"}),
    ("container", "prune"): frozenset({"container"}),
    ("stop",): frozenset({"container", "volume"}),
    ("kill",): frozenset({"container", "volume"}),
    ("container", "stop"): frozenset({"container", "volume"}),
    ("container", "kill"): frozenset({"container", "volume"}),
    ("rmi",): frozenset({"image"}),
    ("image", "rm"): frozenset({"image"}),
    ("image", "remove"): frozenset({"image"}),
    ("image", "prune"): frozenset({"image"}),
    ("volume", "rm"): frozenset({"volume"}),
    ("volume", "remove"): frozenset({"volume"}),
    ("volume", "prune"): frozenset({"volume"}),
    ("network", "rm"): frozenset({"network"}),
    ("network", "remove"): frozenset({"network"}),
    ("network", "prune"): frozenset({"network"}),
    ("system", "prune"): _ALL | {BUILD_CACHE},
    ("builder", "prune"): frozenset({BUILD_CACHE}),
    ("buildx", "prune"): frozenset({BUILD_CACHE}),
    ("compose", "down"): _ALL,
    ("compose", "rm"): frozenset({"container", "volume"}),
    ("compose", "up"): frozenset({"container", "volume", "network"}),
    ("compose", "create"): frozenset({"container", "volume", "network"}),
    ("stack", "rm"): _ALL,
}
_SWEEPING = frozenset({"prune", "down", "up", "load", "import"})
_SWEEPING_COMPOSE = frozenset({"create", "run", "build", "pull"})
_NAMING: Mapping[tuple[str, ...], tuple[frozenset[str], frozenset[ObjectType]]] = {
    **dict.fromkeys(
        (("run",), ("create",), ("container", "run"), ("container", "create")),
        (frozenset({"--name"}), frozenset({"container", "volume"})),
    ),
    **dict.fromkeys(
        (("build",), ("image", "build"), ("buildx", "build"), ("builder", "build")), (frozenset({"-t", "--tag"}), frozenset({"image"}))
    ),
}
"""Options that name what a verb makes; without them it may have made any object of these types."""
_MIN_ID = 4
_NAMED, _SWEPT, _UNRELATED = 2, 1, 0
_HARMLESS = frozenset(
    {"cat", "cd", "date", "df", "docker", "docker-compose", "du", "echo", "false", "grep", "head", "jq", "ls", "printf", "pwd", "sleep"}
    | {"sort", "tail", "true", "wc"}
)
"""Programs that do nothing to the engine, or whose words tell what they do. Any other may hide it: a script, an interpreter, ``curl``."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    command: ShellCommand
    rank: int


def cause(thing: Thing, commands: Iterable[ShellCommand], events: Iterable[EngineEvent]) -> str | None:
    """The line of the executed command that destroyed `thing`; None when no command says so."""
    return last_fitting(thing, commands, events, _VERBS, DESTROYING)


def last_fitting(
    thing: Thing, commands: Iterable[ShellCommand], events: Iterable[EngineEvent], verbs: Verbs, actions: Collection[str]
) -> str | None:
    """The line of the executed command that did one of `verbs` to `thing`, which events call one of `actions`; None: none did.

    Where the event and the commands have times, the command that was under way when it happened, even if only a script that
    it runs says so; else the last fitting one before. Without times the first that names the object, else the first that sweeps
    objects of its type.
    """
    ranked = [_Candidate(command, _rank(command.line, thing, verbs)) for command in commands]
    when = max((event.at for event in events if _tells(event, thing, actions)), default=None)
    if when is not None and (doing := _under_way(ranked, when)):
        return doing.line
    fitting = [one for one in ranked if one.rank]
    before = [one for one in fitting if when is not None and one.command.at is not None and one.command.at <= when]
    if before:
        return max(before, key=lambda one: (one.command.at or 0.0, one.rank)).command.line
    best = max(fitting, key=lambda one: one.rank, default=None)
    return best.command.line if best else None


def _under_way(ranked: Iterable[_Candidate], when: float) -> ShellCommand | None:
    """Of the commands that were under way at the time, the last that fits best; one that may hide what it does, if it is the only one."""
    then = [one for one in ranked if one.command.at is not None and one.command.at <= when <= (one.command.until or math.inf)]
    fitting = max((one for one in then if one.rank), key=lambda one: (one.rank, one.command.at), default=None)
    if fitting:
        return fitting.command
    hiding = [one.command for one in then if _may_hide(one.command.line)]
    return hiding[0] if len(hiding) == 1 else None


def _may_hide(line: str) -> bool:
    """Whether its words don't tell all that it does to the engine; what runs inside a container does nothing to it."""
    return any(simple.program not in _HARMLESS and not simple.inside for simple in simple_commands(line))


def _tells(event: EngineEvent, thing: Thing, actions: Collection[str]) -> bool:
    """Whether it says that one of `actions` was done to `thing`. Some call an image by its tag; the cache is only ever pruned."""
    if thing.type == BUILD_CACHE:
        return (event.type, event.action) == ("builder", "prune")
    named = event.id == thing.key or (thing.type == "image" and event.id in thing.names)
    return event.action in actions and event.type == thing.type and named


def _rank(line: str, thing: Thing, verbs: Verbs) -> int:
    return max((_simple_rank(simple, thing, verbs) for simple in simple_commands(line)), default=_UNRELATED)


def _simple_rank(simple: Simple, thing: Thing, verbs: Verbs) -> int:
    words = _docker_words(simple)
    verb = next((verb for verb in (words[:1], words[:2]) if verb in verbs), None)
    if verb is None or thing.type not in verbs[verb] or (thing.type == "volume" and _spares_volumes(verb, words)):
        return _UNRELATED
    targets = [target for word in words[len(verb) :] if not word.startswith("-") for target in spread(word)]
    if any(_names(word, thing) for word in (*targets, *_within(words[len(verb) :], thing.type))):
        return _NAMED
    if verb[0] == "compose" and thing.service in targets:
        return _NAMED
    open_ended = not targets or any("$" in word or "`" in word or "{}" in word for word in targets)
    return _SWEPT if open_ended or _sweeps(verb) or _leaves_unnamed(verb, words, thing) else _UNRELATED


def _within(words: tuple[str, ...], kind: ObjectType) -> Iterator[str]:
    """Names inside a word: ``--name=db``; of a volume also ``db-data:/var/lib`` and ``type=volume,source=db-data``."""
    yield from (word.partition("=")[2] for word in words if word.startswith("-"))
    if kind == "volume":
        yield from (part for word in words for part in re.split("[:,=]", word))


def _sweeps(verb: tuple[str, ...]) -> bool:
    return verb[-1] in _SWEEPING or (verb[0] == "compose" and verb[-1] in _SWEEPING_COMPOSE)


def _leaves_unnamed(verb: tuple[str, ...], words: tuple[str, ...], thing: Thing) -> bool:
    naming, types = _NAMING.get(verb, (frozenset(), frozenset()))
    return thing.type in types and not any(word.partition("=")[0] in naming for word in words)


def _spares_volumes(verb: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """``system prune`` and ``compose down`` take volumes only when told to."""
    return verb in {("system", "prune"), ("compose", "down")} and not {"-v", "--volumes"} & set(words)


def _docker_words(simple: Simple) -> tuple[str, ...]:
    if simple.program == "docker-compose":
        return ("compose", *simple.words[1:])
    return simple.words[1:] if simple.program == "docker" else ()


def _names(word: str, thing: Thing) -> bool:
    return word in thing.names or (len(word) >= _MIN_ID and thing.key.removeprefix("sha256:").startswith(word.removeprefix("sha256:")))
