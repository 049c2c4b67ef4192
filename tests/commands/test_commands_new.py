"""``skilleval new``: what it writes is valid at once and works, and nothing is ever overwritten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands_project import SKILL, Skilleval, write_skill
from seed_stage import play

from pytest_skilleval.core.catalogue import load_catalogue
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.loading import load_spec

RUNBOOK = """# Eval: tidy-up

## Prompt 1: a vague wish

> Clean up, please. The test files in ${HOME}, too.

### Expected behaviors

- [ ] Lists what would go
- [ ] Asks: "really?"

### Must not

- [ ] Delete anything unasked
- [ ] Does not keep silent

### Verification commands

- [ ] `docker ps` shows all of them

## Prompt 2: nothing quoted

(An earlier turn is needed.)
"""


def spec_of(project: Path, skill: str = "tidy-up") -> LoadedSpec:
    """The spec that stands in the project."""
    return load_spec(project / "specs" / skill / "spec.yaml")


def test_a_new_spec_is_valid_and_complete(skilleval: Skilleval, project: Path) -> None:
    """Without a runbook there are an example that runs, two drafts of trigger cases, and comments that tell what to fill in."""
    code, told, _ = skilleval("new", "tidy-up")

    loaded = spec_of(project)
    assert code == 0
    assert "wrote specs/tidy-up/spec.yaml" in told
    assert [case.id for case in loaded.spec.cases] == ["example", "trig-should-load", "trig-should-not-load"]
    assert [case.draft for case in loaded.spec.cases] == [False, True, True]
    assert loaded.unproven == ()
    assert loaded.path.read_text().count("Fill in") >= 6


def test_pytest_collects_a_new_spec(skilleval: Skilleval, project: Path) -> None:
    """`pytest --collect-only` finds no fault in a project that holds only what the command wrote."""
    skilleval("new", "tidy-up")

    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stdout
    assert "specs/tidy-up/spec.yaml::example[" in done.stdout


def test_the_seed_makes_what_the_spec_says(skilleval: Skilleval, project: Path, tmp_path: Path) -> None:
    """The seed runs on the seed helper, and what it makes is what stands under `makes`."""
    skilleval("new", "tidy-up")

    seed = spec_of(project).spec.seed
    assert seed
    made = play(project / "specs/tidy-up", seed.run, tmp_path / "stage")
    assert {name: str(state).partition(":")[0] for name, state in made["container"].items()} == seed.makes.containers  # type: ignore[attr-defined]
    assert set(seed.makes.volumes) <= set(made["volume"])  # type: ignore[call-overload]
    assert (tuple(made["images"]), tuple(made["network"])) == (seed.makes.images, seed.makes.networks)  # type: ignore[arg-type]
    assert made["dangling"] == seed.makes.dangling_images


def test_every_prompt_of_the_runbook_becomes_a_case(skilleval: Skilleval, project: Path) -> None:
    """Quotes become prompts, check boxes claims of the right polarity; what has no place is told with its line."""
    (project / "specs/tidy-up").mkdir()
    (project / "specs/tidy-up/runbook.md").write_text(RUNBOOK)

    _, told, _ = skilleval("new", "tidy-up")

    loaded = spec_of(project)
    first, second = loaded.spec.case("a-vague-wish"), loaded.spec.case("nothing-quoted")
    assert (first.covers, second.covers) == ((1,), (2,))
    assert first.turns[0].prompt == "Clean up, please. The test files in $${HOME}, too."
    assert [check.judge for check in first.turns[0].must] == ["Lists what would go", 'Asks: "really?"', "Does not keep silent"]
    assert [check.judge for check in first.turns[0].must_not] == ["Delete anything unasked"]
    assert not first.draft
    assert second.draft
    assert set(loaded.spec.allow_words) == {"test"}
    assert "runbook.md:3: prompt 1: left out" in told
    assert "runbook.md:21: prompt 2: quotes no words of a user" in told
    assert "a prompt holds `test`" in told


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("specs/catalogue/tidy-up/runbook.md", "../catalogue/tidy-up/runbook.md"),
        ("specs/evals/tidy-up.md", "runbook.md"),
        ("elsewhere/book.md", "runbook.md"),
    ],
)
def test_a_runbook_elsewhere_is_linked_or_copied(skilleval: Skilleval, project: Path, place: str, named: str) -> None:
    """A runbook in the catalogue is linked, one that a spec may not reach is copied."""
    (project / place).parent.mkdir(parents=True, exist_ok=True)
    (project / place).write_text(RUNBOOK)

    code, _, error = skilleval("new", "tidy-up", *(["--runbook", place] if "elsewhere" in place else []))

    assert (code, error) == (0, "")
    assert spec_of(project).spec.runbook == named
    assert (project / "specs/tidy-up" / named).read_text() == RUNBOOK


@pytest.mark.parametrize("there", ["spec.yaml", "seed/world.sh"])
def test_nothing_is_overwritten(skilleval: Skilleval, project: Path, there: str) -> None:
    """When one of the files is there already the command writes none, and says which it is and what to do."""
    path = project / "specs/tidy-up" / there
    path.parent.mkdir(parents=True)
    path.write_text("mine")

    code, _, error = skilleval("new", "tidy-up")

    assert code == 4
    assert f"specs/tidy-up/{there}: there already, and nothing is overwritten" in error
    assert [one for one in (project / "specs/tidy-up").rglob("*") if one.is_file()] == [path]
    assert path.read_text() == "mine"


def test_what_is_not_valid_does_not_stay(skilleval: Skilleval, project: Path) -> None:
    """What makes the spec invalid where it stands (a file beside the seed) leads to an error with a line, and to no file of ours."""
    there = project / "specs/tidy-up/seed/old.sh"
    there.parent.mkdir(parents=True)
    there.write_bytes(b"#!/bin/sh\r\n")

    code, _, error = skilleval("new", "tidy-up")

    assert code == 4
    assert "specs/tidy-up/seed/old.sh:1: has Windows line ends" in error
    assert [path for path in (project / "specs/tidy-up").rglob("*") if path.is_file()] == [there]


def test_a_runbook_that_can_not_be_covered_is_refused(skilleval: Skilleval, project: Path) -> None:
    """Prompts are numbered from 1; the runbook's own line says so, and nothing is written."""
    (project / "book.md").write_text("## Prompt 0: nothing\n\n> Hello.\n")

    code, _, error = skilleval("new", "tidy-up", "--runbook", "book.md")

    assert code == 4
    assert "book.md:1: the lowest number is 0; prompts are numbered from 1" in error
    assert not (project / "specs/tidy-up").exists()


@pytest.mark.parametrize(
    ("skill", "content", "said"),
    [
        ("tidy-app", None, "has no skill `tidy-app`; did you mean `tidy-up`?"),
        ("odd", SKILL.replace("{name}", "even", 1), "the front-matter names it `even` and the folder `odd`"),
        ("mute", "nothing here", "no agent would list this skill"),
    ],
)
def test_a_skill_that_can_not_be_tried(skilleval: Skilleval, project: Path, skill: str, content: str | None, said: str) -> None:
    """An unknown, misnamed or unlistable skill is refused with what to mend, and nothing is written."""
    if content:
        write_skill(project / "specs/catalogue", skill, content)
        load_catalogue.cache_clear()

    code, _, error = skilleval("new", skill)

    assert code == 4
    assert said in error
    assert not (project / "specs" / skill).exists()


def test_neighbours_that_no_agent_would_list_are_excluded(skilleval: Skilleval, project: Path) -> None:
    """A stranger's broken skill beside it does not keep a spec from being valid: no arm installs it."""
    write_skill(project / "specs/catalogue", "broken", "no front-matter")
    load_catalogue.cache_clear()

    code, _, error = skilleval("new", "tidy-up")

    assert (code, error) == (0, "")
    assert spec_of(project).spec.arms["with"].exclude == ("broken",)


def test_a_skill_may_be_given_as_its_folder(skilleval: Skilleval, project: Path) -> None:
    """Where a shell completes paths, the folder or its SKILL.md names the skill as well."""
    assert skilleval("new", "specs/catalogue/tidy-up/")[0] == 0
    assert skilleval("new", "specs/catalogue/compose-down/SKILL.md")[0] == 0


def test_help_is_quick_and_lists_the_commands() -> None:
    """`skilleval --help` tells of all commands without importing what they need."""
    probe = (
        "import sys, time; from pytest_skilleval.cli import parser; text = parser().format_help(); "
        "print(text, time.process_time(), [m for m in ('pydantic', 'yaml', 'msgspec', 'docker', 'numpy', 'pytest') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)

    seconds, heavy = done.stdout.splitlines()[-1].split(maxsplit=1)
    assert all(f"\n    {name} " in done.stdout for name in ("new", "import", "seed"))
    assert heavy == "[]"
    assert float(seconds) < 1
