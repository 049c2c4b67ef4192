"""The self-test finds a sound instrument sound, and each broken one broken: it can fail."""

from __future__ import annotations

import json
from pathlib import Path

import broken_instruments as broken
import pytest

from pytest_skilleval.cli import main
from pytest_skilleval.commands import selftest
from pytest_skilleval.selftest.findings import Answer, Found, find, find_all
from pytest_skilleval.selftest.recording import Instrument, Recordings, instrument
from pytest_skilleval.selftest.results import Rate, Result, result
from pytest_skilleval.selftest.standards import QUESTIONS, STANDARDS, standard
from pytest_skilleval.selftest.telling import STAMP, lines


def measure(name: str, folder: Path, sessions: int, under_test: Instrument = instrument) -> Result:
    """The result of some sessions with a fixed random seed."""
    one = standard(name)
    return result(one, find(Recordings(one, folder, under_test=under_test), 5, range(sessions)))


def found(difference: float = 0.0, truth: float = 0.0, *, claim: int = 0, covered: bool = True, verdict: str = "not shown") -> Found:
    """A session by hand, which answers both questions alike."""
    answer = Answer(truth, covered, claim, 0.04 if claim else 0.6)
    return Found(difference, answer, answer, verdict, calls=100)


@pytest.mark.parametrize("name", [one.name for one in STANDARDS if one.null])
def test_no_effect_is_claimed_where_there_is_none(name: str, tmp_path: Path) -> None:
    """Over 60 sessions of each null standard no promise is broken, and at most one session in ten claims what is not there."""
    measured = measure(name, tmp_path, 60)
    assert measured.state != "broken", measured
    assert max(measured.false[question].count for question in QUESTIONS) <= 6


def test_a_known_effect_lies_in_its_interval(tmp_path: Path) -> None:
    """The effect of .40 lies inside both intervals (in 90 of 100 sessions, as chance allows), and is found without bias."""
    measured = measure("effect-40", tmp_path, 100)
    assert min(measured.covered[question].count for question in QUESTIONS) >= 90
    assert {rate.n for rate in measured.covered.values()} == {100}
    assert measured.state != "broken"


@pytest.mark.parametrize(
    ("name", "sessions", "under_test", "promise"),
    [
        ("null", 160, broken.by_percentile_bootstrap, "false claims on new cases"),
        ("outage-by-arm", 40, broken.lost_runs_fail, "false claims on these cases"),
        ("families", 140, broken.families_ignored, "coverage on new cases"),
        ("null", 40, broken.optimistic, "bias"),
    ],
)
def test_a_broken_instrument_is_caught(name: str, sessions: int, under_test: Instrument, promise: str, tmp_path: Path) -> None:
    """A fault of a kind seen in other tools breaks the promise that it must break."""
    measured = measure(name, tmp_path, sessions, under_test)
    assert [one.state for one in measured.promises if one.text.startswith(promise)] == ["broken"], measured


def test_a_broken_instrument_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command returns 1 and names the broken promise; every line of its output stands under the self-test's stamp."""
    monkeypatch.setattr("pytest_skilleval.selftest.findings.find", lambda *_: [found(0.4, claim=1)] * 60)
    assert main(["selftest", "null", "--sessions", "60"]) == 1
    told = capsys.readouterr().out
    assert told.startswith(STAMP)
    assert "BROKEN: null, false claims on new cases: at most 0.05" in told


def test_a_promise_is_broken_only_when_the_sessions_prove_it() -> None:
    """With 60 sessions none wrong keeps it, 10 % leaves it open, 20 % breaks it."""
    for wrong, state in ((0, "kept"), (6, "open"), (12, "broken")):
        sessions = [found(claim=1)] * wrong + [found()] * (60 - wrong)
        promise = result(standard("null"), sessions).promises[0]
        assert (promise.text, promise.state) == ("false claims on these cases: at most 0.05", state)


def test_a_claim_is_false_when_it_points_the_wrong_way() -> None:
    """Where the skill harms, "better" is false and "worse" is right; model calls are counted for right claims alone."""
    harm = standard("harm-30")
    right = result(harm, [found(-0.3, -0.3, claim=-1)] * 30 + [found(-0.1, -0.3)] * 30)
    wrong = result(harm, [found(0.3, -0.3, claim=1)] * 60)
    assert (right.false["new"].count, right.claimed["new"].count, right.calls) == (0, 30, 200.0)
    assert (wrong.false["new"].count, wrong.calls, wrong.state) == (60, None, "broken")


def test_where_runs_are_lost_unfairly_only_claims_are_promised() -> None:
    """Bias and coverage are no promise where what is left of the runs does not tell the truth."""
    measured = result(standard("loss-by-arm"), [found(0.3, covered=False, verdict="lost too many runs")] * 60)
    assert (measured.state, measured.lost, len(measured.promises)) == ("kept", Rate(60, 60), 2)


def test_limits_of_a_share_are_exact() -> None:
    """The upper 95 % limit of 0 in 59 is just below .05, and without sessions everything is possible."""
    assert Rate(0, 59).limits[1] == pytest.approx(1 - 0.05 ** (1 / 59))
    assert Rate(0, 0).limits == (0, 1)
    assert Rate(0, selftest.FEWEST_SESSIONS).limits[1] <= 0.05


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing() -> None:
    """One process and two find the same, session by session."""
    chosen = [standard("loads-sometimes")]
    alone, shared = (list(find_all(chosen, sessions=60, random_seed=2, processes=processes)) for processes in (1, 2))
    assert alone == shared


def test_the_text_tells_every_standard_and_its_calibration() -> None:
    """Each standard has a row; nulls have a row of p values that is called no gate."""
    text = "\n".join(lines([result(one, [found(one.effect, one.effect)] * 60) for one in STANDARDS]))
    assert all(f"\n{one.name} " in text for one in STANDARDS)
    assert "(never a gate)" in text
    assert "null, new cases" in text
    assert "effect-40, new cases" not in text


def test_the_standards_are_printed_for_other_harnesses(capsys: pytest.CaptureFixture[str]) -> None:
    """`--list` prints exact probabilities, sizes, prompts and scripts as JSON, and measures nothing."""
    assert main(["selftest", "effect-40", "--list"]) == 0
    told = json.loads(capsys.readouterr().out)
    [one] = told["standards"]
    assert (one["name"], one["effect"], one["cases"], one["repeats"], one["drawn"]) == ("effect-40", 0.4, 8, 3, True)
    assert one["pool"][0] == {"without": 0.5, "loaded": 0.7, "loads": 1.0}
    assert {script["id"] for script in told["scripts"]} == {"careful", "hasty", "sweeping"}


def test_names_and_numbers_that_make_no_sense_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A typo gets the nearest name, too few sessions a reason; both exit with 4."""
    assert main(["selftest", "effect-4"]) == 4
    assert "did you mean" in capsys.readouterr().err
    assert main(["selftest", "null", "--sessions", "10"]) == 4
    assert "at least 60" in capsys.readouterr().err


def test_the_page_tells_every_standard_with_its_effect() -> None:
    """The documented table names each standard with its true effect, and no other."""
    page = (Path(__file__).parents[2] / "docs" / "selftest.md").read_text(encoding="utf-8")
    table = page[page.index("| name | kinds of case") :].split("\n\n")[0].splitlines()[2:]
    told = {row.split("|")[1].strip(" `"): float(row.split("|")[-2]) for row in table}
    assert told == {one.name: one.effect for one in STANDARDS}
