"""Properties: readers of foreign bytes never fail in another way than by faults."""

from __future__ import annotations

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_skilleval.core.errors import SpecError
from pytest_skilleval.core.frontmatter import conformance, split
from pytest_skilleval.core.loadability import AGENTS, loadable
from pytest_skilleval.core.patterns import PatternError, compile_pattern
from pytest_skilleval.core.plain_yaml import read_plain
from pytest_skilleval.core.positions import Document, Where
from pytest_skilleval.core.reading import MAX_DEPTH, parse_document, parse_odd
from pytest_skilleval.core.runbook import parse_runbook
from pytest_skilleval.core.shape import Cuts, shape
from pytest_skilleval.core.strays import why_no_spec

YAMLISH = st.text(alphabet="ab:-[]{}\n \t#&*!|>'\"%@`?,~1.x\r\x00\ufeff$")
TREES = st.recursive(
    st.one_of(st.text(), st.text(alphabet="yesno0x1_.~-+:#"), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(alphabet="ab<0y:", min_size=1), inner)),
)
SPECS = Path(__file__).parents[3] / "specs"
SKILLISH = st.builds(
    lambda head, front, tail: head + front + tail,
    st.sampled_from([b"---\n", b"---\r\n", b"\xef\xbb\xbf---\n", b"", b"\n---\n", b"---\r"]),
    st.one_of(YAMLISH.map(str.encode), st.binary()),
    st.sampled_from([b"\n---\nbody", b"---", b"\n...\n", b"\r---\r", b""]),
)


@given(st.one_of(st.binary(), YAMLISH.map(str.encode), st.text().map(lambda text: text.encode(errors="surrogatepass"))))
def test_any_bytes_are_a_document_or_faults(content: bytes) -> None:
    """Any bytes are either read or refused with faults; what is read fits the model or has faults of shape."""
    with contextlib.suppress(SpecError):
        document = parse_document(content, "spec.yaml")
        shaped = shape(document)
        assert shaped.spec is not None or shaped.faults


@given(st.one_of(YAMLISH, TREES.map(lambda tree: yaml.safe_dump(tree, allow_unicode=True, width=30, sort_keys=False))))
@example("a: [x, {b: 1}]\nc:\n- y\n-\n- 'yes'\nd: {e: [1, 2]}\n")
def test_plain_yaml_says_what_its_tree_of_nodes_says(text: str) -> None:
    """What is read from events alone is free of faults, and has the values and lines that the nodes have."""
    plain = read_plain(text, MAX_DEPTH)
    if plain is None:
        return
    odd = parse_odd(text, "spec.yaml")
    assert (repr(odd.value), odd.faults) == (repr(plain.value), ())
    assert {where: odd.line(where) for where in plain.lines} == plain.lines


@pytest.mark.parametrize("path", sorted(SPECS.glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_specs_are_plain(path: Path) -> None:
    """Nothing in a spec of ours needs the tree: it is read at full speed, with the line of every case."""
    plain = read_plain(path.read_text(), MAX_DEPTH)
    assert plain is not None
    assert {where for where in plain.lines if where[0] == "cases"} == {
        ("cases",),
        *(("cases", n) for n in range(len(plain.value["cases"]))),
    }


@given(st.one_of(st.binary(), YAMLISH.map(str.encode)))
def test_any_file_is_told_apart_from_a_spec(content: bytes) -> None:
    """Any file is a spec, somebody else's, or told with a line why it is none."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        path.write_bytes(content)
        fault = why_no_spec(path)
    assert fault is None or fault.line >= 1


@given(SKILLISH)
def test_any_bytes_are_judged_as_a_skill(content: bytes) -> None:
    """Any bytes get an answer from the standard and from each agent's model, and are cut without loss."""
    conformance(content, "tidy")
    for agent in AGENTS:
        listed, reason = loadable(content, agent)
        assert listed or reason
    parts = split(content)
    assert content.endswith(parts.body)
    assert parts.yaml in content


@given(st.text(alphabet="# Prompt12:>-[]x`~*\n\r"))
def test_any_text_is_a_runbook_or_faults(text: str) -> None:
    """Any text is either a runbook or refused with faults."""
    with contextlib.suppress(SpecError):
        assert parse_runbook(text, "runbook.md")


@given(st.text(alphabet="ab.*+?()[]{}|^$\\d1-,:=!<>P#é\ud800"), st.text(max_size=50))
def test_any_text_is_a_pattern_or_an_error(pattern: str, text: str) -> None:
    """Any text is either a pattern that can decide something or refused with a reason."""
    with contextlib.suppress(PatternError):
        compiled = compile_pattern(pattern)
        assert not compiled.search("")
        compiled.search(text)


@given(st.lists(st.integers(0, 9), min_size=10, max_size=10, unique=True), st.integers(0, 8))
def test_cut_entries_keep_the_places_of_the_others(order: list[int], count: int) -> None:
    """Whatever entries were cut from a list, each entry that is left is told at its old index."""
    cuts = Cuts(places={("cases", index) for index in order[:count]})
    left = sorted(order[count:])
    places: list[Where] = [cuts.original(("cases", index, "id")) for index in range(len(left))]
    assert places == [("cases", index, "id") for index in left]


def test_faults_of_nothing() -> None:
    """A document without a root still has a first line."""
    assert Document("spec.yaml", None).line(("cases", 3)) == 1
