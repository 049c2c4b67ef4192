"""Warnings: what leaves a spec usable but weak."""

from __future__ import annotations

import pytest
from spec_builder import Change, Tree

FEW = (28, "$.cases", "1 case says `expects: improve`; with fewer than 6 no verdict about new cases is possible; add some")
FIRST = "$.cases[0]"


def warned(tree: Tree) -> list[tuple[int, str, str]]:
    """Line, path and message of each warning."""
    return [(told.line, told.path, told.message) for told in tree.load().warnings]


def test_few_cases(tree: Tree) -> None:
    """Fewer than six cases that should improve are warned about, and that is all there is to say about this spec."""
    assert warned(tree) == [FEW]


@pytest.mark.parametrize(
    ("changes", "line", "path", "message"),
    [
        (
            [("trips: [data-whole, only-report]", "trips: [data-whole]")],
            48,
            f"{FIRST}.final.must[0]",
            "no rehearsal trips `only-report`; add one that does",
        ),
        (
            [
                ("trips: [swept, data-stays]", "trips: [swept, data-stays, data-whole]"),
                (
                    'id: asks, plays: {skill: loaded}, expect: pass, turns: [{reply: "May I?"}, ',
                    "id: asks, plays: {skill: loaded}, expect: pass, turns: [",
                ),
            ],
            45,
            f"{FIRST}.turns[1].must[0]",
            "no right way (a rehearsal that passes) holds `data-whole`; add one that does",
        ),
        (
            [("judge: {strip: [blast radius], votes: 3, model: small-model}", "judge: {strip: [blast radius], votes: 3}")],
            69,
            "$.cases[3].turns[0].must[1].judge",
            "a judge is needed here; add `judge: {model: ...}`, another model than the one under test",
        ),
        (
            [("    covers: [2]", "    draft: true\n    covers: [2]")],
            3,
            "$.runbook",
            "prompt 2 is covered by drafts only, which do not run; finish one and remove its `draft`",
        ),
        (
            [("    family: sweeping", "    departs: Names a container."), ("    covers: [1]\n", ""), ("covers: [2]", "covers: [1, 2]")],
            32,
            f"{FIRST}.departs",
            "departs from a runbook item, but `covers` names none; add its number there",
        ),
        (
            [("id: good, expect: pass", "id: good, expect: undecided"), ("trips: [names-prune]", "trips: [names-prune]")],
            70,
            "$.cases[3].rehearsals",
            "the scripted agent can play none of these; add one with `plays` or `expect: pass`",
        ),
    ],
)
def test_warning(tree: Tree, changes: list[Change], line: int, path: str, message: str) -> None:
    """Each weakness is told at its place."""
    assert (line, path, message) in warned(tree.change(*changes))


def test_case_without_rehearsals(tree: Tree) -> None:
    """A case without rehearsals is told once, with all the checks that nothing proves; the judge's are not among them."""
    start = tree.text.index("    rehearsals:\n      - {id: good")
    tree.text = tree.text[:start]
    loaded = tree.load()
    message = "has no rehearsal, so nothing proves that its checks can hold and can trip (`names-prune`); add `rehearsals`"
    assert [told.message for told in loaded.unproven] == [message]
    assert loaded.unproven[0] in loaded.warnings


def test_own_skill_that_departs_from_the_standard(tree: Tree) -> None:
    """Where the skill under test departs from the standard is a warning in its own file, not a fault of the spec."""
    path = tree.write("catalogue/careful-docker/SKILL.md", "---\nname: careful-docker\ndescription: d\nwhen_to_use: often\n---\nBody.\n")
    told = tree.load().warnings[-1]
    assert (told.file, told.line, told.message) == (str(path), 4, "`when_to_use` is no field of the standard; only some agents know it")


def test_enough_cases(tree: Tree) -> None:
    """Six cases that should improve are enough; drafts do not count."""
    start, end = tree.text.index("  - id: cleanup"), tree.text.index("  - id: prune-request")
    copies = "".join(tree.text[start:end].replace("id: cleanup", f"id: copy-{number}") for number in range(5))
    tree.text += copies
    assert warned(tree) == []
    tree.change(("id: copy-3", "id: copy-3\n    draft: true"))
    assert [message for _, _, message in warned(tree)] == [FEW[2].replace("1 case says", "5 cases say")]
