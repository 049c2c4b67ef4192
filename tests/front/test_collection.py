"""Spec files as pytest items."""

from __future__ import annotations

from fnmatch import fnmatchcase as fnmatch

import pytest

from pytest_skilleval.core import loading

OPENAPI = "openapi: 3.1.0\ninfo: {title: pets}\npaths: {}\n"


def ids(result):
    """Node ids that -q --collect-only printed."""
    return [line for line in result.outlines if "::" in line and not line.startswith(" ")]


def test_only_the_specs_are_collected(project):
    """With --skill-eval and no paths, the project's other tests are not collected, nor those inside the specs folder."""
    project.spec()
    project.pytester.makepyfile(test_other="def test_it(): assert False")
    project.write("specs/tidy-up/test_inner.py", "def test_it(): assert False")
    result = project.evaluate("--skill-repeats=1")
    result.assert_outcomes(passed=4)


def test_only_the_specs_are_collected_on_workers(project):
    """The same holds on xdist workers."""
    project.spec()
    project.pytester.makeini("[pytest]\ntestpaths = tests\n")
    project.write("tests/test_other.py", "def test_it(): assert False")
    result = project.evaluate("-n", "2", "--skill-repeats=1", apart=True)
    assert result.ret == 0
    result.assert_outcomes(passed=4)


def test_a_plain_session_deselects_runs(project):
    """A plain pytest runs the project's tests and deselects all runs."""
    project.spec()
    project.pytester.makepyfile(test_other="def test_it(): pass")
    result = project.run()
    result.assert_outcomes(passed=1, deselected=8)
    assert not project.diary()


def test_a_plain_session_survives_a_bad_spec(project):
    """A bad spec is a warning in a session that evaluates nothing."""
    bad = project.spec()
    bad.write_text(bad.read_text().replace("kind:", "kid:"))
    project.pytester.makepyfile(test_other="def test_it(): pass")
    result = project.run("-W", "default")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*InvalidSpecWarning: specs/tidy-up/spec.yaml:*"])


def test_collect_only_adds_the_specs_folder(project):
    """--collect-only without paths shows specs, wherever testpaths point, and deselects nothing."""
    project.spec()
    project.pytester.makeini("[pytest]\ntestpaths = tests\n")
    project.write("tests/test_other.py", "def test_it(): pass")
    result = project.run("--collect-only", "-q")
    assert result.ret == 0
    assert sorted(ids(result)) == sorted(
        ["tests/test_other.py::test_it"]
        + [
            f"specs/tidy-up/spec.yaml::{case}[{arm}-claude-code-default-r{n}]"
            for case in ("one", "two")
            for arm in ("without", "with")
            for n in (1, 2)
        ]
    )


@pytest.mark.parametrize("flags", [("--collect-only",), ("--collect-only", "-q"), ("--skill-eval=tidy-up", "--skill-dry-run")])
def test_weaknesses_are_told_where_specs_are_only_looked_at(project, flags):
    """What leaves a spec valid but weak, such as a check that no rehearsal trips, is told with its place; the session is green."""
    spec = project.spec()
    spec.write_text(spec.read_text().replace("must:\n", "must:\n          - {id: says-so, reply: so}\n", 1))
    line = spec.read_text()[: spec.read_text().index("id: says-so")].count("\n") + 1
    result = project.run(*flags)
    assert result.ret == 0
    told = f"specs/tidy-up/spec.yaml:{line}: no rehearsal trips `says-so`; add one that does @ $.cases[0].turns[0].must[0]"
    assert sum(told in one for one in result.outlines) == 1


def test_collect_only_with_paths_adds_nothing(project):
    """--collect-only with paths looks there and nowhere else."""
    project.spec()
    project.write("tests/test_other.py", "def test_it(): pass")
    assert ids(project.run("--collect-only", "-q", "tests")) == ["tests/test_other.py::test_it"]


def test_collect_only_of_an_evaluation_shows_the_order(project):
    """--collect-only with --skill-eval lists the runs in the order of the plan, and makes nothing."""
    project.spec()
    listed = ids(project.evaluate("--collect-only", "-q"))
    project.evaluate()
    assert [f"{run.split('.')[0]}[{'-'.join(run.split('.')[1:])}]" for run in project.opened()] == [
        line.partition("::")[2] for line in listed
    ]
    assert len(listed) == 8


def test_a_stranger_is_left_alone(project):
    """A specs/x/spec.yaml of somebody else is no spec, nor is a spec outside the specs folder."""
    spec = project.spec()
    project.write("specs/pets/spec.yaml", OPENAPI)
    project.write("other/tidy-up/spec.yaml", spec.read_text())
    result = project.run("--collect-only", "-q", "specs/pets", "other")
    assert result.ret == 5
    assert ids(result) == []


STRAYS = (
    ("skill: tidy-up\n\tcases: []\n", 2, "it is not YAML: *tab*"),
    ("", 1, "it is empty; *"),
    ("- skill: tidy-up\n", 1, "it is a list; *"),
    ("summary: x\nskill: tidy-up\n", 2, "it has no `cases:` at its top"),
    ("Skill: tidy-up\ncase: []\n", 1, "it has no `skill:` and no `cases:` at its top; write `skill` for `Skill`; write `cases` for `case`"),
    ("arms: {}\n", 1, "it has no `skill:` and no `cases:` at its top"),
    ("{skill: tidy-up, cases: []}\n", 1, "its `skill:` and `cases:` must stand at the start of a line"),
    ("skill: Caf\xe9\n", 1, "it is not UTF-8 *"),
)


@pytest.mark.parametrize(("text", "line", "said"), STRAYS)
def test_what_was_meant_as_a_spec_is_told(project, text, line, said):
    """--collect-only names a spec.yaml that is too broken to be taken as a spec, once, with line and reason; it is no error."""
    project.spec("other")
    project.spec().write_bytes(text.encode("latin-1"))
    result = project.run("--collect-only", "-q", "-W", "default")
    assert result.ret == 0
    told = [one for one in result.outlines if "InvalidSpecWarning" in one]
    assert len(told) == 1
    assert fnmatch(told[0], f"*InvalidSpecWarning: specs/tidy-up/spec.yaml:{line}: is not taken as a spec: {said}")


def test_what_was_meant_as_a_spec_and_named_is_an_error(project):
    """The same file named on the command line is a collection error, with or without --collect-only."""
    project.spec().write_text("skill: tidy-up\narms: {}\n")
    for flags in ((), ("--collect-only",)):
        result = project.run(*flags, "specs/tidy-up/spec.yaml")
        assert result.ret == 2
        assert "specs/tidy-up/spec.yaml:1: is not taken as a spec: it has no `cases:` at its top" in result.stdout.str()


@pytest.mark.parametrize("text", [OPENAPI, "a: &x {}\nb: *x\n", "kind: A\n---\nkind: B\n"])
def test_a_stranger_is_not_warned_about(project, text):
    """Somebody else's YAML is passed over in silence, also where it is named."""
    project.spec()
    project.write("specs/pets/spec.yaml", text)
    assert "InvalidSpecWarning" not in project.run("--collect-only", "-q", "-W", "default").stdout.str()
    assert "not found:" in project.run("--collect-only", "-q", "specs/pets/spec.yaml").stderr.str()  # as pytest answers by itself


def test_another_specs_folder(project):
    """The ini key skilleval_specs names another folder."""
    project.spec()
    (project.path / "specs").rename(project.path / "evals")
    project.pytester.makeini("[pytest]\nskilleval_specs = evals\n")
    project.evaluate("--skill-repeats=1").assert_outcomes(passed=4)


def test_marker_selects(project):
    """-m "skill_run(...)" selects by case, arm and repeat, also under --strict-markers."""
    project.spec()
    result = project.evaluate("--strict-markers", "-m", "skill_run(arm='with') and skill_run(case='one') and not skill_run(repeat=2)")
    result.assert_outcomes(passed=1, deselected=7)
    assert project.opened() == ["one.with.scripted.default.r1"]


def test_location_is_the_line_of_the_case(project):
    """An item's location is the case's line in the YAML."""
    spec = project.spec()
    project.conftest(
        """
        def pytest_collection_finish(session):
            print(*{(item.location[0], item.location[1] + 1) for item in session.items})
        """
    )
    result = project.evaluate("--skill-case=two", "-s")
    line = spec.read_text().splitlines().index("  - id: two") + 1
    result.stdout.fnmatch_lines([f"*('specs/tidy-up/spec.yaml', {line})*"])


def test_items_are_plain_functions(project):
    """Items are pytest.Function objects, so a project's autouse fixtures and hooks apply to them."""
    project.spec()
    project.conftest(
        """
        import pytest

        @pytest.fixture(autouse=True)
        def seen(request):
            assert type(request.node) is pytest.Function
        """
    )
    project.evaluate().assert_outcomes(passed=8)


def test_node_id_selects_one_run(project):
    """A node id runs that run only, and the session is partial."""
    project.spec()
    result = project.evaluate("specs/tidy-up/spec.yaml::one[with-scripted-default-r1]")
    result.assert_outcomes(passed=1)
    assert sum(row["selected"] for row in project.plan()["rows"]) == 1


def test_skill_names(project):
    """--skill-eval takes ids, comma lists, globs and `all`; only what it means is collected."""
    for skill in ("tidy-up", "mop-up", "polish"):
        project.spec(skill)
    for asked, expected in (("polish", 8), ("polish,mop-up", 16), ("*-up", 16), ("all", 24)):
        assert len(ids(project.evaluate("--collect-only", "-q", skill=asked))) == expected


def test_trigger_cases_need_the_skill(project):
    """Trigger cases run only in arms that install the skill."""
    trigger = "  - id: asks\n    kind: trigger\n    prompt: Please put things in order.\n    should_load: true\n"
    project.spec(cases=(trigger,))
    assert [line.partition("::")[2] for line in ids(project.evaluate("--collect-only", "-q", "--skill-repeats=1"))] == [
        "asks[with-scripted-default-r1]"
    ]


def test_overriding_a_fixture(project):
    """A project can override a rung of the fixture ladder."""
    project.spec()
    project.conftest(
        """
        import pytest

        @pytest.fixture
        def skill_runner(skill_runner):
            def twice(job):
                note("before", job)
                return skill_runner(job)
            return twice
        """
    )
    project.evaluate("--skill-case=one", "--skill-repeats=1")
    assert [what for what, *_ in project.diary()] == ["before", "open", "close"] * 2


DESCRIBE = """
    def pytest_collection_finish(session):
        for item in session.items:
            marks = sorted((mark.name, tuple(mark.kwargs.items())) for mark in item.iter_markers() if mark.name != "parametrize")
            call = item.callspec
            print("ITEM", item.nodeid, item.location, marks, call.id, call.indices, call.params, item.fixturenames, item.function.__name__)
"""


def test_items_are_made_as_pytest_makes_them(project):
    """Items made like the first one are those that pytest makes when it is asked about every case (a hook of the project sees to that)."""
    project.spec()
    project.conftest(DESCRIBE)
    alike = [line for line in project.evaluate("-s").outlines if "ITEM" in line]
    project.conftest("asked = []\n\ndef pytest_generate_tests(metafunc):\n    print('ASKED', metafunc.definition.name)\n")
    result = project.evaluate("-s")
    assert [line for line in result.outlines if line.startswith("ASKED")] == ["ASKED one", "ASKED two"]
    assert [line for line in result.outlines if "ITEM" in line] == alike
    assert len(alike) == 8


def test_a_hook_of_the_project_sees_every_case(project):
    """A conftest.py that decides by name what a test function becomes decides about every case."""
    project.spec()
    project.conftest("def pytest_pycollect_makeitem(name):\n    return [] if name == 'two' else None\n")
    assert {line.partition("::")[2].partition("[")[0] for line in ids(project.evaluate("--collect-only", "-q"))} == {"one"}


def test_an_autouse_fixture_multiplies_the_runs_of_every_case(project):
    """An autouse fixture with parameters applies to runs as to every test function."""
    project.spec()
    project.conftest("import pytest\n\n@pytest.fixture(autouse=True, params=['x', 'y'])\ndef each(request):\n    return request.param\n")
    listed = ids(project.run("--collect-only", "-q", "specs"))
    assert len(listed) == 16
    assert sum("two[" in line for line in listed) == 8


@pytest.mark.parametrize("flags", [(), ("--collect-only",), ("--skill-dry-run",)])
def test_a_session_reads_each_spec_once(project, monkeypatch, flags):
    """What the plan was made from is also what is collected, shown and run: a process loads a spec once."""
    project.spec()
    loaded = []
    load = loading._load  # the one way to a loaded spec, whoever imported `load_spec`
    monkeypatch.setattr(loading, "_load", lambda path, catalogue: loaded.append(path.parent.name) or load(path, catalogue))
    result = project.evaluate("--skill-repeats=1", *flags)
    assert result.ret == 0
    assert loaded == ["tidy-up"]
