"""Cases out of the evals of other tools: assertions become claims for the judge, trigger entries trigger cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_skilleval.core.drafting.claims import judged, polarised
from pytest_skilleval.core.drafting.draft import Cases, DraftCase, Note
from pytest_skilleval.core.drafting.evals_entry import Entry, read_entry
from pytest_skilleval.core.drafting.evals_file import EvalsFile
from pytest_skilleval.core.drafting.evals_files import seed_run, seeded
from pytest_skilleval.core.drafting.surroundings import Surroundings
from pytest_skilleval.core.drafting.texts import Ids, literal
from pytest_skilleval.core.drafting.yaml_text import InlineMap


def evals_cases(evals: EvalsFile, around: Surroundings, ids: Ids) -> Cases:
    """The cases of an evals file, in order; an entry gives an outcome case, a trigger case, both, or a note why none."""
    cases: list[DraftCase] = []
    notes: list[Note] = list(evals.notes)
    for number, (line, raw) in enumerate(evals.entries, start=1):
        reader = _Reader(around, ids, f"case-{number}", evals.beside)
        cases += reader.cases(raw)
        notes += [Note(evals.file, line, f"entry {number}: {said}") for said in reader.said]
    return Cases(cases=tuple(cases), notes=tuple(notes))


class _Reader:
    """Makes the cases of one entry; `said` tells what was not carried over."""

    def __init__(self, around: Surroundings, ids: Ids, otherwise: str, beside: Mapping[str, bytes | str]) -> None:
        self.around = around
        self.ids = ids
        self.otherwise = otherwise
        self.beside = beside
        self.said: list[str] = []

    def cases(self, raw: object) -> Iterator[DraftCase]:
        if not isinstance(raw, dict):
            self.said.append("left out: it is no object with a prompt")
            return
        entry = read_entry(raw, self.around.skill.id)
        self.said += entry.problems
        if not entry.prompt:
            self.said.append("left out: it has no prompt (`prompt`, `question` or `query`)")
            return
        made = [*self._outcome(entry), *self._trigger(entry)]
        if not made and not (entry.should_load and self.around.skill.hidden):
            self.said.append("left out: it says neither what to expect nor whether the skill should load")
        yield from self._with_files(entry, made) if made and entry.files else made

    def _with_files(self, entry: Entry, made: list[DraftCase]) -> Iterator[DraftCase]:
        """The cases with a seed that puts the entry's files into the workspace; both cases of an entry share it."""
        first = str(made[0].data["id"])
        files, said = seeded(first, entry.prompt, entry.files, self.beside)
        self.said += said
        for case in made:
            head = {"id": case.data["id"], "kind": case.data["kind"]}
            seed = {"seed": InlineMap(run=seed_run(first))} if files else {}
            yield replace(case, data={**head, **seed, **case.data}, files=files)

    def _outcome(self, entry: Entry) -> Iterator[DraftCase]:
        checks = polarised(entry.wanted, entry.unwanted)
        comments: list[str] = []
        if entry.output and not checks:
            checks = {"must": judged([entry.output], "expected")}
        elif entry.output:
            comments.append(f"Expected: {entry.output}")
            self.said.append("the expected output is a comment only: the claims beside it are what is checked")
        if checks:
            data = {"id": self._id(entry), "kind": "outcome", "expects": "improve"}
            yield DraftCase(data={**data, "turns": ({"prompt": literal(entry.prompt), **checks},)}, comments=tuple(comments))

    def _trigger(self, entry: Entry) -> Iterator[DraftCase]:
        if entry.should_load is None:
            return
        if entry.should_load and self.around.skill.hidden:
            self.said.append("`should_trigger` is left out: the skill hides itself from agents, so it can never load by itself")
            return
        data: dict[str, Any] = {"id": self._id(entry, "trig-"), "kind": "trigger", "prompt": literal(entry.prompt)}
        data["should_load"] = entry.should_load
        if entry.owner in self.around.catalogue.skills:
            data["owner"] = entry.owner
        elif entry.owner:
            self.said.append(f"the skill `{entry.owner}` that should load instead is not in the catalogue, so the case names no `owner`")
        yield DraftCase(data=data)

    def _id(self, entry: Entry, prefix: str = "") -> str:
        name = entry.name or (" ".join(entry.prompt.split()[:6]) if prefix else "")
        return self.ids.fresh(f"{prefix}{name}" if name else "", f"{prefix}{self.otherwise}")
