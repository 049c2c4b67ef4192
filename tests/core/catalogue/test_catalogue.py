"""Catalogues on disk: what is read, what is refused, and what a spec makes of a stranger's broken skill."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pytest_skilleval.core.catalogue import Catalogue, load_catalogue

GOOD = "---\nname: {name}\ndescription: Use when {name}.\n---\nBody.\n"


class Shelf:
    """A catalogue folder under construction."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, content: str | bytes = "") -> Path:
        """Write one file; a SKILL.md without content is a good one."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content or GOOD.format(name=path.parent.name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self) -> Catalogue:
        """The catalogue as it is now."""
        load_catalogue.cache_clear()
        return load_catalogue(self.root)

    def told(self, skill: str) -> list[tuple[str, str]]:
        """File (relative to the catalogue) and message of each problem of one skill."""
        return [(str(Path(told.file).relative_to(self.root)), told.message) for told in self.read().skills[skill].problems]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty catalogue."""
    root = tmp_path / "skills"
    root.mkdir()
    return Shelf(root)


def test_skill(shelf: Shelf) -> None:
    """A skill is read with all its files, their modes, and its body."""
    shelf.write("tidy/SKILL.md")
    shelf.write("tidy/scripts/run.sh", "#!/bin/sh\n").chmod(0o755)
    shelf.write("tidy/references/a.bin", b"\x00\xff")
    skill = shelf.read().skills["tidy"]
    assert (skill.id, skill.name, skill.description, skill.body) == ("tidy", "tidy", "Use when tidy.", "Body.\n")
    assert dict(skill.files) == {
        "SKILL.md": (0o644, GOOD.format(name="tidy").encode()),
        "references/a.bin": (0o644, b"\x00\xff"),
        "scripts/run.sh": (0o755, b"#!/bin/sh\n"),
    }
    assert not skill.hidden
    assert not skill.problems
    assert not skill.refused_by


def test_missing_folder(tmp_path: Path) -> None:
    """A catalogue that is not there is an empty one."""
    assert not load_catalogue(tmp_path / "none").skills


def test_broken_strangers_do_not_raise(shelf: Shelf) -> None:
    """Broken skills are in the catalogue, with their problems and who would not list them."""
    shelf.write("colon/SKILL.md", "---\nname: colon\ndescription: Use when: full\n---\n")
    shelf.write("latin/SKILL.md", b"---\nname: latin\ndescription: caf\xe9\n---\n")
    shelf.write("bare/SKILL.md", "# Bare\n")
    skills = shelf.read().skills
    assert {name: sorted(skill.refused_by) for name, skill in skills.items()} == {
        "bare": ["claude-code", "codex", "scripted"],
        "colon": [],
        "latin": ["codex"],
    }
    assert all(skill.problems for skill in skills.values())
    assert skills["colon"].description == "Use when: full"


def test_executable_skill_file(shelf: Shelf) -> None:
    """An executable SKILL.md is a skill like any other and keeps its mode."""
    shelf.write("tidy/SKILL.md").chmod(0o755)
    assert shelf.read().skills["tidy"].files["SKILL.md"][0] == 0o755


@pytest.mark.parametrize("name", ["skill.md", "Skill.md", "SKILL.MD"])
def test_wrong_case(shelf: Shelf, name: str) -> None:
    """A SKILL.md in another case is no skill, and the catalogue says why."""
    shelf.write(f"tidy/{name}", GOOD.format(name="tidy"))
    catalogue = shelf.read()
    assert not catalogue.skills
    assert [told.message for told in catalogue.problems] == [f"must be named `SKILL.md`; agents overlook `{name}`"]


def test_both_cases(shelf: Shelf) -> None:
    """Two files that differ in case only are told; the proper one is the skill."""
    shelf.write("tidy/SKILL.md")
    shelf.write("tidy/skill.md", "old")
    assert shelf.told("tidy") == [("tidy/skill.md", "stands beside `SKILL.md` and differs in case only; remove one")]


def test_nested_skill(shelf: Shelf) -> None:
    """A skill inside a skill belongs to the outer one's files, and is told."""
    shelf.write("tidy/SKILL.md")
    shelf.write("tidy/attic/SKILL.md")
    assert shelf.told("tidy") == [("tidy/attic/SKILL.md", "is a skill inside a skill; some agents list it as well, others never")]
    assert list(shelf.read().skills) == ["tidy"]


def test_shared_name(shelf: Shelf) -> None:
    """Two folders with one name are told on both sides."""
    shelf.write("tidy/SKILL.md")
    shelf.write("neat/SKILL.md", GOOD.format(name="tidy"))
    assert ("tidy/SKILL.md", "the name `tidy` is also used by neat; agents list one of them") in shelf.told("tidy")
    assert ("neat/SKILL.md", "the name `tidy` is also used by tidy; agents list one of them") in shelf.told("neat")


def test_links_inside_are_followed(shelf: Shelf) -> None:
    """Links to folders and files of the catalogue are read as what they lead to."""
    shelf.write("tidy/SKILL.md")
    shelf.write("shared/note.txt", "n")
    (shelf.root / "tidy" / "note.txt").symlink_to("../shared/note.txt")
    (shelf.root / "tidy" / "more").symlink_to("../shared", target_is_directory=True)
    assert shelf.read().skills["tidy"].files["note.txt"][1] == b"n"
    assert shelf.read().skills["tidy"].files["more/note.txt"][1] == b"n"


def test_linked_skill(shelf: Shelf) -> None:
    """A linked skill folder is a second skill of the same name, which is told."""
    shelf.write("tidy/SKILL.md")
    (shelf.root / "neat").symlink_to("tidy", target_is_directory=True)
    assert sorted(shelf.read().skills) == ["neat", "tidy"]
    assert any("also used by tidy" in message for _, message in shelf.told("neat"))


def test_links_that_lead_nowhere(shelf: Shelf) -> None:
    """Dangling links and loops are left out and told."""
    shelf.write("tidy/SKILL.md")
    (shelf.root / "tidy" / "gone").symlink_to("nowhere")
    (shelf.root / "tidy" / "loop").symlink_to("loop")
    assert shelf.told("tidy") == [
        ("tidy/gone", "is a link that leads nowhere (to `nowhere`); correct or remove it"),
        ("tidy/loop", "is a link that leads in a circle; correct or remove it"),
    ]


def test_link_to_a_folder_above(shelf: Shelf) -> None:
    """A link to its own parent folder ends the walk and is told."""
    shelf.write("tidy/SKILL.md")
    (shelf.root / "tidy" / "self").symlink_to("../tidy", target_is_directory=True)
    assert shelf.told("tidy") == [("tidy/self", "is a link to a folder above it; remove it")]


def test_link_out_of_the_catalogue(shelf: Shelf, tmp_path: Path) -> None:
    """A link out of the catalogue is not followed: neither for a file nor for a whole skill."""
    (tmp_path / "secret.txt").write_text("secret")
    shelf.write("tidy/SKILL.md")
    (shelf.root / "tidy" / "secret.txt").symlink_to("../../secret.txt")
    (shelf.root / "outer").symlink_to("/etc", target_is_directory=True)
    assert shelf.told("tidy") == [("tidy/secret.txt", "is a link out of the catalogue; copy what it leads to")]
    assert [told.message for told in shelf.read().problems] == ["is a link out of the catalogue; copy what it leads to"]


def test_hidden_folders_and_submodules(shelf: Shelf) -> None:
    """Hidden folders, loose files and a submodule without content are no skills; a .git inside one is not its content."""
    shelf.write(".git/SKILL.md")
    shelf.write(".cache/SKILL.md")
    shelf.write("catalog.yaml", "x")
    shelf.write("submodule/.git", "gitdir: ../elsewhere")
    shelf.write("tidy/SKILL.md")
    shelf.write("tidy/.git/config", "x")
    catalogue = shelf.read()
    assert list(catalogue.skills) == ["tidy"]
    assert list(catalogue.skills["tidy"].files) == ["SKILL.md"]
    assert not catalogue.problems


def test_unreadable_file(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is left out and told."""
    shelf.write("tidy/SKILL.md")
    locked = shelf.write("tidy/locked.txt", "x")
    plain = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert shelf.told("tidy") == [("tidy/locked.txt", "can't be read: Permission denied")]


@pytest.mark.parametrize(
    ("lines", "policy", "hidden"),
    [
        ("disable-model-invocation: true", "", True),
        ("disable-model-invocation: 'true'", "", True),
        ("disable-model-invocation: false", "", False),
        ("license: MIT", "policy:\n  allow_implicit_invocation: false\n", True),
        ("license: MIT", "policy:\n  allow_implicit_invocation: true\n", False),
    ],
)
def test_hidden_skill(shelf: Shelf, lines: str, policy: str, *, hidden: bool) -> None:
    """A skill that no agent may load by itself is known as such."""
    shelf.write("tidy/SKILL.md", f"---\nname: tidy\ndescription: d\n{lines}\n---\n")
    if policy:
        shelf.write("tidy/agents/openai.yaml", policy)
    assert shelf.read().skills["tidy"].hidden is hidden


def test_catalogue_is_read_once(shelf: Shelf) -> None:
    """A session reads a catalogue once."""
    shelf.write("tidy/SKILL.md")
    first = shelf.read()
    assert load_catalogue(shelf.root) is first


def test_three_thousand_skills(shelf: Shelf) -> None:
    """A catalogue of 3,000 skills is read within five seconds of processor time."""
    body = "A line of advice about rooms.\n" * 200
    for number in range(3000):
        shelf.write(f"skill-{number}/SKILL.md", GOOD.format(name=f"skill-{number}") + body)
    started = time.process_time()
    assert len(shelf.read().skills) == 3000
    assert time.process_time() - started < 5
