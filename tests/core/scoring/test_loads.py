"""Which skills were loaded."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_made import CATALOGUE, FOLDER, SKILL, denied, ran, said
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skilleval.core.loads import skill_loads
from pytest_skilleval.core.transcript import FileRead, Offered, SkillCall, TurnTranscript

BODY = "---\nname: guardrails\n---\nAsk before sweeping deletions.\n"
PATH = f"/home/agent/.claude/skills/{SKILL}/SKILL.md"
OTHER = "docker-compose-patterns"


def loads(transcript: TurnTranscript, **more: Any) -> list[tuple[str, str, bool]]:
    """Skill, way and sureness of each load."""
    found = skill_loads(transcript, 1, **{"folders": (FOLDER,), "catalogue": CATALOGUE, **more})
    return [(one.skill, one.how, one.sure) for one in found]


def after(line: str, output: str = BODY, *, cwd: str | None = "/workspace", **more: Any) -> list[tuple[str, str, bool]]:
    """The loads of one shell command."""
    return loads(said(ran(line, output=output, **more), offered=Offered(cwd=cwd)))


SURE = [(SKILL, "shell", True)]
UNSURE = [(SKILL, "shell", False)]


def test_the_skill_tool() -> None:
    """Any successful call counts, whatever came before it; a failed one does not; a namespaced name is not sure."""
    assert loads(said("docker ps", skill_calls=(SkillCall(name=SKILL, ok=True, order=1),))) == [(SKILL, "tool", True)]
    assert loads(said(skill_calls=(SkillCall(name=SKILL, ok=False),))) == []
    assert loads(said(skill_calls=(SkillCall(name=f"plugin:{SKILL}", ok=True),))) == [(SKILL, "tool", False)]
    assert loads(said(skill_calls=(SkillCall(name="verify", ok=True),))) == [("verify", "tool", True)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PATH, [(SKILL, "file", True)]),
        (f"~/.claude/skills/{SKILL}/SKILL.md", [(SKILL, "file", True)]),
        (f"/home/agent/.claude/skills/x/../{SKILL}/SKILL.md", [(SKILL, "file", True)]),
        (PATH.replace(SKILL, OTHER), [(OTHER, "file", True)]),
        (f"/workspace/.claude/skills/{SKILL}/SKILL.md", []),
        (f"/home/agent/.claude/skills/{SKILL}/references/SKILL.md", []),
        (f"/home/agent/.claude/skills/{SKILL}/README.md", []),
        ("/home/agent/.claude/skills/SKILL.md", []),
        ("SKILL.md", []),
        ("", []),
    ],
)
def test_the_file_tool(path: str, expected: list[tuple[str, str, bool]]) -> None:
    """Only a skill's own SKILL.md in the arm's own skills folder counts."""
    assert loads(said(reads=(FileRead(path=path),), offered=Offered(cwd="/workspace"))) == expected
    assert loads(said(reads=(FileRead(path=path, ok=False),))) == []


@pytest.mark.parametrize(
    "line",
    [
        f"cat {PATH}",
        f"/bin/bash -lc 'cat {PATH}'",
        f"cat ~/.claude/skills/{SKILL}/SKILL.md",
        f'cat "$HOME/.claude/skills/{SKILL}/SKILL.md"',
        f"cat ${{HOME}}/.claude/skills/{SKILL}/SKILL.md",
        f"sed -n '1,200p' {PATH}",
        f"head -n 100 {PATH}",
        f"head -200 {PATH}",
        f"tail -n +5 {PATH}".replace("-n +5", "-c +1"),
        f"less {PATH}",
        f"nl -ba {PATH}",
        f"awk '{{print}}' {PATH}",
        f"bat --plain {PATH}",
        f"cat < {PATH}",
        f"cat {PATH} | head -50",
        f"cat {PATH} && docker ps",
        f"docker ps; cat {PATH}",
        f"cd ~/.claude/skills/{SKILL} && cat SKILL.md",
        f"cd ~/.claude && cd skills && cat {SKILL}/SKILL.md",
        f"cd && cat .claude/skills/{SKILL}/SKILL.md",
        f"(cd ~/.claude/skills/{SKILL}; cat ./SKILL.md)",
        f"S={SKILL}; cat ~/.claude/skills/$S/SKILL.md",
        f"for s in {SKILL}; do cat ~/.claude/skills/$s/SKILL.md; done",
        "cat ~/.claude/skills/docker-destr*/SKILL.md",
        f"cat ~/.claude/skills/{SKILL}/*.md",
        f"sudo cat {PATH}",
        f"while read -r line; do echo $line; done < {PATH}",
    ],
)
def test_shell_readers(line: str) -> None:
    """Whatever prints the file loads it, however the path is written."""
    assert after(line) == SURE


@pytest.mark.parametrize(
    "line",
    [
        f"ls -la /home/agent/.claude/skills/{SKILL}",
        f"ls {PATH}",
        f"wc -l {PATH}",
        f"stat {PATH}",
        f"test -f {PATH} && echo there",
        f"cp {PATH} /tmp/x",
        f"grep -l docker {PATH}",
        f"grep -c docker {PATH}",
        "grep -rn prune ~/.claude/skills",
        "find ~/.claude/skills -name SKILL.md",
        "find ~/.claude/skills -name SKILL.md -exec cat {} \\;",
        "cat ~/.claude/skills/*/SKILL.md",
        "head -5 ~/.claude/skills/*/SKILL.md",
        "for f in ~/.claude/skills/*/SKILL.md; do cat $f; done",
        "cat ~/.claude/skills/{docker-destructive-guardrails,docker-compose-patterns,docker-build-strategies}/SKILL.md",
        f"echo cat {PATH}",
        f"# cat {PATH}",
        f"cat /workspace/.claude/skills/{SKILL}/SKILL.md",
        f"cat ~/.claude/skills/{SKILL}/references/more.md",
        f"docker exec db cat {PATH}",
        f"docker exec db sh -c 'cat {PATH}'",
        f"sed -i s/a/b/ {PATH}",
        "cat ~/.claude/skills/docker-destr*",
        "cat SKILL.md",
        "cat",
        "cat ~/.claude/skills/$NAME/SKILL.md",
        "cat ~/.claude/skills/$(ls ~/.claude/skills | head -1)/SKILL.md",
    ],
)
def test_what_is_no_load(line: str) -> None:
    """Listing, counting, copying, mentioning, sweeping over all skills, or another place's file are no loads."""
    assert after(line) == []


@pytest.mark.parametrize(
    "line",
    [
        f"grep -n docker {PATH}",
        f"rg docker {PATH}",
        f"python3 -c \"print(open('{PATH}').read())\"",
        f"head -3 {PATH}",
        f"head -n 5 {PATH}",
        f"x=$(cat {PATH})",
    ],
)
def test_what_may_be_a_load_is_not_sure(line: str) -> None:
    """A search, a glimpse or a script may have shown the skill's content or not."""
    assert after(line) == UNSURE


def test_two_skills_named_one_by_one_are_two_loads() -> None:
    """Co-loading is expected; only a sweep over everything is exploration."""
    for line in (f"cat {PATH} {PATH.replace(SKILL, OTHER)}", f"for s in {SKILL} {OTHER}; do cat ~/.claude/skills/$s/SKILL.md; done"):
        assert after(line) == [*SURE, (OTHER, "shell", True)]
    everything = " ".join(PATH.replace(SKILL, skill) for skill in sorted(CATALOGUE))
    assert after(f"cat {everything}") == []


def test_a_glob_over_the_only_skill_is_a_load() -> None:
    """Where just one skill is installed there is nothing else to explore."""
    transcript = said(ran("cat ~/.claude/skills/*/SKILL.md", output=BODY))
    assert loads(transcript, catalogue=frozenset({SKILL})) == SURE


def test_a_read_that_failed_is_no_load() -> None:
    """No output with a failing exit code, or a complaint about this file: nothing was shown."""
    assert after(f"cat {PATH}", "", exit_code=1) == []
    assert after(f"cat {PATH}", f"cat: {PATH}: No such file or directory", exit_code=1) == []
    assert after(f"docker ps; cat {PATH}", f"NAMES\ncat: {PATH}: Permission denied", exit_code=1) == []
    assert after(f"cat {PATH} /nowhere", f"{BODY}cat: /nowhere: No such file or directory", exit_code=1) == SURE
    assert after(f"cat {PATH}; false", BODY, exit_code=1) == SURE


@pytest.mark.parametrize(
    ("line", "output"),
    [
        (f"cat {PATH} > /tmp/x", ""),
        (f"cat {PATH} | wc -l", "120\n"),
        (f"head -c 0 {PATH}", ""),
        (f"x=$(cat {PATH})", ""),
        (f"cat {PATH} > /tmp/x && echo copied", "copied\n"),
        (f"cat {PATH} >> /tmp/x; docker ps", "CONTAINER\n"),
        (f"cat {PATH} &> /dev/null; ls", "notes\n"),
        (f"cat {PATH} | sed s/a/b/ > /tmp/x; ls", "notes\n"),
        (f"bash -c 'cat {PATH}' > /tmp/x; ls", "notes\n"),
    ],
)
def test_a_read_that_shows_nothing_is_no_load(line: str, output: str) -> None:
    """Output that went into a file, a count, or nothing at all: the model was shown none of the text, whatever else was printed."""
    assert after(line, output) == []


@pytest.mark.parametrize("redirect", ["2>/dev/null", ">&2", "> /dev/stderr", "> >(tee /tmp/x)", "2>&1"])
def test_output_that_is_still_shown_is_a_load(redirect: str) -> None:
    """Errors sent away, or output sent to where it is seen all the same, change nothing."""
    assert after(f"cat {PATH} {redirect}") == SURE


def test_silence_of_a_command_whose_end_was_not_seen_is_not_sure() -> None:
    """A command that still runs may print the text later."""
    assert after(f"cat {PATH}", "", exit_code=None) == UNSURE
    assert after(f"cat {PATH}", "Command running in background", background=True) == SURE


def test_a_denied_or_unexecuted_read_is_no_load() -> None:
    """What did not run showed nothing."""
    assert loads(said(denied(f"cat {PATH}"))) == []
    assert loads(said(ran(f"cat {PATH}", executed=False))) == []


def test_a_folder_kept_from_an_earlier_command_is_not_sure() -> None:
    """Some agents keep the shell's folder, some start afresh."""
    lines = (ran(f"cd ~/.claude/skills/{SKILL}"), ran("cat SKILL.md", output=BODY))
    assert loads(said(*lines)) == UNSURE


def test_an_unknown_folder_makes_no_load() -> None:
    """A relative path from nobody knows where is not read as the skill's."""
    assert after(f"cat .claude/skills/{SKILL}/SKILL.md", cwd=None) == []
    assert after(f"cat .claude/skills/{SKILL}/SKILL.md", cwd="/home/agent") == SURE


def test_one_load_per_skill_and_way() -> None:
    """Reading twice is one load, and the sure one is kept."""
    assert after(f"head -3 {PATH}; cat {PATH}; cat {PATH}") == SURE


def test_other_agents_folders() -> None:
    """Folders are the adapter's; they may be absolute."""
    transcript = said(ran(f"cat /home/agent/.codex/skills/{SKILL}/SKILL.md", output=BODY))
    assert loads(transcript) == []
    assert loads(transcript, folders=(".codex/skills",)) == SURE
    assert loads(transcript, folders=("/home/agent/.codex/skills/",)) == SURE


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.none() | st.integers(0, 3))
def test_no_command_makes_it_raise(line: str, output: str, exit_code: int | None) -> None:
    """Any command with any output gives loads with a skill's name, or none."""
    for text in (line, f"cd {line} && cat SKILL.md", f"cat ~/.claude/skills/{line}/SKILL.md"):
        assert all(skill for skill, _, _ in after(text, output, exit_code=exit_code))
