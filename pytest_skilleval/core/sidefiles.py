"""The files beside a spec: seeds, skins, guards, instructions, runbook. Each must lie in the spec's folder or the catalogue."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pytest_skilleval.core.catalogue import Catalogue
from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.frontmatter import split
from pytest_skilleval.core.guard import guard_of
from pytest_skilleval.core.lint.words import giveaway_message, giveaways
from pytest_skilleval.core.loaded import SKILL_FILE, Skin
from pytest_skilleval.core.plain_files import no_plain_file
from pytest_skilleval.core.positions import Document, Where, shown
from pytest_skilleval.core.reading import decode, parse_document, read_bytes
from pytest_skilleval.core.runbook import gaps, parse_runbook
from pytest_skilleval.core.shape import Cuts
from pytest_skilleval.core.skins import skins_of
from pytest_skilleval.core.spec import Seed, Spec

FROM_SKILL = "from-skill"


@dataclass(kw_only=True)
class SideFiles:
    """What the files said; a file with faults is missing here (skins are empty then) and its faults stand in `faults`."""

    files: dict[str, bytes] = field(default_factory=dict)
    skins: tuple[Skin, ...] = (Skin(),)
    guards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    instructions: dict[str, bytes] = field(default_factory=dict)
    runbook: dict[int, str] | None = None
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)


def read_side_files(spec: Spec, folder: Path, catalogue: Catalogue, document: Document, cuts: Cuts) -> SideFiles:
    """Read and check every file that `spec` refers to; paths start at `folder`."""
    reader = _Reader(spec, folder, catalogue, document, cuts)
    seeds = [(("seed",), spec.seed), *((("cases", index, "seed"), case.seed) for index, case in enumerate(spec.cases))]
    for where, seed in seeds:
        if seed is not None:
            reader.seed(seed, where)
    if spec.seed and spec.seed.skins is not None:
        reader.skins(spec.seed.skins)
    for name in spec.arms:
        reader.arm(name)
    if spec.runbook is not None:
        reader.runbook(spec.runbook)
    reader.result.warnings += _own_skill_problems(spec, catalogue)
    return reader.result


def _own_skill_problems(spec: Spec, catalogue: Catalogue) -> Iterator[Fault]:
    if spec.skill in catalogue.skills:
        yield from catalogue.skills[spec.skill].problems


class _Reader:
    def __init__(self, spec: Spec, folder: Path, catalogue: Catalogue, document: Document, cuts: Cuts) -> None:
        self.spec = spec
        self.folder = folder
        self.catalogue = catalogue
        self.document = document
        self.cuts = cuts
        self.result = SideFiles()
        self.allowed = (folder.resolve(), catalogue.folder.resolve())

    def seed(self, seed: Seed, where: Where) -> None:
        known = seed.run in self.result.files
        program = self._content(seed.run, (*where, "run"))
        if program is None or known:
            return
        self.result.faults += _program_faults(program, self._shown(seed.run))
        beside = () if _lies_alone(self.folder, seed.run) else tuple(_beside(self.folder, seed.run))
        for name in _files(beside):
            content = self._content(name, (*where, "run"))
            if content is not None and content.startswith(b"#!"):
                self.result.faults += _line_end_faults(content, self._shown(name))
        for name, odd in _left_out(beside):
            message = f"the seed's folder can't go into a sandbox whole: `{name}` {odd}"
            self.result.faults.append(self.document.fault(self.cuts.original((*where, "run")), message))

    def skins(self, name: str) -> None:
        self.result.skins = ()
        document = self._document(name, ("seed", "skins"))
        if document is None:
            return
        skins, faults = skins_of(document)
        for index, skin in enumerate(skins):
            for key, value in skin.names.items():
                faults = (*faults, *(document.fault((index, "names", key), giveaway_message(word)) for word in giveaways(value, self.spec)))
        self.result.faults += faults
        self.result.skins = skins

    def arm(self, name: str) -> None:
        arm = self.spec.arms[name]
        if arm.guard is not None:
            document = self._document(arm.guard, ("arms", name, "guard"))
            if document is not None:
                self.result.guards[name], faults = guard_of(document)
                self.result.faults += faults
        if arm.instructions == FROM_SKILL:
            skill = self.catalogue.skills.get(self.spec.skill)
            self.result.instructions[name] = split(skill.files[SKILL_FILE][1]).body if skill else b""
        elif arm.instructions is not None:
            self._instructions(name, arm.instructions)

    def _instructions(self, arm: str, file: str) -> None:
        content = self._content(file, ("arms", arm, "instructions"))
        if content is None:
            return
        if not content.strip():
            self.result.faults.append(Fault(self._shown(file), 1, "", "is empty; write what the agent is to be told"))
        self.result.faults += _null_faults(content, self._shown(file))
        try:
            decode(content, self._shown(file))
        except SpecError as error:
            self.result.faults += error.faults
        self.result.instructions[arm] = content

    def runbook(self, file: str) -> None:
        content = self._content(file, ("runbook",))
        if content is None:
            return
        self.result.faults += _null_faults(content, self._shown(file))
        try:
            prompts = parse_runbook(decode(content, self._shown(file)), self._shown(file))
        except SpecError as error:
            self.result.faults += error.faults
        else:
            self.result.runbook = {prompt.number: prompt.title for prompt in prompts}
            self.result.warnings += gaps(prompts, self._shown(file))

    def _document(self, name: str, where: Where) -> Document | None:
        content = self._content(name, where)
        try:
            return None if content is None else parse_document(content, self._shown(name))
        except SpecError as error:
            self.result.faults += error.faults
            return None

    def _content(self, name: str, where: Where) -> bytes | None:
        """The bytes of a file that the spec names at `where`; None, with a fault noted there, when it can't be had."""
        if name in self.result.files:
            return self.result.files[name]
        if problem := self._problem(name):
            self.result.faults.append(self.document.fault(self.cuts.original(where), problem))
            return None
        try:
            self.result.files[name] = read_bytes(self.folder / name)
        except SpecError as error:
            said = error.faults[0].message
            self.result.faults.append(self.document.fault(self.cuts.original(where), f"the file `{name}` {said}"))
            return None
        return self.result.files[name]

    def _problem(self, name: str) -> str | None:
        try:
            target = Path(os.path.realpath(self.folder / name))
            if not any(target.is_relative_to(folder) for folder in self.allowed):
                return f"`{name}` lies outside the spec's folder; move the file there"
            if target.is_dir():
                return f"`{name}` is a folder; name a file in it"
            if odd := no_plain_file(self.folder / name):
                return f"`{name}` {odd}"
            return None if target.exists() else f"there is no file `{name}` in the spec's folder; add it, or correct its name"
        except (OSError, ValueError):
            return f"`{name}` is no name of a file; write one like seed/make.sh"

    def _shown(self, name: str) -> str:
        return shown(self.folder / name)


def seed_file_names(folder: Path, run: str) -> tuple[str, ...]:
    """The files that go into the sandbox with the seed `run`: all in its folder; the program alone when it lies beside the spec."""
    return (run,) if _lies_alone(folder, run) else _files(_beside(folder, run))


def _files(beside: Iterable[tuple[Path, str]]) -> tuple[str, ...]:
    return tuple(sorted(name for path, name in beside if path.is_file()))


def _left_out(beside: Iterable[tuple[Path, str]]) -> Iterator[tuple[str, str]]:
    """(name, what it is) of all that is neither a file nor a folder of its own."""
    for path, name in beside:
        if (odd := no_plain_file(path)) and (path.is_symlink() or not path.is_dir()):
            yield name, odd


def _lies_alone(folder: Path, run: str) -> bool:
    return os.path.realpath((folder / run).parent) == os.path.realpath(folder)


def _beside(folder: Path, run: str) -> Iterator[tuple[Path, str]]:
    """All in the folder of the seed `run`, with its name from the spec's folder."""
    inside = (path for path in (folder / run).parent.rglob("*") if "__pycache__" not in path.parts)
    return ((path, path.relative_to(folder).as_posix()) for path in inside)


def _line_end_faults(program: bytes, file: str) -> Iterator[Fault]:
    if b"\r\n" in program:
        line = program.count(b"\n", 0, program.index(b"\r\n")) + 1
        yield Fault(
            file, line, "", "has Windows line ends (CR LF), which no shell takes; save it with LF (`git config core.autocrlf input`)"
        )


def _null_faults(content: bytes, file: str) -> Iterator[Fault]:
    if b"\0" in content:
        yield Fault(file, content.count(b"\n", 0, content.index(b"\0")) + 1, "", "holds the control character U+0000; remove it")


def _program_faults(program: bytes, file: str) -> Iterator[Fault]:
    yield from _line_end_faults(program, file)
    yield from _null_faults(program, file)
    if not program.strip():
        yield Fault(file, 1, "", "is empty; write a program that builds the Docker state and verifies that it did")
    elif program.startswith(b"\xef\xbb\xbf"):
        yield Fault(file, 1, "", "begins with a byte-order mark, which hides from the system what runs it; save it as UTF-8 without one")
    elif not program.startswith(b"#!"):
        yield Fault(file, 1, "", "does not say what runs it; begin with a line such as `#!/bin/sh`")
