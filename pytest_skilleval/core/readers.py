"""Shell commands that print files, and ``cd``: what a command line reads, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_skilleval.core.loaded import SKILL_FILE
from pytest_skilleval.core.shell import Simple, simple_commands
from pytest_skilleval.core.skill_paths import is_glob

_PRINTING = frozenset(
    {
        "cat",
        "tac",
        "less",
        "more",
        "bat",
        "batcat",
        "nl",
        "head",
        "tail",
        "sed",
        "awk",
        "gawk",
        "fold",
        "fmt",
        "pr",
        "view",
        "glow",
        "pygmentize",
    }
)
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "ag"})
_INTERPRETERS = re.compile(r"^(?:python[\d.]*|node|deno|bun|perl|ruby|php)$")
_SILENT_SEARCH = re.compile(r"^-[A-Za-z]*[lLcq][A-Za-z]*$|^--(?:files|count|quiet)")
_PATH_IN_CODE = re.compile(r"[\w~./${}-]*" + re.escape(SKILL_FILE))
_NOT_SHOWING = frozenset({"wc", "md5sum", "sha1sum", "sha256sum", "cksum", "stat", "test", "mapfile", "readarray", "tar", "cp"})
_FEW_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One file that a command prints (`path`), or the folder that the shell goes to (`enters`)."""

    path: str = ""
    sure: bool = True
    enters: str | None = None

    @property
    def globbed(self) -> bool:
        """Whether the path may name several files."""
        return is_glob(self.path)


def reads_of(line: str) -> Iterator[Reading]:
    """What `line` prints, and where it goes, in order. Variables and other expansions stay in the paths."""
    for simple in simple_commands(line):
        if simple.inside:
            continue
        if simple.program in ("cd", "pushd"):
            yield Reading(enters=next((word for word in simple.words[1:] if not word.startswith("-")), "~"))
        elif not simple.hidden:
            yield from _reads(simple)


def _reads(simple: Simple) -> Iterator[Reading]:
    sure = not simple.nested and simple.certain
    words = simple.words[1:]
    if simple.program not in _NOT_SHOWING:
        yield from (Reading(path=path, sure=sure) for path in simple.reads)
    if simple.program in _PRINTING and not _edits(simple):
        yield from (Reading(path=word, sure=sure and not _glimpse(words)) for word in words if not word.startswith("-"))
    elif simple.program in _SEARCHING and not any(map(_SILENT_SEARCH.match, words)):
        yield from (Reading(path=word, sure=False) for word in words if word.endswith(SKILL_FILE))
    elif _INTERPRETERS.match(simple.program):
        yield from (Reading(path=path, sure=False) for word in words for path in _PATH_IN_CODE.findall(word))


def _edits(simple: Simple) -> bool:
    return simple.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in simple.words)


def _glimpse(words: tuple[str, ...]) -> bool:
    """Whether only the first or last few lines are printed: less than the skill's front-matter."""
    text = " ".join(words)
    match = re.search(r"(?:^|\s)(?:-n\s*|--lines[= ]|-)(\d+)(?=\s|$)", text)
    return match is not None and int(match[1]) <= _FEW_LINES
