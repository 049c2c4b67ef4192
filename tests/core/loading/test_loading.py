"""Loading a spec: what a valid one becomes, and that all faults come at once."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from spec_builder import SPEC, Tree

from pytest_skilleval.core.errors import SpecError
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.loading import find_specs, is_spec_file, load_spec


def test_valid_spec(tree: Tree) -> None:
    """A valid spec arrives whole: model, lines of its cases, skins, guards, instructions, runbook and catalogue."""
    loaded = tree.load()
    assert [case.id for case in loaded.spec.cases] == ["cleanup", "prune-request", "compose-down", "overview"]
    assert loaded.case_lines == {name: tree.line(f"- id: {name}") for name in ("cleanup", "prune-request", "compose-down", "overview")}
    assert loaded.skins == (Skin(names={"db": "shop-db"}, age_days=47.0), Skin(names={"db": "blog-db"}, age_days=12.0))
    assert loaded.guards == {"control": ("docker system prune",)}
    assert loaded.instructions == {"rules": b"# careful-docker\n\nBody.\n"}
    assert loaded.runbook_prompts == {1: "disk cleanup", 2: "overview"}
    assert sorted(loaded.catalogue) == ["careful-docker", "compose-patterns"]
    assert loaded.folder == tree.root / "careful-docker"


def test_loaded_spec_can_be_pickled(tree: Tree) -> None:
    """A loaded spec travels to another process unchanged."""
    loaded = tree.load()
    assert pickle.loads(pickle.dumps(loaded)) == loaded


def test_all_faults_at_once(tree: Tree) -> None:
    """Faults of shape, of relation and of other files are all reported together, in order of file and line."""
    tree.change(
        ("summary: Ask", "sumary: Ask"),
        ("secondary: [[without, control]]", "secondary: [[without, controll]]"),
        ("networks: [shop-net]", "networks: [test-net]"),
        ("is: present", "is: prezent"),
        ("'^500'", "'500('"),
        ("kind: fidelity", "kind: quality"),
    )
    tree.write("careful-docker/guard.yaml", "deny: [docker *]\n")
    tree.write("careful-docker/seed/make.sh", "#!/bin/sh\r\n")
    found = tree.faults()
    assert [(Path(told.file).name, told.path or told.line) for told in found] == [
        ("guard.yaml", "$.deny[0]"),
        ("make.sh", 1),
        ("spec.yaml", "$.sumary"),
        ("spec.yaml", "$.contrasts.secondary[0][1]"),
        ("spec.yaml", "$.seed.makes.networks[0]"),
        ("spec.yaml", "$.cases[0].turns[0].must[0].state.is"),
        ("spec.yaml", "$.cases[0].turns[1].must[0].validator.output"),
        ("spec.yaml", "$.cases[3].kind"),
    ]


def test_error_text_has_one_line_for_each_fault(tree: Tree) -> None:
    """The error prints as ``file:line: message @ path``, one fault a line."""
    tree.change(("votes: 3", "votes: 99"), ("repeats: 3", "repeats: 0"))
    with pytest.raises(SpecError) as caught:
        tree.load()
    assert str(caught.value).splitlines() == [
        f"{tree.spec}:6: must be at least 1, not 0 @ $.defaults.repeats",
        f"{tree.spec}:27: must be at most 15, not 99 @ $.judge.votes",
    ]


def test_places_after_a_misshapen_entry(tree: Tree) -> None:
    """When an entry of a list is misshapen, faults of the entries behind it keep their own line and index."""
    tree.change(("  - id: prune-request\n", "  - 3\n  - id: prune-request\n"), ("owner: compose-patterns", "owner: nobody"))
    assert [(told.line, told.path) for told in tree.faults()] == [
        (tree.line("  - 3"), "$.cases[1]"),
        (tree.line("owner: nobody"), "$.cases[3].owner"),
    ]


def test_no_echo_of_a_misshapen_part(tree: Tree) -> None:
    """What is cut out for its shape is not missed by other rules: one fault, one message."""
    tree.change(("must_not:\n", "must_nt:\n"))
    assert [told.message for told in tree.faults()] == ["unknown key `must_nt`; did you mean `must_not`?"]


def test_nothing_is_left_enabled_or_disabled(tree: Tree) -> None:
    """Loading pauses the garbage collector and always sets it going again."""
    import gc

    tree.change(("votes: 3", "votes: 99"))
    assert tree.faults()
    assert gc.isenabled()


def test_missing_spec(tmp_path: Path) -> None:
    """A spec that is not there is a fault, not a traceback."""
    with pytest.raises(SpecError, match=r"spec\.yaml:1: can't be read: No such file"):
        load_spec(tmp_path / "none" / "spec.yaml")


def test_catalogue_elsewhere(tree: Tree, tmp_path: Path) -> None:
    """The catalogue may lie in a folder of its own."""
    (tree.root / "catalogue").rename(tmp_path / "skills")
    tree.write("careful-docker/spec.yaml", tree.text)
    assert sorted(load_spec(tree.spec, tmp_path / "skills").catalogue) == ["careful-docker", "compose-patterns"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SPEC, True),
        ("cases: []\nskill: x\n", True),
        ("\ufeffskill: x\r\ncases: []\r\n", True),
        ("'skill': x\n\"cases\" : []\n", True),
        ("skill: x\ncases: [\n", True),
        ("openapi: 3.1.0\npaths: {}\n", False),
        ("info:\n  skill: x\n  cases: []\n", False),
        ("skill: x\n", False),
        ("cases: []\nskills: [x]\n", False),
        ("", False),
    ],
)
def test_is_spec_file(tmp_path: Path, text: str, *, expected: bool) -> None:
    """A file is a spec of ours when it has `skill` and `cases` at its top, whatever else is wrong with it."""
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    assert is_spec_file(path) is expected


def test_is_spec_file_of_odd_things(tmp_path: Path) -> None:
    """A folder, a missing file, bytes and UTF-16 are answered without an error."""
    (tmp_path / "bytes").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "wide").write_bytes("skill: x\ncases: []\n".encode("utf-16"))
    found = [is_spec_file(tmp_path / name) for name in ("", "missing", "bytes", "wide")]
    assert found == [False, False, False, True]


def test_find_specs(tree: Tree) -> None:
    """Specs are found one folder deep, in order; a stranger's spec.yaml and the catalogue are left alone."""
    for name in ("zeta", "alpha"):
        tree.write(f"{name}/spec.yaml", SPEC)
    tree.write("api/spec.yaml", "openapi: 3.1.0\n")
    tree.write("catalogue/spec.yaml", "name: x\n")
    assert [path.parent.name for path in find_specs(tree.root)] == ["alpha", "zeta"]
    assert find_specs(tree.root / "nowhere") == []


def test_text_hash(tree: Tree) -> None:
    """The hash follows the spec and every file it refers to, and nothing else."""
    first = tree.load().text_hash
    tree.write("careful-docker/notes.txt", "not referred to")
    assert tree.load().text_hash == first
    hashes = {first}
    for name in ("runbook.md", "guard.yaml", "skins.yaml", "seed/make.sh", "seed/services/web"):
        path = tree.root / "careful-docker" / name
        path.write_bytes(path.read_bytes() + b"\n")
        hashes.add(tree.load().text_hash)
    tree.text += "\n"
    hashes.add(tree.load().text_hash)
    assert len(hashes) == 7
