"""``skilleval import``: what other tools wrote becomes a valid spec, and what found no place is told."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from commands_project import SKILL, Skilleval, write_skill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_skilleval.core.catalogue import load_catalogue
from pytest_skilleval.core.drafting.evals_files import workspace_path
from pytest_skilleval.core.drafting.importing import imported
from pytest_skilleval.core.drafting.json_lines import lines_of_entries, parse_json
from pytest_skilleval.core.drafting.sources import read_source
from pytest_skilleval.core.drafting.surroundings import surroundings
from pytest_skilleval.core.drafting.texts import cleaned, slug
from pytest_skilleval.core.dress import dress
from pytest_skilleval.core.errors import Fault, SpecError, UsageProblem
from pytest_skilleval.core.loaded import LoadedSpec, Skin
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.spec import ID_PATTERN

STANDARD = {
    "skill_name": "tidy-up",
    "evals": [
        {"id": 1, "prompt": "Tidy the disk.", "expected_output": "Asks first.", "assertions": ["Lists the files", "Asks"]},
        {"id": 2, "prompt": "Remove b.", "expected_output": "b is gone.", "files": ["evals/files/b.txt"]},
    ],
}
CREATOR = {
    "skill": "tidy-up",
    "cases": [
        {"id": "First one", "question": "What is big?", "expectations": [{"text": "Names the biggest"}], "live_only": True},
        {"id": "two", "query": "Delete it", "expected_behavior": "Asks", "must_not": ["Deletes at once", "Never stays silent"]},
        {"id": "two", "prompt": "And that", "ground_truth": "Nothing is deleted", "eval_name": "and_that"},
    ],
}
TRIGGERS = [
    {"query": "make room on my disk", "should_trigger": True},
    {"query": "take my stack down", "should_trigger": False, "expected_skill": "compose-down"},
    {"query": "what is the time", "expected_skill": None},
    {"question": "tidy my room", "expected_skill": "elsewhere"},
    {"prompt": "sweep the disk", "expected_skill": "tidy-up"},
]


def spec_of(project: Path) -> LoadedSpec:
    """The spec that stands in the project."""
    return load_spec(project / "specs/tidy-up/spec.yaml")


def write(path: Path, value: Any) -> Path:
    """A JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def test_the_standard_dialect(skilleval: Skilleval, project: Path) -> None:
    """Assertions become claims for the judge, the expected output only where there is nothing else; the rest is told with lines."""
    code, told, _ = skilleval("import", write(project / "evals.json", STANDARD))

    cases = spec_of(project).spec.cases
    assert code == 0
    assert [(case.id, case.kind, case.expects) for case in cases] == [("case-1", "outcome", "improve"), ("case-2", "outcome", "improve")]
    assert [check.judge for case in cases for check in case.turns[0].must] == ["Lists the files", "Asks", "b is gone."]
    assert "evals.json:4: entry 1: the expected output is a comment only" in told
    assert (
        "evals.json:13: entry 2: the file `evals/files/b.txt` is left out: it is not there; put it into the workspace with a seed" in told
    )
    assert "2 cases; 2 things were not carried over as they were" in told


def test_the_other_dialect(skilleval: Skilleval, project: Path) -> None:
    """Expectations, behaviours as a text, objects as claims, text ids that repeat, and denials under `must_not` are understood."""
    _, told, _ = skilleval("import", write(project / "evals.json", CREATOR))

    cases = spec_of(project).spec.cases
    assert [case.id for case in cases] == ["first-one", "two", "and-that"]
    assert [check.judge for check in cases[1].turns[0].must] == ["Asks", "Never stays silent"]
    assert [check.judge for check in cases[1].turns[0].must_not] == ["Deletes at once"]
    assert [case.turns[0].must[0].judge for case in cases] == ["Names the biggest", "Asks", "Nothing is deleted"]
    assert "entry 1: `live_only` is left out: it has no place in a spec" in told


def test_trigger_lists(skilleval: Skilleval, project: Path) -> None:
    """Entries of a trigger list become trigger cases; the skill expected instead becomes the owner where the catalogue has it."""
    _, told, _ = skilleval("import", write(project / "triggers.json", TRIGGERS), "--skill", "tidy-up")

    cases = spec_of(project).spec.cases
    assert [case.kind for case in cases] == ["trigger"] * 5
    assert [case.should_load for case in cases] == [True, False, False, False, True]
    assert [case.owner for case in cases] == [None, "compose-down", None, None, None]
    assert cases[0].id == "trig-make-room-on-my-disk"
    assert "the skill `elsewhere` that should load instead is not in the catalogue" in told


def test_several_files_make_one_spec(skilleval: Skilleval, project: Path) -> None:
    """Evals, triggers and runbook of one skill are put together; the runbook goes along and is covered."""
    runbook = project / "tidy-up.md"
    runbook.write_text("## Prompt 1: big\n\n> Make room.\n\n### Expected behaviors\n- [ ] Asks\n")
    evals = write(project / "tidy-up/evals/evals.json", STANDARD["evals"])
    triggers = write(project / "tidy-up/evals/triggers.json", TRIGGERS)

    code, told, error = skilleval("import", evals, triggers, runbook)

    loaded = spec_of(project)
    assert (code, error) == (0, "")
    assert len(loaded.spec.cases) == 8
    assert loaded.runbook_prompts == {1: "big"}
    assert "wrote specs/tidy-up/runbook.md" in told


def test_a_bare_list_follows_the_files_beside_it(skilleval: Skilleval, project: Path) -> None:
    """A trigger list names no skill: where another file does, it is for that one."""
    evals, triggers = write(project / "evals.json", STANDARD), write(project / "triggers.json", TRIGGERS)

    code, _, error = skilleval("import", triggers, evals)

    assert (code, error) == (0, "")
    assert {case.kind for case in spec_of(project).spec.cases} == {"outcome", "trigger"}


INPUTS = {
    "evals": [
        {"id": 7, "prompt": "Sum up `data/sales.csv`.", "assertions": ["Adds"], "files": ["evals/files/sales.csv", "files/deep/more.csv"]},
        {"id": 8, "query": "Look at notes.txt", "should_trigger": True, "expectations": ["Reads"], "files": ["evals/files/notes.txt"]},
        {
            "id": 9,
            "prompt": "Read it",
            "assertions": ["Reads"],
            "files": ["../../../secret", "/etc/hosts", "files", "crlf.sh", "a\0b", "x/sales.csv"],
        },
        {"id": 10, "prompt": "Both", "assertions": ["Reads"], "files": ["evals/files/sales.csv", "sales.csv"]},
    ]
}


@pytest.fixture
def inputs(project: Path) -> Path:
    """The evals of a skill with input files, named from the skill's folder or from that of the evals."""
    folder = project / "tidy-up/evals"
    contents = {"files/sales.csv": b"1\n2\n", "files/deep/more.csv": b"\xff\x00", "files/notes.txt": b"hello\r\n", "sales.csv": b"3\n"}
    for name, content in {**contents, "crlf.sh": b"#!/bin/sh\r\nls\r\n", "../../secret": b"keep"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return write(folder / "evals.json", INPUTS)


def test_input_files_come_along(skilleval: Skilleval, project: Path, inputs: Path, tmp_path: Path) -> None:
    """Input files are copied beside the spec, and a seed of the case puts them where its prompt says, byte for byte."""
    code, told, error = skilleval("import", inputs)

    assert (code, error) == (0, "")
    loaded = spec_of(project)
    seeds = {case.id: case.seed.run for case in loaded.spec.cases if case.seed}
    assert seeds == {"case-7": "seed/case-7.sh", "case-8": "seed/case-8.sh", "trig-8": "seed/case-8.sh", "case-10": "seed/case-10.sh"}
    for case, files in {
        "case-7": {"data/sales.csv": b"1\n2\n", "deep/more.csv": b"\xff\x00"},
        "case-8": {"notes.txt": b"hello\r\n"},
    }.items():
        workspace = tmp_path / case
        workspace.mkdir()
        subprocess.run([(loaded.folder / seeds[case]).resolve()], cwd=workspace, check=True)
        found = {path.relative_to(workspace).as_posix(): path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
        assert found == files
    assert "wrote specs/tidy-up/seed/case-7/data/sales.csv" in told


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("../../../secret", "it lies outside the skill's folder"),
        ("/etc/hosts", "it lies outside the skill's folder"),
        ("files", "it is a folder"),
        ("crlf.sh", "it is a program with Windows line ends"),
        ("x/sales.csv", "it is not there"),
    ],
)
def test_input_files_that_stay_behind_are_told(skilleval: Skilleval, project: Path, inputs: Path, file: str, why: str) -> None:
    """A file that can't come along is told with the reason and the mend, and nothing outside the skill's folder is read."""
    _, told, _ = skilleval("import", inputs)

    assert re.search(rf"evals.json:\d+: entry 3: the file `{re.escape(file)}` is left out: {why}.*; put it into the workspace", told)
    assert not any(b"keep" in path.read_bytes() for path in (project / "specs").rglob("*") if path.is_file())
    assert "entry 4: the file `sales.csv` is left out: another file has its place in the workspace" in told


@pytest.mark.parametrize(
    ("file", "prompt", "path"),
    [
        ("evals/files/a.csv", "Read a.csv.", "a.csv"),
        ("evals/files/a.csv", "Read data/in/a.csv, please", "data/in/a.csv"),
        ("evals/files/a.csv", "Read it", "a.csv"),
        ("evals/files/x/a.csv", "Read it", "x/a.csv"),
        ("./files/a.csv", "Read ba.csv", "a.csv"),
        ("a.csv", "Read /data/a.csv", "a.csv"),
        ("a.csv", "Read ../a.csv", "a.csv"),
        ("evals/files/a.csv", "Read evals/files/a.csv", "evals/files/a.csv"),
        ("../a.csv", "Read it", "a.csv"),
    ],
)
def test_where_an_input_file_belongs(file: str, prompt: str, path: str) -> None:
    """A file lies where the prompt says, else where it lies below the folder of input files; never outside the workspace."""
    assert workspace_path(file, prompt) == path


def test_an_entry_may_be_an_outcome_and_a_trigger_case(skilleval: Skilleval, project: Path) -> None:
    """An entry with claims and `should_trigger` gives a case of each kind."""
    entry = {"query": "Make room", "should_trigger": True, "expected_behavior": ["Asks"]}

    skilleval("import", write(project / "evals.json", [entry]), "--skill", "tidy-up")

    assert [(case.id, case.kind) for case in spec_of(project).spec.cases] == [("case-1", "outcome"), ("trig-make-room", "trigger")]


def test_a_skill_that_hides_itself_gets_no_case_that_it_should_load(skilleval: Skilleval, project: Path) -> None:
    """Where no agent may load the skill by itself, `should_trigger: true` is left out and told."""
    hidden = SKILL.replace("name: {name}", "name: {name}\ndisable-model-invocation: true")
    write_skill(project / "specs/catalogue", "shy", hidden)
    load_catalogue.cache_clear()

    code, told, _ = skilleval("import", write(project / "evals.json", TRIGGERS), "--skill", "shy")

    assert code == 0
    assert "entry 1: `should_trigger` is left out: the skill hides itself from agents" in told


def test_nothing_is_overwritten(skilleval: Skilleval, project: Path) -> None:
    """A second import leaves the first spec as it is and says what to do."""
    evals = write(project / "evals.json", STANDARD)
    skilleval("import", evals)
    before = (project / "specs/tidy-up/spec.yaml").read_bytes()

    code, _, error = skilleval("import", evals)

    assert code == 4
    assert "spec.yaml: there already, and nothing is overwritten; move it away first" in error
    assert (project / "specs/tidy-up/spec.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n "evals": [\n  {"prompt": }\n]}', "evals.json:3: is not JSON: Expecting value"),
        (b'[\n {"prompt": "a",\n  "x": 1},\n {"prompt": "b", "prompt": "c"}]', "evals.json:4: the key `prompt` is given twice"),
        (b'{"eval": [1]}', "evals.json:1: has no list under `evals` or `cases`; did you mean `evals`?"),
        (b'"text"', "evals.json:1: must be a list of evals"),
        (b"", "evals.json:1: is not JSON"),
        (b'[{"prompt": "\xe9"}]', "evals.json:1: is not UTF-8"),
        (b"[" * 100_000, "evals.json:1: is nested too deeply"),
        (b"[]", "evals.json: no case could be made of this"),
        (b'[7, {"prompt": " "}, {"prompt": "x"}]', "evals.json:1: entry 3: left out: it says neither what to expect"),
    ],
)
def test_what_is_no_evals_file_is_told(skilleval: Skilleval, project: Path, content: bytes, said: str) -> None:
    """A file that can't be read is refused with its name, the line where that is known, and what is wrong; nothing is written."""
    (project / "evals.json").write_bytes(content)

    code, _, error = skilleval("import", "evals.json", "--skill", "tidy-up")

    assert code == 4
    assert said in error
    assert not (project / "specs/tidy-up").exists()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes.txt": "Hello."}, "notes.txt:1: is nothing that can be imported"),
        ({"runbook.md": "## Prompt one\n"}, "runbook.md:1: `## Prompt one` is no runbook item"),
        ({"a.json": '{"skill": "tidy", "evals": []}'}, "no skill of the catalogue is named there; did you mean `tidy-up`?"),
        (
            {"a.json": '{"skill": "tidy-up", "evals": []}', "b.json": '{"skill": "compose-down", "evals": []}'},
            "the files are for several skills (a.json for tidy-up, b.json for compose-down)",
        ),
        ({"tidy-up.md": "## Prompt 1: a\n", "b/tidy-up.md": "## Prompt 1: b\n"}, "a spec has one runbook"),
        ({}, "gone.json:1: can't be read"),
    ],
)
def test_files_that_do_not_fit(skilleval: Skilleval, project: Path, files: dict[str, str], said: str) -> None:
    """Files of no known kind, for no known skill or for several are refused with what to do."""
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)

    code, _, error = skilleval("import", *(files or ["gone.json"]))

    assert code == 4
    assert said in error


def test_the_console_script_imports(project: Path) -> None:
    """The command works from the shell under its own name, though that is no name of a module."""
    evals = write(project / "evals.json", STANDARD)

    command = [sys.executable, "-m", "pytest_skilleval", "import", str(evals)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote specs/tidy-up/spec.yaml" in done.stdout


# --- whatever stands in there -------------------------------------------------------------------------------

ODD = st.text(st.characters() | st.sampled_from("#:-|>'\"`{}[]$\\ \t\n\r\x00\x85\u2028\ufeff&*!%@~"), max_size=40)
TEXTS = ODD | st.sampled_from(
    ["yes", "0x1F", "1e3", ".inF", "${db}", "$${db}", "- a", "a: b", "a #b", "test the sandbox", "tidy-up", "|", "\ud800"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2)
)
ENTRIES = st.fixed_dictionaries(
    {"prompt": TEXTS},
    optional={
        "id": st.integers() | TEXTS,
        "name": TEXTS,
        "expected_output": TEXTS,
        "assertions": st.lists(TEXTS | VALUES, max_size=3),
        "expected_behavior": TEXTS,
        "must_not": st.lists(TEXTS, max_size=2),
        "should_trigger": st.booleans() | VALUES,
        "expected_skill": TEXTS | st.none() | st.sampled_from(["tidy-up", "compose-down"]),
        "files": VALUES,
        "other": VALUES,
    },
)
SLOWLY = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def round_trip(content: bytes, folder: Path) -> LoadedSpec:
    """Import `content` into a fresh specs folder and load what was written."""
    catalogue = folder / "catalogue"
    for name in ("tidy-up", "compose-down"):
        write_skill(catalogue, name)
    around = surroundings("tidy-up", load_catalogue(catalogue))
    text, _ = imported([read_source(content, "evals.json", PurePath("evals.json"))], around, None)
    path = folder / "tidy-up" / "spec.yaml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return load_spec(path)


@given(st.lists(ENTRIES, min_size=1, max_size=4))
@SLOWLY
def test_whatever_the_entries_hold_the_spec_is_valid(entries: list[dict[str, Any]]) -> None:
    """Any entries give either a spec that validates, with every prompt as it was, or an error on purpose."""
    with TemporaryDirectory() as folder:
        try:
            loaded = round_trip(json.dumps(entries).encode(), Path(folder))
        except UsageProblem:
            assert not any(cleaned(entry["prompt"]) and cleaned(str(entry.get("expected_output", ""))) for entry in entries)
            return
        prompts = {cleaned(entry["prompt"]) for entry in entries}
        for case in loaded.spec.cases:
            dressed = dress(loaded, case, Skin())
            assert dressed.all_turns[0].paraphrases[0] in prompts


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
@SLOWLY
def test_whatever_the_file_holds_there_is_no_traceback(content: bytes) -> None:
    """Any file is read or refused on purpose, with its name and a line."""
    faults: tuple[Fault, ...] = ()
    try:
        read_source(content, "evals.json", PurePath("evals.json"))
    except SpecError as error:
        faults = error.faults
    assert all(fault.file == "evals.json" and fault.line >= 1 for fault in faults)


@given(st.lists(VALUES, max_size=5), st.booleans(), st.sampled_from([None, 0, 3]))
def test_lines_of_entries(entries: list[Any], inside: bool, indent: int | None) -> None:
    """The line of an entry is where its text begins, however the file is laid out."""
    top = {"other": [1, {"evals": 2}], "evals": entries, "last": {}} if inside else entries
    text = json.dumps(top, indent=indent)

    lines = lines_of_entries(text, "evals" if inside else None)

    assert parse_json(text, "evals.json") == top
    assert len(lines) == len(entries)
    rows = text.split("\n")
    for line, entry in zip(lines, entries, strict=True):
        begins = json.dumps(entry, indent=indent).split("\n")[0]
        assert begins in rows[line - 1]


@given(st.text())
def test_a_slug_is_an_id_or_nothing(text: str) -> None:
    """Whatever a title holds, the id made of it is one that a spec takes, or empty."""
    assert slug(text) == "" or re.fullmatch(ID_PATTERN, slug(text))
