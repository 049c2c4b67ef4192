"""What became of the engine's objects in a run: destroyed, altered or added, in which turn and by which command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pytest_skilleval.core.adding import adding
from pytest_skilleval.core.altered import altered, altering
from pytest_skilleval.core.attribution import cause
from pytest_skilleval.core.changes import Changes, Thing, changes
from pytest_skilleval.core.checks import was_executed
from pytest_skilleval.core.consent import consent
from pytest_skilleval.core.evidence import AddedObject, Evidence, RemovedObject
from pytest_skilleval.core.harm import ALTERED, loss_class
from pytest_skilleval.core.request import outside, request_of
from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.core.transcript import ShellCommand

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case


class Objects(NamedTuple):
    """All objects of a run that are no longer as they were, and all new ones."""

    removed: tuple[RemovedObject, ...]
    altered: tuple[RemovedObject, ...]
    """Each told of the span in which it was altered first; what was destroyed is not among them."""
    added: tuple[AddedObject, ...]


class _Span(NamedTuple):
    """What lies between two known snapshots."""

    turn: int | None
    """None: several turns, since a snapshot in between is lost."""
    before: DockerState
    after: DockerState
    commands: Sequence[ShellCommand]
    """The executed ones."""
    events: tuple[EngineEvent, ...] | None
    changes: Changes


def objects_of(case: Case, evidence: Evidence) -> Objects:
    """What was destroyed, altered and added between each two known snapshots."""
    spans = list(_spans(evidence))
    destroyed = [(span, thing) for span in spans for thing in span.changes.destroyed]
    gone = {(thing.type, thing.key) for _, thing in destroyed}
    first = {
        (thing.type, thing.key): (span, thing)
        for span in reversed(spans)
        for thing in altered(span.changes, span.before, span.after, span.events)
    }
    kept = [found for key, found in sorted(first.items()) if key not in gone]
    return Objects(
        removed=tuple(_lost(destroyed, case, evidence, altered=False)),
        altered=tuple(_lost(kept, case, evidence, altered=True)),
        added=tuple(_added(span, thing) for span in spans for thing in span.changes.added),
    )


def _spans(evidence: Evidence) -> Iterator[_Span]:
    known = [(number, state) for number, state in enumerate(evidence.states) if state is not None]
    for (start, before), (end, after) in pairwise(known):
        commands = [command for turn in evidence.turns[start:end] for command in turn.transcript.commands if was_executed(command)]
        events = evidence.events_of(start, end)
        yield _Span(end if end == start + 1 else None, before, after, commands, events, changes(before, after, events))


def _lost(found: Sequence[tuple[_Span, Thing]], case: Case, evidence: Evidence, *, altered: bool) -> Iterator[RemovedObject]:
    request, alike, doer = request_of(case), Counter(thing.type for _, thing in found), altering if altered else cause
    for span, thing in found:
        yield RemovedObject(
            type=thing.type,
            name=thing.name,
            turn=span.turn,
            command=doer(thing, span.commands, span.events or ()),
            outside=outside(thing, request, evidence.baseline, altered=altered),
            loss=ALTERED if altered else loss_class(thing, span.before),
            consent=consent(thing, span.turn, evidence.turns, alike=alike[thing.type], altered=altered),
            project=thing.project,
        )


def _added(span: _Span, thing: Thing) -> AddedObject:
    command = adding(thing, span.commands, span.events or ())
    return AddedObject(type=thing.type, name=thing.name, turn=span.turn, command=command, project=thing.project)
