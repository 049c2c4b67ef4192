"""Generated right ways: what was written to pass, said in other words; no check may condemn them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pytest_skilleval.core.generated.routes import as_script
from pytest_skilleval.core.generated.wrong import unique, written_right
from pytest_skilleval.core.spec import Makes, Rehearsal, RehearsalTurn

if TYPE_CHECKING:
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.spec import Case

Lines = tuple[str, ...]
_LOOK: Lines = ("docker ps -a", "docker volume ls")
_LOOK_AGAIN: Lines = ("docker system df", "docker images", "docker network ls")
_SIMPLE = re.compile(r"docker(?: [\w./:=@,${}-]+)+\Z")
"""A plain docker command: words without quotes and operators. ``${`` is a name of the skin."""


def right_ways(loaded: LoadedSpec, case: Case) -> Iterator[Rehearsal]:
    """Every written right way of the case in at least seven other wordings."""
    seed = loaded.spec.seed_of(case)
    makes = seed.makes if seed else Makes()
    taken: dict[str, int] = {}
    for base in written_right(case):
        for how, wording in _WORDINGS.items():
            turns = tuple(_reworded(turn, number, wording, makes) for number, turn in enumerate(base.turns))
            yield _like(base, how, turns, taken)
        if case.expects == "hold":
            yield from (_like(base, how, turns, taken) for how, turns in _asking_and_acting(case, base))


def _like(base: Rehearsal, how: str, turns: tuple[RehearsalTurn, ...], taken: dict[str, int]) -> Rehearsal:
    return Rehearsal(id=unique(f"gen-right-{base.id[:32].strip('-')}-{how}", taken), plays=base.plays, expect="pass", turns=turns)


def _reworded(turn: RehearsalTurn, number: int, wording: Callable[[Lines, Makes], Lines], makes: Makes) -> RehearsalTurn:
    """Reading commands before what is run in the first turn give every wording something to word."""
    lines = (*_LOOK, *turn.run) if number == 0 else turn.run
    return turn.model_copy(update={"run": wording(lines, makes)})


def _asking_and_acting(case: Case, base: Rehearsal) -> Iterator[tuple[str, tuple[RehearsalTurn, ...]]]:
    """Asking first, of one that acts; acting at once, of one that asks: both are the same to a case that expects no change."""
    if len(case.turns) == 2 and len(base.turns) == 1:
        yield "asked", (RehearsalTurn(load=base.turns[0].load, run=_LOOK, reply="Shall I do that?"), base.turns[0])
    if len(case.turns) == 2 and len(base.turns) == 2 and base.turns[1].run:
        first, second = base.turns
        yield "at-once", (second.model_copy(update={"load": first.load, "run": (*first.run, *second.run)}),)


def _each(word: Callable[[str], str]) -> Callable[[Lines, Makes], Lines]:
    return lambda lines, _: tuple(map(word, lines))


def _plain(word: Callable[[str], str]) -> Callable[[Lines, Makes], Lines]:
    """Change plain docker commands only."""
    return _each(lambda line: word(line) if _SIMPLE.match(line) else line)


def _by_xargs(line: str) -> str:
    words = line.split()
    return f"printf '%s\\n' {words[-1]} | xargs {' '.join(words[:-1])}"


def _by_id(lines: Lines, makes: Makes) -> Lines:
    """Ids in place of names; volumes have none."""
    kinds = {
        **dict.fromkeys(makes.images, "image"),
        **dict.fromkeys(makes.networks, "network"),
        **dict.fromkeys(makes.containers, "container"),
    }

    def word(text: str) -> str:
        return f"\"$(docker {kinds[text]} inspect -f '{{{{.Id}}}}' {text})\"" if text in kinds else text

    return tuple(" ".join(map(word, line.split())) if _SIMPLE.match(line) else line for line in lines)


_WORDINGS: dict[str, Callable[[Lines, Makes], Lines]] = {
    "looking": lambda lines, _: (*_LOOK_AGAIN, *lines, *_LOOK_AGAIN),
    "bash": _each(lambda line: f"bash -lc {shlex.quote(line)}"),
    "sudo": _each(lambda line: f"sudo bash -c {shlex.quote(line)}"),
    "xargs": _plain(_by_xargs),
    "broken-lines": _plain(lambda line: " \\\n  ".join(line.split(" "))),
    "ids": _by_id,
    "python": _each(lambda line: f"python3 -c {shlex.quote(f'import subprocess; subprocess.run({line!r}, shell=True)')}"),
    "script": lambda lines, _: as_script(lines) if lines else lines,
    "one-line": lambda lines, _: (" ; ".join(lines),) if lines else lines,
}
