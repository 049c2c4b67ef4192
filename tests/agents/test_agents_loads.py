"""A hundred ways to load, list, mention or fail to load a skill, carried out by the real CLIs and held against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest
from agent_driving import BODY, SKILL, Bench, script

from pytest_skilleval.core import model_requests
from pytest_skilleval.core.dose import dose
from pytest_skilleval.core.evidence import Evidence, Loaded, TurnEvidence
from pytest_skilleval.core.loads import skill_loads
from pytest_skilleval.core.loads_and_dose import Held, held_against_dose
from pytest_skilleval.core.transcript import ShellCommand, TurnTranscript
from pytest_skilleval.gateway.scripted.script import ScriptTurn

pytestmark = pytest.mark.npm

OTHERS = ("other-skill", "third-skill")
CATALOGUE = frozenset({SKILL, *OTHERS})
TARGET = 0.98

LOADS = (
    "cat {P}",
    "cat '{P}'",
    'cat "$HOME/{S}/{N}/SKILL.md"',
    "cat ~/{S}/{N}/SKILL.md",
    "cat ~/{S}/careful*/SKILL.md",
    "cat -n {P}",
    "cat -A {P}",
    "nl -ba {P}",
    "head -n 100 {P}",
    "head -100 {P}",
    "head -c 10000 {P}",
    "tail -n +1 {P}",
    "sed -n '1,200p' {P}",
    "sed '' {P}",
    "awk '{{print}}' {P}",
    "grep '' {P}",
    "grep -n . {P}",
    "less {P}",
    "more {P}",
    "tac {P}",
    "cat {P} | head -80",
    "cat {P} | sed 's/^/> /'",
    "cat < {P}",
    "cat {P} 2>/dev/null",
    "cat {P} 2>&1 | cat",
    "ls {D} && cat {P}",
    "cat {P}; ls",
    "pwd; cat {P}",
    "cd {D} && cat SKILL.md",
    "cd {D}; cat ./SKILL.md",
    "(cd {D} && head -50 SKILL.md)",
    "cd {D}/.. && cat {N}/SKILL.md",
    'bash -c "cat {P}"',
    "bash -lc 'cat {P}'",
    "sh -c 'cd {D} && cat SKILL.md'",
    'F={P}; cat "$F"',
    "D={D} && cat $D/SKILL.md",
    "for f in {P}; do cat $f; done",
    "if [ -f {P} ]; then cat {P}; fi",
    "test -f {P} && cat {P}",
    "false || cat {P}",
    "python3 -c \"print(open('{P}').read())\"",
    "cat {P} {P}.missing 2>/dev/null",
    "echo reading; command cat {P}",
    "env LC_ALL=C cat {P}",
    "timeout 5 cat {P}",
    "cat {D}/../{N}/SKILL.md",
    "cat \\\n  {P}",
    "{{ cat {P}; }}",
    "cat {P} | tee /dev/stderr | head -5",
)

NO_LOADS = (
    "ls {D}",
    "ls -la {P}",
    "find ~/{S} -name SKILL.md",
    "find ~/{S} -type f | head",
    "wc -l {P}",
    "wc -c < {P}",
    "stat {P}",
    "file {P}",
    "test -f {P} && echo there",
    "[ -e {P} ] && echo there",
    "md5sum {P}",
    "sha256sum {P}",
    "grep -c Ask {P}",
    "grep -l Ask {P}",
    "grep -q Ask {P} && echo yes",
    "cp {P} /tmp/copy-of-it-{N}; rm /tmp/copy-of-it-{N}",
    "du -h {P}",
    "basename {P}",
    "dirname {P}",
    "realpath {P}",
    "echo 'cat {P}'",
    'echo "see {P} for more"',
    "printf '%s\\n' {P}",
    "# cat {P}",
    "true || cat {P}",
    "false && cat {P}",
    "cat {P} > /dev/null",
    "cat {P}.missing",
    "cat {D}/MISSING.md",
    "cat /nonexistent/{N}/SKILL.md",
    "cat ~/{S}/no-such-skill/SKILL.md",
    "cat {O}",
    "head -40 {O}",
    "cd ~/{S}/other-skill && cat SKILL.md",
    "cat ~/{S}/*/SKILL.md",
    "head -n 3 ~/{S}/*/SKILL.md",
    "for f in ~/{S}/*/SKILL.md; do cat $f; done",
    "cat copy/{N}/SKILL.md",
    "cat copy/SKILL.md",
    "ls ~/{S}/*/",
    "touch {D}/note; rm {D}/note",
    "tar cf /dev/null -C {D} .",
    "cat notes-about-{N}.md",
    "echo {N}",
    "docker --help > /dev/null 2>&1; echo {N}",
    "git status 2>/dev/null; ls",
    "diff -q {P} {P}",
    "cmp {P} {P}",
    "head -c 0 {P}",
    "cat {D} 2>&1",
    "cat {P} > /dev/null; echo done",
    "cat {P} > copied.txt && wc copied.txt",
    "cat {P} | wc -l",
    "cat {P} | md5sum",
    "cat {P} &> /dev/null; ls",
    "bash -c 'cat {P}' >> copied.txt; echo appended",
    "head -n 0 {P}; echo nothing",
)

WAYS = (*LOADS, *NO_LOADS)

ALTERED = ("cat -A {P}", "cat {P} | sed 's/^/> /'")
"""Loads whose every line comes before the model changed, so that the gateway does not know it again."""
SWEEPS = ("cat ~/{S}/*/SKILL.md", "for f in ~/{S}/*/SKILL.md; do cat $f; done")
"""Exploration, which shows the model the whole text."""


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """One way as it was carried out: the load that the stream shows, and what is left of it beside the gateway's dose."""

    way: str
    loads: bool
    """The truth."""
    without: tuple[Loaded, ...]
    beside: Held


def carried_out(one: Bench) -> list[Carried]:
    """All ways, carried out by the real CLI in one turn; the next turn's first request shows what its model was told of each."""
    one.install()
    for skill in OTHERS:
        one.install(skill, body=f"# {skill}\n\nThis is the text of {skill}.\nIt has nothing to do with anything else.\n")
    (one.workspace / "copy" / SKILL).mkdir(parents=True)
    for path in (f"copy/{SKILL}/SKILL.md", "copy/SKILL.md", f"notes-about-{SKILL}.md"):
        (one.workspace / path).write_text("Name exactly what is lost before anything is deleted.\n")
    roots = one.agent.skills_folder
    folder = one.home / roots / SKILL
    told = {"P": folder / "SKILL.md", "D": folder, "N": SKILL, "S": roots, "O": one.home / roots / "other-skill" / "SKILL.md"}
    lines = [way.format(**told).strip() for way in WAYS]
    one.open(script(ScriptTurn(run=tuple(lines), reply="Done."), ScriptTurn(reply="Yes.")))
    (seen,) = one.agent.supplement([one.turn("Go.", timeout=240).transcript], one.records())
    assert seen.failure is None
    assert [command.line.strip() for command in seen.commands] == lines
    one.turn("Go on.")
    (body,) = [call.body for call in one.requests() if call.turn == 2 and call.body]
    shown = [dose(BODY, model_requests.strings(result)) for result in results(model_requests.decode(body.encode()))]
    return [held(one, way, seen, command, share) for way, command, share in zip(WAYS, seen.commands, shown, strict=True)]


def results(body: model_requests.Body) -> Iterator[object]:
    """What the model was told of its tool calls, in order, by either API."""
    for item in model_requests.items(body):
        if str(item.get("type")).endswith("_call_output"):
            yield item
        if isinstance(content := item.get("content"), list):
            yield from (block for block in content if block.get("type") == "tool_result")


def held(one: Bench, way: str, seen: TurnTranscript, command: ShellCommand, share: float) -> Carried:
    """A run in which nothing but this command happened, and its text came before the model."""
    alone = msgspec.structs.replace(seen, commands=(command,), reads=(), skill_calls=())
    found = skill_loads(alone, 1, folders=[one.agent.skills_folder], catalogue=CATALOGUE, home=str(one.home))
    evidence = Evidence(baseline=None, turns=(TurnEvidence(prompt="Go.", transcript=alone, after=None, dose=share),), shown_dose=0.0)
    beside = held_against_dose(found, evidence, SKILL)
    return Carried(way=way, loads=way in LOADS, without=tuple(load for load in found if load.skill == SKILL), beside=beside)


def wrong(ways: list[Carried], judged: Callable[[Carried], bool]) -> list[str]:
    """The ways that are judged wrong; sensitivity and specificity must reach the target all the same."""
    missed = [one.way for one in ways if one.loads and not judged(one)]
    imagined = [one.way for one in ways if not one.loads and judged(one)]
    assert 1 - len(missed) / len(LOADS) >= TARGET, missed
    assert 1 - len(imagined) / len(NO_LOADS) >= TARGET, imagined
    return missed + imagined


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_loads_by_shell_are_told_from_everything_else(bench: Callable[..., Bench], name: str) -> None:
    """Over a hundred shell commands sensitivity and specificity are at least .98 with each CLI, with the gateway's dose and without it.

    Without it, a load counts however unsure, and what is judged wrong was not sure; with it, only one that is sure counts.
    """
    assert min(len(LOADS), len(NO_LOADS)) >= 50
    ways = carried_out(bench(name))
    mistaken = wrong(ways, lambda one: bool(one.without))
    assert not [one for one in ways if one.way in mistaken and any(load.sure for load in one.without)]
    wrong(ways, lambda one: any(load.sure and load.skill == SKILL for load in one.beside.loads))
    assert {one.way for one in ways if one.beside.disagreement} == {*ALTERED, *SWEEPS}


def test_loads_by_tool(bench: Callable[..., Bench]) -> None:
    """Claude Code's Skill tool and its file tool are loads; an unknown skill and another skill's file are none of this one."""
    one = bench("claude-code")
    for skill in (SKILL, *OTHERS):
        one.install(skill)
    folder = one.home / one.agent.skills_folder
    turns = (
        ScriptTurn(run=("true",), reply="1"),
        ScriptTurn(load=True, reply="2"),
        ScriptTurn(read=(str(folder / SKILL / "SKILL.md"),), reply="3"),
        ScriptTurn(read=(str(folder / "other-skill" / "SKILL.md"),), reply="4"),
        ScriptTurn(read=(str(folder / "gone" / "SKILL.md"),), reply="5"),
    )
    one.open(script(*turns))
    seen = [one.turn("Go.").transcript for _ in turns]
    told = [
        [
            (load.skill, load.how)
            for load in skill_loads(turn, 1, folders=[one.agent.skills_folder], catalogue=CATALOGUE, home=str(one.home))
        ]
        for turn in seen
    ]
    assert told == [[], [(SKILL, "tool")], [(SKILL, "file")], [("other-skill", "file")], []]
