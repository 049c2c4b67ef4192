"""What a spec makes of broken skills around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skilleval.core.errors import SpecError
from pytest_skilleval.core.loading import load_spec

SPEC = """\
skill: tidy
agents: [claude-code, codex]
arms:
  without: {role: baseline, exclude: [tidy]}
  with: {role: treatment, exclude: EXCLUDED}
cases:
  - {id: a, kind: trigger, prompt: Clear up., should_load: true}
"""
GOOD = "---\nname: tidy\ndescription: Use when untidy.\n---\nBody.\n"


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A specs folder with a spec about `tidy` and a catalogue that holds it."""
    (tmp_path / "tidy").mkdir()
    (tmp_path / "tidy" / "spec.yaml").write_text(SPEC.replace("EXCLUDED", "[]"))
    (tmp_path / "catalogue" / "tidy").mkdir(parents=True)
    (tmp_path / "catalogue" / "tidy" / "SKILL.md").write_text(GOOD)
    return tmp_path


def stranger(specs: Path, content: str | bytes) -> None:
    """Put another skill, `odd`, into the catalogue."""
    folder = specs / "catalogue" / "odd"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(content if isinstance(content, bytes) else content.encode())


def faults(specs: Path) -> list[tuple[int, str, str]]:
    """Line, path and message of what is wrong with the spec."""
    try:
        load_spec(specs / "tidy" / "spec.yaml")
    except SpecError as error:
        return [(told.line, told.path, told.message) for told in error.faults]
    return []


def test_stranger_that_departs_from_the_standard_only(specs: Path) -> None:
    """A stranger's skill that every agent lists is no business of the spec's."""
    stranger(specs, "---\nname: odd one\ndescription: Use C # sharp\ntype: x\n---\n")
    assert faults(specs) == []


def test_stranger_that_an_arm_installs(specs: Path) -> None:
    """A skill that an arm installs for an agent that would not list it is a fault of each such arm."""
    stranger(specs, b"---\nname: odd\ndescription: caf\xe9\n---\n")
    mend = "mend its SKILL.md, exclude it, or take codex out of `agents`"
    message = f"installs the skill `odd`: Codex skips files that are not UTF-8; {mend}"
    assert faults(specs) == [(4, "$.arms.without", message), (5, "$.arms.with", message)]


def test_stranger_that_no_arm_installs(specs: Path) -> None:
    """A skill that no agent would list disturbs no arm that excludes it."""
    stranger(specs, "no front-matter")
    text = SPEC.replace("EXCLUDED", "[odd]").replace("exclude: [tidy]", "exclude: all")
    (specs / "tidy" / "spec.yaml").write_text(text)
    assert faults(specs) == []


def test_stranger_that_only_another_agent_refuses(specs: Path) -> None:
    """What Codex refuses does not matter to a spec for Claude Code."""
    stranger(specs, b"---\nname: odd\ndescription: caf\xe9\n---\n")
    (specs / "tidy" / "spec.yaml").write_text(SPEC.replace("EXCLUDED", "[]").replace("[claude-code, codex]", "[claude-code]"))
    assert faults(specs) == []


def test_own_skill_under_another_name(specs: Path) -> None:
    """Folder, front-matter and spec must call the skill by one name."""
    (specs / "catalogue" / "tidy" / "SKILL.md").write_text(GOOD.replace("name: tidy", "name: neat"))
    assert faults(specs) == [(1, "$.skill", "the front-matter of `tidy` names it `neat`; both must agree, so rename one")]


def test_excluded_skill_of_two_names(specs: Path) -> None:
    """An exclusion that means two skills is refused."""
    stranger(specs, "---\nname: tidy\ndescription: Another.\n---\n")
    message = "`tidy` means several skills: odd, tidy; make folder and front-matter name agree"
    assert faults(specs) == [(4, "$.arms.without.exclude[0]", message)]


def test_skill_under_test_that_two_folders_claim(specs: Path) -> None:
    """Where no arm excludes it by name, two skills of its name are refused as well: agents would list one of them."""
    stranger(specs, "---\nname: tidy\ndescription: Another.\n---\n")
    text = SPEC.replace("EXCLUDED", "[]").replace("exclude: [tidy]", "exclude: all")
    (specs / "tidy" / "spec.yaml").write_text(text)
    message = "`tidy` means several skills: odd, tidy; make folder and front-matter name agree"
    assert faults(specs) == [(1, "$.skill", message)]


def test_owner_of_two_names(specs: Path) -> None:
    """A neighbour that should load instead must be one skill."""
    stranger(specs, "---\nname: odd\ndescription: One.\n---\n")
    (specs / "catalogue" / "even").mkdir()
    (specs / "catalogue" / "even" / "SKILL.md").write_text("---\nname: odd\ndescription: Another.\n---\n")
    text = SPEC.replace("EXCLUDED", "[]").replace("should_load: true", "should_load: false, owner: odd")
    (specs / "tidy" / "spec.yaml").write_text(text)
    message = "`odd` means several skills: even, odd; make folder and front-matter name agree"
    assert faults(specs) == [(7, "$.cases[0].owner", message)]


def test_skill_that_hides_itself(specs: Path) -> None:
    """A skill that no agent may load by itself can't be expected to."""
    (specs / "catalogue" / "tidy" / "SKILL.md").write_text(GOOD.replace("name: tidy", "name: tidy\ndisable-model-invocation: true"))
    mend = "remove that key there, or say `should_load: false`"
    message = f"the skill hides itself from agents (disable-model-invocation), so it can never load by itself; {mend}"
    assert faults(specs) == [(7, "$.cases[0].should_load", message)]


def test_skill_that_no_arm_installs(specs: Path) -> None:
    """A trigger case in a spec whose arms all leave the skill out can never be run."""
    text = SPEC.replace("treatment, exclude: EXCLUDED", "reference, exclude: all")
    (specs / "tidy" / "spec.yaml").write_text(text)
    message = "a trigger case is about a skill that loads, and no arm installs it; add an arm that does"
    assert faults(specs) == [(7, "$.cases[0]", message)]


def test_missing_skill(specs: Path) -> None:
    """A skill that the catalogue lacks is a fault that names the catalogue and the nearest skill."""
    (specs / "catalogue" / "tidy").rename(specs / "catalogue" / "tidi")
    found = faults(specs)
    assert (1, "$.skill", f"the catalogue {specs / 'catalogue'} has no skill `tidy`; did you mean `tidi`?") in found


def test_skill_without_a_body(specs: Path) -> None:
    """Instructions can't be taken from a skill that has none."""
    (specs / "catalogue" / "tidy" / "SKILL.md").write_text(GOOD.replace("Body.\n", ""))
    text = SPEC.replace("EXCLUDED", "[]").replace("cases:", "  rules: {role: reference, exclude: [tidy], instructions: from-skill}\ncases:")
    (specs / "tidy" / "spec.yaml").write_text(text)
    assert faults(specs) == [
        (6, "$.arms.rules.instructions", "the skill has no body to take the instructions from; write one, or name a file here")
    ]
