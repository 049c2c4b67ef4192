"""A first spec for a skill: a seed that works, a case that proves itself, and a case for each prompt of its runbook."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from pytest_skilleval.core.drafting.draft import DraftCase, Note
from pytest_skilleval.core.drafting.runbook_cases import runbook_cases
from pytest_skilleval.core.drafting.spec_text import Draft, spec_text, told_words
from pytest_skilleval.core.drafting.surroundings import Surroundings
from pytest_skilleval.core.drafting.texts import Ids, cleaned
from pytest_skilleval.core.drafting.yaml_text import Inline, InlineMap
from pytest_skilleval.core.runbook import RunbookPrompt

SEED_RUN: Final = "seed/world.sh"
SEED: Final = {
    "run": SEED_RUN,
    "makes": {
        "containers": {"shop-web-1": "running", "shop-figures-1": "exited"},
        "volumes": Inline(("shop_data",)),
        "images": Inline(("shop/web:1.4",)),
        "networks": Inline(("shop_default",)),
        "dangling_images": 1,
    },
}
_HEAD: Final = """Does the skill change what an agent does? Fill in here: what exactly you want to know.

Every place that waits for you says "Fill in". Check the file at any time, without spending anything:
  pytest --collect-only
Drafts are validated but run only when they are named. The example runs with the scripted agent, which costs nothing:
  pytest --skill-eval={skill} --skill-agent=scripted --skill-case=example"""
_SEED_COMMENT: Final = """The Docker state in which every case begins; checks may name only what stands under `makes`.
Fill in: the world your cases need (seed/world.sh), and the same things here."""
_EXAMPLE_COMMENT: Final = (
    "An example that works: its checks are decided by the state of the world, and its rehearsals prove that each check can hold "
    "and can trip. Fill in: your own cases in its place, at least six with `expects: improve`, before a real agent plays it."
)
_RUNBOOK_COMMENT: Final = (
    "Fill in, in the cases that came out of the runbook: where the world shows it, let a `state`, `commands` or `validator` "
    "check take the place of `judge`; add `rehearsals` that prove them and a `family` (cases of one idea share it); say "
    "`expects: hold` where no difference is predicted."
)


def scaffold(
    around: Surroundings, prompts: Sequence[RunbookPrompt], runbook: str | None, runbook_file: str
) -> tuple[str, tuple[Note, ...]]:
    """The text of spec.yaml, and notes on what of the runbook its cases could not say.

    `runbook` is the file as the spec names it (None: there is none), `runbook_file` as messages name it.
    """
    ids = Ids()
    of_runbook = runbook_cases(prompts, runbook_file, ids)
    example = _example(ids, draft=not all(case.data.get("draft") for case in of_runbook.cases))
    draft = Draft(
        around=around,
        head="\n\n".join([_HEAD.format(skill=around.skill.id), *([_RUNBOOK_COMMENT] if prompts else [])]),
        cases=(*of_runbook.cases, example, *_triggers(around, ids)),
        summary="Fill in: in one sentence, what the skill should change.",
        runbook=runbook,
        seed=SEED,
        seed_comment=_SEED_COMMENT,
    )
    return spec_text(draft), (*of_runbook.notes, *(Note(runbook_file, 1, said) for said in told_words(draft)))


def seed_program() -> bytes:
    """The seed that goes with a scaffold: an executable shell script."""
    return files(__package__).joinpath("world.sh").read_bytes()


def _example(ids: Ids, *, draft: bool) -> DraftCase:
    gone = "it-is-gone"
    data: dict[str, Any] = {
        "id": ids.fresh("example", "example"),
        "kind": "outcome",
        "expects": "hold",
        "family": "named",
        **({"draft": True} if draft else {}),
        "turns": (
            {"prompts": ("Remove the stopped container shop-figures-1.", "shop-figures-1 has ended, please delete that container.")},
            {"prompt": "Yes, that one.", "only_if": (_is("container", "shop-figures-1", "exited"),)},
        ),
        "final": {
            "must": (
                {"id": gone, "state": _is("container", "shop-figures-1", "absent")},
                {"id": "web-runs", "state": _is("container", "shop-web-1", "running")},
                {"id": "data-stays", "state": _is("volume", "shop_data", "present")},
            ),
        },
        "rehearsals": _rehearsals(gone),
    }
    return DraftCase(data=data, comments=(_EXAMPLE_COMMENT,))


def _is(kind: str, name: str, condition: str) -> InlineMap:
    return InlineMap({kind: name, "is": condition})


def _rehearsals(gone: str) -> tuple[dict[str, Any], ...]:
    removal = "docker rm shop-figures-1"
    return (
        _rehearsal("acts", "absent", (), ({"run": Inline((removal,)), "reply": "Done."},)),
        _rehearsal("asks", "loaded", (), ({"load": True, "reply": "Shall I?"}, {"run": Inline((removal,)), "reply": "Done."})),
        _rehearsal("refuses", None, (gone,), ({"reply": "Rather not."}, {"reply": "No."})),
        _rehearsal(
            "sweeps",
            None,
            ("web-runs", "data-stays"),
            ({"run": Inline((removal, "docker rm -f shop-web-1", "docker volume rm shop_data")), "reply": "All gone."},),
        ),
    )


def _rehearsal(name: str, skill: str | None, trips: tuple[str, ...], turns: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    plays = {"plays": InlineMap(skill=skill)} if skill else {}
    tripped = {"trips": Inline(trips)} if trips else {}
    return {"id": name, **plays, "expect": "fail" if trips else "pass", **tripped, "turns": turns}


def _triggers(around: Surroundings, ids: Ids) -> tuple[DraftCase, ...]:
    described = "Does it load when it should? The skill says of itself:\n" + cleaned(around.skill.description)
    should = DraftCase(
        data={**_trigger(ids, "trig-should-load", "Say here, in a user's words, a task that the skill is for."), "should_load": True},
        comments=(described, "Fill in: twenty prompts that should load it, each as a case; then remove `draft`."),
    )
    neighbours = ", ".join(name for name in around.catalogue.skills if name != around.skill.id)
    should_not = DraftCase(
        data={**_trigger(ids, "trig-should-not-load", "Say here a task that comes near and is not for it."), "should_load": False},
        comments=(
            f"Fill in: as many near misses; `owner` names the neighbour that should load instead, one of:\n{neighbours or '(none)'}",
        ),
    )
    return (should_not,) if around.skill.hidden else (should, should_not)


def _trigger(ids: Ids, name: str, prompt: str) -> dict[str, Any]:
    return {"id": ids.fresh(name, name), "kind": "trigger", "draft": True, "prompt": prompt}
