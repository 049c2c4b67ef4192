"""What lies in a seed's folder, a skill or the catalogue and can't go into a sandbox is an error that names it: never dropped unseen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from spec_builder import FILES, Tree

from pytest_skilleval.core.catalogue import load_catalogue

ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "fifo": (os.mkfifo, "is a named pipe (FIFO); put a plain file in its place"),
    "dangling": (lambda path: path.symlink_to("gone"), "is a link that leads nowhere (to `gone`); correct or remove it"),
    "circle": (lambda path: path.symlink_to(path.name), "is a link that leads in a circle; correct or remove it"),
}
kinds = pytest.mark.parametrize("kind", ODD)


def messages(tree: Tree) -> list[tuple[str, str]]:
    """Path and message of each fault."""
    load_catalogue.cache_clear()
    return [(fault.path, fault.message) for fault in tree.faults()]


def put(tree: Tree, kind: str, name: str) -> str:
    """Put something odd at a place below the specs folder; returns what is said of it."""
    make, said = ODD[kind]
    (tree.root / name).parent.mkdir(parents=True, exist_ok=True)
    (tree.root / name).unlink(missing_ok=True)
    make(tree.root / name)
    return said


@kinds
def test_in_the_seed_s_folder(tree: Tree, kind: str) -> None:
    """The seed's folder goes into the sandbox whole."""
    said = put(tree, kind, "careful-docker/seed/services/odd")
    assert messages(tree) == [("$.seed.run", f"the seed's folder can't go into a sandbox whole: `seed/services/odd` {said}")]


def test_linked_folder_in_the_seed_s_folder(tree: Tree) -> None:
    """A link to a folder would be left out too."""
    (tree.root / "careful-docker/seed/more").symlink_to("services", target_is_directory=True)
    said = "`seed/more` leads to a folder; put a plain file in its place"
    assert messages(tree) == [("$.seed.run", f"the seed's folder can't go into a sandbox whole: {said}")]


@kinds
def test_a_file_that_the_spec_names(tree: Tree, kind: str) -> None:
    """A guard, skins or runbook that is no plain file is told as what it is."""
    said = put(tree, kind, "careful-docker/guard.yaml")
    assert FILES["guard.yaml"]
    assert [message for _, message in messages(tree)] == [f"`guard.yaml` {said}"]


@kinds
@pytest.mark.parametrize("skill", ["careful-docker", "compose-patterns"])
def test_in_a_skill(tree: Tree, kind: str, skill: str) -> None:
    """An arm that installs a skill installs all of it: the one under test and those around it."""
    said = put(tree, kind, f"catalogue/{skill}/references/odd")
    file = tree.root / f"catalogue/{skill}/references/odd"
    assert [message for _, message in messages(tree)] == [
        f"installs the skill `{skill}` without `{file}`, which {said}; or exclude the skill"
    ]


@kinds
def test_in_the_catalogue(tree: Tree, kind: str) -> None:
    """What stands where a skill belongs, and a SKILL.md that can't be read."""
    first, second = put(tree, kind, "catalogue/odd"), put(tree, kind, "catalogue/tidy/SKILL.md")
    assert [message for _, message in messages(tree)] == [
        f"installs the catalogue without `{tree.root / 'catalogue/odd'}`, which {first}",
        f"installs the catalogue without `{tree.root / 'catalogue/tidy/SKILL.md'}`, which {second}",
    ]


def test_a_skill_that_no_arm_installs(tree: Tree) -> None:
    """What nobody installs may be broken."""
    put(tree, "fifo", "catalogue/compose-patterns/odd")
    tree.text = tree.text.replace("exclude: [careful-docker]", "exclude: [careful-docker, compose-patterns]")
    for arm in ("  with: {", "  sham: {"):
        tree.change((arm, f"{arm}exclude: [compose-patterns], "))
    assert not [message for _, message in messages(tree) if "without" in message]


def test_a_linked_skill_file(tree: Tree) -> None:
    """A SKILL.md that is a link inside the catalogue is what it leads to."""
    own = tree.root / "catalogue/careful-docker/SKILL.md"
    content = own.read_bytes()
    own.rename(tree.root / "catalogue/shared.md")
    own.symlink_to("../shared.md")
    load_catalogue.cache_clear()
    assert tree.load().catalogue["careful-docker"].files["SKILL.md"] == (0o644, content)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("1.5", "`name` must be a text; quote it: '1.5'"),
        ("", "`name` is empty; write the name of the skill's folder"),
        ("~", "`name` is empty; write the name of the skill's folder"),
        ("[a, b]", "`name` must be a text, not a list"),
    ],
)
def test_name_of_another_type(tree: Tree, written: str, said: str) -> None:
    """A front-matter name that YAML reads as something else than text is told, with what to write."""
    tree.write("catalogue/careful-docker/SKILL.md", f"---\nname: {written}\ndescription: Use when d.\n---\nBody.\n")
    load_catalogue.cache_clear()
    catalogue = load_catalogue(tree.root / "catalogue")
    assert said in [problem.message for problem in catalogue.skills["careful-docker"].problems]
