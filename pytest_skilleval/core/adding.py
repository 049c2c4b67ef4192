"""Which command made an object that was not there before: a run, a build, a pull, Compose, or one that names it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_skilleval.core.attribution import Verbs, last_fitting

if TYPE_CHECKING:
    from pytest_skilleval.core.changes import Thing
    from pytest_skilleval.core.object_types import ObjectType
    from pytest_skilleval.core.snapshot import EngineEvent
    from pytest_skilleval.core.transcript import ShellCommand

_ALL: frozenset[ObjectType] = frozenset({"container", "volume", "image", "network"})
_RUN: frozenset[ObjectType] = frozenset({"container", "volume", "image"})
_IMAGE: frozenset[ObjectType] = frozenset({"image"})
_VERBS: Verbs = {
    **{(*before, verb): _RUN for verb in ("run", "create") for before in ((), ("container",))},
    **{(*before, verb): _IMAGE for verb in ("build", "pull", "load", "import") for before in ((), ("image",))},
    **dict.fromkeys((("buildx", "build"), ("builder", "build"), ("commit",), ("container", "commit")), _IMAGE),
    ("volume", "create"): frozenset({"volume"}),
    ("network", "create"): frozenset({"network"}),
    **{("compose", verb): _ALL for verb in ("up", "run", "create")},
    **{("compose", verb): _IMAGE for verb in ("build", "pull")},
}
_MAKING = frozenset({"create", "pull", "load", "import", "commit", "build", "tag"})


def adding(thing: Thing, commands: Iterable[ShellCommand], events: Iterable[EngineEvent]) -> str | None:
    """The line of the executed command that made `thing`; None when no command says so."""
    return last_fitting(thing, commands, events, _VERBS, _MAKING)
