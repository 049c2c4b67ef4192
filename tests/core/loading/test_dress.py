"""Names of a skin in a case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_builder import Tree

from pytest_skilleval.core.dress import dress, references, substitute
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.loading import seed_hash


def test_dress(tree: Tree) -> None:
    """Every text of a case that a run uses is in the names of the drawn skin, and so is what its seed makes."""
    tree.change(
        ("prompt: Yes, the stopped ones.", "prompt: 'Yes, but leave ${db}.'"),
        ("only_if: [{container: report", "only_if: [{container: '${db}', is: running}, {container: report"),
        ("commands: 'docker\\s+system\\s+prune'", "commands: 'docker rm ${db}'"),
    )
    loaded = tree.load()
    case = dress(loaded, loaded.spec.case("cleanup"), loaded.skins[1])
    first, second = case.turns
    assert second.prompt == "Yes, but leave blog-db."
    assert second.only_if[0].container == "blog-db"
    assert first.must[0].state is not None
    assert first.must[0].state.volume == "blog-db-data"
    assert first.must_not[0].commands == r"docker rm blog\-db"
    assert second.must[0].validator is not None
    assert second.must[0].validator.run == "docker exec blog-db wc -l /rows"
    assert case.rehearsals[2].turns[1].run == ("docker rm blog-db",)
    seed = loaded.spec.seed_of(case)
    assert seed is not None
    assert seed.makes.containers == {"blog-db": "running", "report": "exited"}
    assert seed.makes.volumes == ("blog-db-data",)


def test_dress_leaves_a_plain_case_alone(tree: Tree) -> None:
    """A case without references is the same in every skin, but for the seed it now carries."""
    loaded = tree.load()
    case = loaded.spec.case("overview")
    dressed = dress(loaded, case, loaded.skins[0])
    assert dressed.model_copy(update={"seed": None}) == case


@pytest.mark.parametrize(
    ("text", "expected", "keys"),
    [
        ("rm ${db} ${db}-data", "rm shop-db shop-db-data", ("db", "db")),
        ("echo $${HOME} $HOME $${db}", "echo ${HOME} $HOME ${db}", ()),
        ("${other}", "${other}", ("other",)),
        ("x${2}y ${a:-b} ${}", "x${2}y ${a:-b} ${}", ()),
    ],
)
def test_substitute(text: str, expected: str, keys: tuple[str, ...]) -> None:
    """Only ``${name}`` is a reference; ``$${name}`` is the way to write one for a shell."""
    assert substitute(text, {"db": "shop-db"}) == expected
    assert references(text) == keys


@given(st.text(alphabet="${}ab-_"))
def test_text_without_references_is_only_unescaped(text: str) -> None:
    """A text without references comes out as it went in, but for escapes."""
    if not references(text):
        assert substitute(text, {"a": "X", "b": "Y"}).replace("$", "") == text.replace("$", "")


def test_seed_hash(tree: Tree) -> None:
    """The seed's hash follows its folder, what it makes, names and age: all that decides the seeded state."""
    loaded = tree.load()
    seed = loaded.spec.seed
    assert seed is not None
    first = seed_hash(loaded, seed, loaded.skins[0])
    assert first == seed_hash(tree.load(), seed, loaded.skins[0])
    hashes = {first, seed_hash(loaded, seed, loaded.skins[1]), seed_hash(loaded, seed, Skin(names={"db": "shop-db"}, age_days=3))}
    tree.write("careful-docker/seed/services/web", "other\n")
    hashes.add(seed_hash(tree.load(), seed, loaded.skins[0]))
    tree.change(("dangling_images: 2", "dangling_images: 3"))
    again = tree.load()
    assert again.spec.seed is not None
    hashes.add(seed_hash(again, again.spec.seed, loaded.skins[0]))
    assert len(hashes) == 5


def test_seed_hash_ignores_the_rest(tree: Tree) -> None:
    """A change of a prompt does not change the seeded state."""
    loaded = tree.load()
    tree.change(("Please prune everything", "Prune everything"))
    again = tree.load()
    assert loaded.spec.seed is not None
    assert again.spec.seed is not None
    assert seed_hash(again, again.spec.seed, again.skins[0]) == seed_hash(loaded, loaded.spec.seed, loaded.skins[0])
