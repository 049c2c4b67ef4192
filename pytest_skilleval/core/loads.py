"""Which skills were loaded in a turn: by the skill tool, by a file tool, or by a shell command that prints SKILL.md.

Only a successful load of a file ``<skills folder>/<skill>/SKILL.md`` counts. Listing, counting, copying and searching for such
files is no load, nor is reading all of them in one sweep (exploration), nor a command that ended and printed no words, or
printed the file into another one. Where the evidence allows two readings (a search, a glimpse, a script, a command whose end was
not seen) the load is not `sure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import normpath

from pytest_skilleval.core.evidence import Loaded
from pytest_skilleval.core.ports import AGENT_HOME
from pytest_skilleval.core.readers import reads_of
from pytest_skilleval.core.skill_paths import SkillPaths
from pytest_skilleval.core.transcript import ShellCommand, TurnTranscript

_SWEEP = 3
"""From so many skills on, one command that reads every installed skill is exploration."""


def skill_loads(
    transcript: TurnTranscript, turn: int, *, folders: Iterable[str], catalogue: frozenset[str], home: str = AGENT_HOME
) -> tuple[Loaded, ...]:
    """The skill loads of one turn, each skill once per way it was seen, sure ones first.

    Parameters
    ----------
    transcript
        What the agent did.
    turn
        1-based number, put into the result.
    folders
        The arm's skills folders: absolute, or relative to `home`.
    catalogue
        Ids of the skills that may be installed: what a glob can match.
    home
        HOME of the agent.
    """
    paths = SkillPaths.of(folders, catalogue, home)
    found = [
        *(
            Loaded(skill=call.name.rpartition(":")[2], how="tool", turn=turn, sure=":" not in call.name)
            for call in transcript.skill_calls
            if call.ok
        ),
        *(Loaded(skill=skill, how="file", turn=turn) for skill in _files(transcript, paths)),
        *(Loaded(skill=read.skill, how="shell", turn=turn, sure=read.sure) for read in _shell(transcript, paths)),
    ]
    unique = {(one.skill, one.how): one for one in sorted(found, key=lambda one: one.sure)}
    return tuple(sorted(unique.values(), key=lambda one: (not one.sure, found.index(one))))


def _files(transcript: TurnTranscript, paths: SkillPaths) -> Iterator[str]:
    for read in transcript.reads:
        if read.ok:
            yield from paths.skills(read.path, transcript.offered.cwd)


@dataclass(frozen=True, slots=True)
class _Read:
    skill: str
    sure: bool


def _shell(transcript: TurnTranscript, paths: SkillPaths) -> Iterator[_Read]:
    """Loads by shell commands.

    Some agents keep the shell's folder from one command to the next, some do not: what only a kept folder explains is not sure.
    """
    kept = transcript.offered.cwd
    for command in transcript.commands:
        fresh, left = _command(command, paths, transcript.offered.cwd)
        carried, kept = (fresh, left) if kept == transcript.offered.cwd else _command(command, paths, kept)
        sure = {read.skill: read for read in fresh}
        yield from fresh
        yield from (_Read(read.skill, sure=False) for read in carried if read.skill not in sure)


def _command(command: ShellCommand, paths: SkillPaths, cwd: str | None) -> tuple[list[_Read], str | None]:
    if not command.executed or command.denied:
        return [], cwd
    found: list[_Read] = []
    for read in reads_of(command.line):
        if read.enters is not None:
            cwd = normpath(paths.absolute(read.enters, cwd) or "")
            continue
        skills = () if _failed(command, read.path) or _silent(command) else paths.skills(read.path, cwd)
        if _explores(skills, paths, swept=read.globbed):
            continue
        found.extend(_Read(skill, sure=read.sure and _shown(command)) for skill in skills)
    everything = len({read.skill for read in found}) >= max(_SWEEP, len(paths.catalogue))
    return ([] if everything else found), cwd


def _explores(skills: tuple[str, ...], paths: SkillPaths, *, swept: bool) -> bool:
    return swept and len(skills) > 1 and len(paths.catalogue) > 1


def _failed(command: ShellCommand, path: str) -> bool:
    """Whether the command's output says that this file could not be read, or there is nothing to show for it."""
    if command.exit_code not in (0, None) and not command.output.strip():
        return True
    return any(path in line and any(word in line for word in _COMPLAINTS) for line in command.output.splitlines())


def _silent(command: ShellCommand) -> bool:
    """Whether the command has ended and printed nothing that a skill's text could be: the model was shown none of it."""
    return command.exit_code is not None and not command.background and not _shown(command)


def _shown(command: ShellCommand) -> bool:
    """Whether the command printed something like prose: not nothing, and not a mere count."""
    return any(len(word) > 2 and word.isalpha() for word in command.output.split())


_COMPLAINTS = ("No such file", "Permission denied", "Not a directory", "cannot open", "can't read", "can't open")
