"""``skilleval plan``: sizes and prices from guesses or from a pilot, in words and as a picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from commands_recorded import Skilleval, record_session, write_spec

from pytest_skilleval.core.statistics import sizes
from pytest_skilleval.core.statistics.planning import Price, pilot, stated
from pytest_skilleval.core.statistics.values import PairedCounts

WITHOUT = ["ppp", "pff", "fff", "ppf", "fff", "ppf", "pff", "ppp"]
WITH = ["ppp", "ppp", "ppp", "ppf", "ppp", "ppp", "pff", "ppp"]


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer sizes and simulations: the words are looked at here."""
    monkeypatch.setattr(sizes.sizing, "__kwdefaults__", {"price": None, "sizes": ((8, 16), (1, 3))})
    monkeypatch.setattr(sizes, "ROUGH", 100)


def test_guesses(project: Path, skilleval: Skilleval) -> None:
    """From guesses: the spec's size, its chances, what the effect needs by repeats, the price, and that all is assumed."""
    code, out, _ = skilleval("plan", write_spec(project), "--rate", "0.4", "--effect", "0.3")
    assert code == 0
    assert "tidy-up: 8 cases to improve in 8 families x 3 repeats x 2 arms, claude-code" in out
    assert "as it stands: 48 runs with all other cases, about $7.20 and 38 min" in out
    assert "40 % pass without the skill (stated guesses)" in out
    for words in ("on these cases with a chance of", "for new cases with a chance of", "'too few cases'", "95 % limits", "an effect of"):
        assert words in out
    assert re.search(r"(\d+) cases x 3 .* runs, about \$", out)
    assert "not measured" in out


def test_the_folder_of_a_spec_will_do(project: Path, skilleval: Skilleval) -> None:
    """SPEC is a file or its folder; options change agent, repeats and how many runs go on at once."""
    _, out, _ = skilleval("plan", write_spec(project).parent, "--agent", "scripted", "--repeats", "5", "--at-once", "4")
    assert "8 families x 5 repeats x 2 arms, scripted" in out
    assert "as it stands: 80 runs with all other cases, about 1 min" in out


def test_a_pilot_gives_rates_spread_and_price(project: Path, skilleval: Skilleval) -> None:
    """With --results rates and spread are those measured, and money and time those recorded."""
    spec = write_spec(project)
    folder = record_session(spec, {"without": WITHOUT, "with": WITH})
    code, out, err = skilleval("plan", spec, "--results", folder)
    assert (code, err) == (0, "")
    assert "50 % pass without the skill (pilot of 8 cases)" in out
    assert "48 runs with all other cases, about $24.00 and 48 min" in out
    assert "money and time as in the pilot" in out
    pairs = [PairedCounts(str(i), a.count("p"), 3, b.count("p"), 3) for i, (a, b) in enumerate(zip(WITHOUT, WITH, strict=True))]
    spread = pilot(pairs)
    assert spread is not None
    needed = sizes.sizing(spread, 0.3, cases=8, repeats=3, arms=2, price=Price(0.5, 60.0)).needs
    for need in needed:
        assert f"{need.cases} cases x {need.repeats} " in out


def test_a_simulated_pilot_is_stamped_and_gives_no_price(project: Path, skilleval: Skilleval) -> None:
    """Rates of a scripted agent are a script's, in words and picture; money and time then come from round figures."""
    spec = write_spec(project)
    folder = record_session(spec, {"without": WITHOUT, "with": WITH}, simulated=True)
    _, out, _ = skilleval("plan", spec, "--results", folder, "--picture", project / "plan.svg")
    assert out.startswith("SIMULATED")
    assert "not measured" in out
    assert "SIMULATED" in (project / "plan.svg").read_text()


def test_a_pilot_too_small_falls_back_on_guesses(project: Path, skilleval: Skilleval) -> None:
    """A pilot of one repeat tells no spread: guesses are used, and it is said."""
    spec = write_spec(project)
    folder = record_session(spec, {"without": ["f"] * 8, "with": ["p"] * 8})
    _, out, _ = skilleval("plan", spec, "--results", folder)
    assert "guesses are used instead" in out
    assert "(stated guesses)" in out


def test_the_picture_is_a_drawing_of_the_same_numbers(project: Path, skilleval: Skilleval) -> None:
    """The picture is well-formed SVG without script or links, with the cases needed at each number of repeats."""
    _, out, _ = skilleval("plan", write_spec(project), "--picture", project / "plan.svg")
    text = (project / "plan.svg").read_text()
    root = ET.fromstring(text)
    assert root.tag.endswith("svg")
    assert "script" not in text
    assert "href" not in text
    labels = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    for need in sizes.sizing(stated(0.5, 0.3), 0.3, cases=8, repeats=3, arms=2).needs:
        assert f"{need.cases} cases, {need.bill.runs} runs" in labels
    assert "picture:" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--effect", "0"), "--effect is a difference"),
        (("--effect", "0.6"), "--rate, --effect and --icc don't fit together"),
        (("--repeats", "0"), "--repeats and --at-once are 1 or more"),
        (("--results", "nowhere"), "no plan.json in it"),
        (("--agent", "claud-code"), "claude-code"),
    ],
)
def test_what_can_not_be_planned(project: Path, skilleval: Skilleval, arguments: tuple[str, ...], told: str) -> None:
    """Requests that make no sense end with exit 4 and the mend."""
    code, _, err = skilleval("plan", write_spec(project), *arguments)
    assert code == 4
    assert told in err


def test_a_pilot_of_another_skill_is_refused(project: Path, skilleval: Skilleval) -> None:
    """Results of another skill, and guesses beside a pilot, are refused."""
    spec = write_spec(project)
    folder = record_session(spec, {"without": WITHOUT, "with": WITH})
    assert "are guesses, and the pilot says it" in skilleval("plan", spec, "--results", folder, "--rate", "0.5")[2]
    assert "holds scripted" in skilleval("plan", spec, "--results", folder, "--agent", "codex")[2]
    spec.write_text(spec.read_text().replace("tidy-up", "compose-down"))
    other = spec.parent.rename(spec.parents[1] / "compose-down") / "spec.yaml"
    assert "is of tidy-up, not of compose-down" in skilleval("plan", other, "--results", folder)[2]


def test_chances_grow_with_cases_and_repeats() -> None:
    """More cases and more repeats never make an effect much harder to show, and always cost more."""
    table = sizes.sizing(stated(0.4, 0.3), 0.3, cases=8, repeats=3, arms=2, price=Price(1.0, 60.0), sizes=((8, 16, 30), (1, 3, 10)))
    for repeats in (1, 3, 10):
        chances = [table.at(cases, repeats).power_new_cases for cases in (8, 16, 30)]
        assert chances == sorted(chances)
    assert table.at(16, 3).bill.runs == 96
    assert [need.cases for need in table.needs] == sorted((need.cases for need in table.needs), reverse=True)
