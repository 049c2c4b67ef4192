"""report.json, report.md and report.html."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
import report_situations
from report_made import DATA_A, grid, names, run, session, spec

from pytest_skilleval import report
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.report.build import build
from pytest_skilleval.report.encode import from_json, schema, to_json
from pytest_skilleval.report.files import read, write
from pytest_skilleval.report.markdown import to_markdown
from pytest_skilleval.report.page import to_html
from pytest_skilleval.report.values import BANNER

SITUATIONS = ["clear_effect", "too_few_cases", "many_errors", "simulated"]


@pytest.fixture(params=SITUATIONS)
def situation(request: pytest.FixtureRequest) -> report.values.Report:
    """Each situation in turn."""
    return getattr(report_situations, request.param)()


def test_json_follows_its_schema(situation: report.values.Report) -> None:
    """Real reports are valid by the shipped schema, and every key they use is described in it."""
    shipped = json.loads((Path(report.__file__).parent / "report.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(shipped)
    for definition in shipped["$defs"].values():
        definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(shipped).validate(json.loads(to_json(situation, "2026-11-30T00:00:00Z")))


def test_building_is_imported_lightly() -> None:
    """Importing the report's modules loads neither scipy nor statsmodels: only building a report does."""
    modules = ["build", "compare", "encode", "export", "files", "markdown", "page", "terminal"]
    code = "; ".join([*(f"import pytest_skilleval.report.{name}" for name in modules), "import sys", "print(*sys.modules)"])
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert not {"scipy", "statsmodels", "pandas", "pydantic"}.intersection(loaded)


def test_shipped_schema_is_that_of_the_values() -> None:
    """The shipped schema is the one generated from the value types."""
    assert (Path(report.__file__).parent / "report.schema.json").read_bytes() == schema()


def test_only_the_clock_differs(situation: report.values.Report) -> None:
    """Two files of the same results differ in generated_at and nowhere else."""
    first, second = (json.loads(to_json(situation, clock)) for clock in ("2026-11-30T00:00:00Z", "2027-01-01T00:00:00Z"))
    assert first.pop("generated_at") != second.pop("generated_at")
    assert first == second


def test_floats_have_six_digits() -> None:
    """Floats in report.json are rounded to six digits after the point, and there is no minus zero."""
    data = to_json(report_situations.clear_effect(), "t")
    longest = max(len(word.rpartition(b".")[2].strip(b",]}")) for word in data.split() if word[:1].isdigit() and b"." in word)
    assert longest <= 6
    assert b"-0.0," not in data


def test_json_reads_back(situation: report.values.Report) -> None:
    """A report.json read back says the same as the report it came from."""
    again = from_json(to_json(situation, "t"))
    assert again.headline == situation.document.headline
    assert [run.id for run in again.runs] == [run.id for run in situation.document.runs]


def test_newer_format_is_refused() -> None:
    """A report of a newer format is refused by name, and so is a file that is no report."""
    newer = to_json(report_situations.simulated(), "t").replace(b'"format": 1', b'"format": 99', 1)
    with pytest.raises(ArchiveError, match="format 99"):
        from_json(newer, "some/report.json")
    with pytest.raises(ArchiveError, match=r"some/report\.json"):
        from_json(b"{]", "some/report.json")


def test_simulated_is_stamped_on_every_page() -> None:
    """The banner stands in all three files of simulated results and in none of live ones."""
    simulated, live = report_situations.simulated(), report_situations.clear_effect()
    for text in (to_markdown, to_html, lambda one: to_json(one, "t").decode()):
        assert BANNER in text(simulated)
        assert BANNER not in text(live)


def test_every_figure_has_limits_or_a_reason(situation: report.values.Report) -> None:
    """Wherever report.json has limits they are both there, with method and n, or both null with a reason."""
    for one in _limits(json.loads(to_json(situation, "t"))):
        assert one["method"]
        assert one["n"] >= 0
        if one["low"] is None:
            assert one["high"] is None
            assert one["reason"]
        else:
            assert one["low"] <= one["high"]


def test_write_is_whole_and_repeatable(tmp_path: Path) -> None:
    """Writing twice leaves exactly the three files, replaced; reading finds the report in its folder."""
    made = report_situations.too_few_cases()
    write(tmp_path, made, "first")
    paths = write(tmp_path, made, "second")
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    assert read(tmp_path).generated_at == "second"
    assert read(tmp_path / "report.json").skill == made.document.skill


def test_missing_report_is_told(tmp_path: Path) -> None:
    """A folder without a report is an error that says how to make one."""
    with pytest.raises(ArchiveError, match="skilleval report"):
        read(tmp_path)


class _Page(HTMLParser):
    """Collects tags that stay open and everything that would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        self.foreign += [tag] if tag in ("script", "link", "img", "iframe") else []
        self.foreign += [value for name, value in attrs if name in ("src", "href") and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_one_file(situation: report.values.Report) -> None:
    """The page is well formed, has no script and loads nothing from elsewhere."""
    page = _Page()
    html = to_html(situation)
    page.feed(html)
    assert page.open == []
    assert page.foreign == []
    assert "url(" not in html
    assert "@import" not in html


def test_cards_are_of_one_agent_and_add_up() -> None:
    """The cards show the arms of the first comparison over its own cases, and say whose they are where several agents ran."""
    arms = {"without": ["pff", "fff"], "rules": ["ppp", "ppp"], "with": ["ppp", "ppf"]}
    runs = [one for agent in ("codex", "claude-code") for one in grid(arms, agent=agent)]
    runs += [run("named", arm, "p", repeat, agent="claude-code", expects="hold") for arm in ("without", "with") for repeat in (1, 2)]
    page = to_html(build(runs, spec(), session()))
    cards = page.partition('<div class="cards">')[2].partition("</header>")[0]
    for card in (
        "<span>without → with (claude-code)</span><b>+67 points</b>",
        "<span>without (claude-code): passed</span><b>17 %</b>",
        "<span>with (claude-code): passed</span><b>83 %</b>",
        "5 of 6, cases to improve</span>",
        "<span>with (claude-code): irreversible loss</span>",
    ):
        assert card in cards
    assert "rules" not in cards
    assert "codex" not in cards


def test_hostile_text_is_harmless() -> None:
    """Names and commands that agents wrote appear as text, in HTML and in Markdown tables."""
    nasty = "<script>alert(1)</script> | `x` \n# y"
    runs = [*grid({"without": ["ppp"]}), run(nasty, "without", "e")]
    made = build(runs, spec(), session())
    assert "<script>" not in to_html(made)
    assert "&lt;script&gt;" in to_html(made)
    assert "\n# y" not in to_markdown(made)
    assert r"\| \`x\` \# y" in to_markdown(made)


def test_markdown_tables_are_square(situation: report.values.Report) -> None:
    """Every row of a Markdown table has as many cells as its head."""
    width = None
    for line in to_markdown(situation).splitlines():
        cells = line.replace(r"\|", "").count("|")
        if not line.startswith("|"):
            width = None
        elif width is None:
            width = cells
        assert width in (None, cells)


def test_folder_stays_out_of_the_files() -> None:
    """Where the files lie is told on the terminal only, so that moved results report the same bytes."""
    here, there = (build(grid(DATA_A), spec(names(DATA_A)), session(folder=folder)) for folder in ("here", "there"))
    assert to_json(here, "t") == to_json(there, "t")
    assert to_html(here) == to_html(there)


def _limits(value: object) -> list[dict[str, object]]:
    if isinstance(value, list):
        return [one for item in value for one in _limits(item)]
    if isinstance(value, dict):
        own = [value] if {"low", "high"} <= value.keys() else []
        return own + [one for item in value.values() for one in _limits(item)]
    return []


@pytest.mark.parametrize(
    ("sessions", "mend"), [([], "write it with: skilleval report {}"), (["a", "b"], "name a session's folder, such as {}/b")]
)
def test_a_missing_report_is_told_with_the_mend(tmp_path: Path, sessions: list[str], mend: str) -> None:
    """Where the folder holds sessions with reports, one of them is named; else how to write one."""
    for name in sessions:
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text("{}")
    with pytest.raises(ArchiveError) as told:
        read(tmp_path)
    assert str(told.value).endswith(mend.format(tmp_path))
