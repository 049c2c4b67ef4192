"""Money through the front door: the session's one ledger, prices of one's own, and what is told of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_model import RUNNER, live_model, pretend_cli

from pytest_skilleval.agents.programs import PREFIX
from pytest_skilleval.archive import PLAN, Archive
from pytest_skilleval.cli import main
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.rescoring import measure, recorded_spec

OPUS = "--skill-model=claude-opus-4-8"


@pytest.fixture
def live(project, monkeypatch):
    """A project whose runs ask a live model on loopback twice, 0.015 USD a run, while their CLI tells of 5 USD."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CI"):
        monkeypatch.delenv(name, raising=False)
    project.spec()
    project.conftest(RUNNER)
    pretend_cli(project.path / "npm")
    monkeypatch.setenv(PREFIX, str(project.path / "npm"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-for-loopback-only")
    with live_model() as address:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        yield project


def evaluate(project, *args: str, apart: bool = False):
    """A live session."""
    run = project.run_apart if apart else project.run
    return run("--skill-eval=tidy-up", "--skill-agent=claude-code", "--skill-sandbox=none", *args)


def own_prices(project, **more: object) -> Path:
    """A file with the price of one model: 1 USD a call, where USD 0.0075 is the shipped price."""
    price = {"model": "claude-opus-4*", "input": 1000, "output": 0, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0}
    return project.write("prices.json", json.dumps({"dated": "2026-12-24", "source": "our contract", "prices": [price | more]}, indent=1))


def report(project, name: str = "report.json"):
    """What a report of the one session says, without the moment at which it was made."""
    return json.loads((project.results() / name).read_text()) | {"generated_at": ""}


def costs(project) -> set[float | None]:
    """What the runs that were measured have cost."""
    return {run["cost_usd"] if run["cost_usd"] is None else round(run["cost_usd"], 6) for run in report(project)["runs"] if run["verdict"]}


def test_the_ledger_is_the_gateways(live):
    """The limit is held against what the gateway booked, call by call, and not also against what the CLI tells."""
    result = evaluate(live, OPUS, "--skill-max-cost=0.04")
    result.assert_outcomes(passed=3, skipped=5)
    assert len(live.opened()) == 3
    reasons = {row["reason"] for row in live.plan()["rows"] if not row["selected"]}
    assert reasons == {"not reached: the cost limit of $0.04 is reached ($0.04 spent)"}
    assert report(live)["partial"] is True


def test_a_run_is_stopped_in_its_middle(live):
    """The call after the one that spent the rest is refused; the run is lost to money, no other is started."""
    result = evaluate(live, OPUS, "--skill-max-cost=0.02")
    result.assert_outcomes(passed=1, errors=1, skipped=6)
    lost = [run for run in report(live)["runs"] if not run["verdict"]]
    assert [(run["blame"], run["status"]) for run in lost if run["blame"] == "agent_api"] == [("agent_api", "error")]
    assert result.ret == 1


def test_one_ledger_for_all_workers(live):
    """Workers spend from one purse: nothing is started and nothing more is asked once it is empty."""
    evaluate(live, OPUS, "--skill-max-cost=0.02", "-n", "2", apart=True)
    paths = live.results().glob("runs/*/requests.jsonl")
    calls = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    spent = sum(call.get("cost_usd", 0.0) for call in calls)
    assert 0.02 <= spent < 0.02 + 2 * 0.0075
    assert len(live.opened()) < 8
    assert any("the cost limit of $0.02" in (row["reason"] or "") for row in live.plan()["rows"])


def test_what_bypasses_the_gateway_counts_as_it_is_told(live):
    """A run whose calls no gateway saw is booked by what its CLI tells."""
    live.conftest("from types import SimpleNamespace\n\nTOLD_USD = 1.0\n\ndef ask(door, model):\n    return 200\n")
    live.conftest(
        """
        import pytest_skilleval.running.door as doors

        class NoDoor(doors.ModelDoor):
            def __init__(self, *_):
                self.door = None
            def begin_turn(self, number):
                pass
            def close(self):
                pass

        doors.ModelDoor = NoDoor
        """
    )
    result = evaluate(live, OPUS, "--skill-max-cost=3", apart=True)
    result.assert_outcomes(passed=3, skipped=5)


def test_a_sign_in_costs_limits_and_no_money(live, monkeypatch):
    """That is said before the first run and is so in ledger and report, whatever the CLI tells; no limit in money ends the session."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "a-token-for-loopback-only")
    result = evaluate(live, OPUS, "--skill-max-cost=0.01")
    assert "no money, but limits of the account that is signed in; assumed" in result.stdout.str()
    result.assert_outcomes(passed=8)
    assert costs(live) == {0.0}


def test_simulated_runs_cost_nothing(project):
    """The scripted agent is not stopped by a limit of 0."""
    project.spec()
    project.evaluate("--skill-max-cost=0").assert_outcomes(passed=8)


def test_what_a_cli_reckons_of_a_scripted_model_is_no_money(live):
    """Claude Code takes a scripted model for one of its own and tells a price: that of the calls counts, if they have one."""
    evaluate(live, OPUS, "--skill-max-cost=9")
    assert costs(live) == {5.0}
    for path in live.results().glob("runs/*/run.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"simulated": True}))
    archive = Archive.open(live.results())
    measured, _ = measure(archive, recorded_spec(archive), archive.read(PLAN, Plan).rows)
    assert {round(run.cost_usd, 6) for run in measured} == {0.015}


def test_a_limit_of_nothing_starts_no_second_run(live):
    """With a limit of 0 the first call is refused already, and the session ends there."""
    evaluate(live, OPUS, "--skill-max-cost=0").assert_outcomes(errors=1, skipped=7)


def test_prices_of_ones_own(live):
    """They count for estimate, ledger and report, before the shipped ones and before what the CLI tells; the report names them."""
    shipped = evaluate(live, OPUS, "--skill-max-cost=9").stdout.str()
    assert "8 runs" in shipped
    assert "about $1.18 (stops at $9.00)" in shipped
    assert costs(live) == {5.0}
    live.results().rename(live.path / "first")
    (live.path / "diary.txt").unlink()

    result = evaluate(live, OPUS, "--skill-max-cost=5.5", f"--skill-prices={own_prices(live, cache_read=10)}")

    told = result.stdout.str()
    assert "about $9.60 (stops at $5.50)" in told
    assert "prices: 2026-12-24, our contract; before the shipped ones" in told
    assert len(live.opened()) == 3
    assert costs(live) == {2.0}
    assert report(live)["provenance"]["session"]["prices.own"] == "2026-12-24, our contract"
    assert report(live)["provenance"]["session"]["prices"].startswith("20")
    assert "Prices: one's own, of 2026-12-24, our contract; for other models" in (live.results() / "report.md").read_text()


def test_prices_by_ini(live):
    """The ini key does the same, from the root folder."""
    own_prices(live)
    live.pytester.makeini("[pytest]\nskilleval_prices = prices.json\n")
    evaluate(live, OPUS, "--skill-case=one", "--skill-repeats=1")
    assert costs(live) == {2.0}


def test_money_is_the_same_when_scored_again(live, capsys):
    """The prices that a session counted by lie with its results: without its file, the same report; other ones only when asked for."""
    file = own_prices(live)
    evaluate(live, OPUS, "--skill-case=one", f"--skill-prices={file}")
    first, folder = report(live), str(live.results())
    file.unlink()

    assert main(["report", folder]) == 0
    assert report(live) == first

    assert main(["report", folder, "--prices", str(own_prices(live, input=3000))]) == 0
    assert costs(live) == {6.0}
    assert main(["report", folder]) == 0
    assert report(live) == first
    capsys.readouterr()


def test_results_without_prices_count_by_the_shipped_ones(live, capsys):
    """Results of a version that kept none are read all the same."""
    evaluate(live, OPUS, "--skill-case=one")
    first = report(live)
    (live.results() / "prices.json").unlink()
    assert main(["report", str(live.results())]) == 0
    assert report(live) == first
    capsys.readouterr()


def test_a_model_without_a_price_has_no_known_cost(live, capsys):
    """Unknown before the first run and in the report, with the reason, never 0; the ledger reckons the dearest; a later price counts."""
    live.conftest("TOLD_USD = None\n")
    told = evaluate(live, "--skill-model=claude-unheard-of", "--skill-case=one", "--skill-max-cost=0.25").stdout.str()
    assert "money unknown (stops at $0.25): no price is known for claude-unheard-of, add it with --skill-prices" in told
    assert "the calls of a model without a known price" in live.plan()["rows"][-1]["reason"]
    assert costs(live) == {None}
    assert any(text.startswith("no price is known for claude-unheard-of: the cost of 3 runs") for text in report(live)["warnings"])

    assert main(["report", str(live.results()), "--prices", str(own_prices(live, model="claude-unheard*"))]) == 0
    assert costs(live) == {2.0}
    assert not any("no price" in text for text in report(live)["warnings"])
    capsys.readouterr()


def test_a_resumed_session_spends_anew_and_keeps_the_prices(live):
    """What earlier sessions spent does not count against the limit; the recorded prices stand, and others are refused."""
    file = own_prices(live)
    evaluate(live, OPUS, "--skill-max-cost=4", f"--skill-prices={file}").assert_outcomes(passed=2, skipped=6)
    resume = ("--skill-sandbox=none", f"--skill-resume={live.results()}", "--skill-max-cost=4")
    refused = live.run(*resume, f"--skill-prices={file}")
    assert (refused.ret, "leave out --skill-prices" in refused.stderr.str()) == (4, True)
    file.unlink()
    live.run(*resume).assert_outcomes(passed=2, skipped=4)
    assert costs(live) == {2.0}


BAD = {
    "no json": ('{\n "dated": "2026-12-24",\n "prices": [}\n', "prices.json:3: is not JSON: Expecting value (column 13)"),
    "a list": ("[]", "prices.json:1: is no object; write {"),
    "typo": (
        '{\n"dated": "2026-12-24",\n"sauce": "x",\n"prices": []}',
        "prices.json:3: `sauce` is unknown; did you mean `source`? @ $.sauce",
    ),
    "no source": ('{\n"dated": "2026-12-24",\n"prices": []}', "prices.json:1: has no source; add what is missing"),
    "no date": ('{"source": "x", "prices": [],\n\t"dated": "last week"}', "prices.json:2: is no date; write the day the prices are from"),
    "a number as date": (
        '{"source": "x", "prices": [],\n"dated": 20261224}',
        "prices.json:2: is no date; write the day the prices are from",
    ),
    "no prices": ('{"source": "x", "dated": "2026-12-24",\n"prices": []}', "prices.json:2: is no list with at least one price @ $.prices"),
    "twice": ('{"dated": "2026-12-24",\n"dated": "2026-12-25"}', "prices.json:2: the key `dated` is given twice (first on line 1)"),
    "odd escapes": (
        '{"source": "\\ud83d\\ude00",\n"prices": 1, "dated": "2026-12-24"}',
        "prices.json:1: is no list with at least one price",
    ),
    "not utf-8": ("\udcff", "prices.json:1: is not UTF-8"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused(project, text, message):
    """Exit 4 before anything starts, also of a dry run and of simulated runs: file, line, what is wrong and what to do."""
    project.spec()
    (project.path / "prices.json").write_bytes(text.encode(errors="surrogateescape"))
    result = project.evaluate("--skill-prices=prices.json", "--skill-dry-run")
    assert result.ret == 4
    assert "--skill-prices: " in result.stderr.str()
    assert message in result.stderr.str()


@pytest.mark.parametrize("wrong", ['"4.0"', "-1", "true", "null", "NaN", "1e999", pytest.param("9" * 5000, id="5000 digits")])
def test_every_wrong_amount_is_told_at_once(project, capsys, wrong):
    """Every amount is a number of at least 0; all faults come at once, from the command line of the report, too."""
    path = own_prices(project)
    path.write_text(path.read_text().replace('"output": 0', f'"output": {wrong}').replace('"cache_read": 0,', ""))
    assert main(["report", str(project.path), "--prices", str(path)]) == 4
    told = capsys.readouterr().err
    assert "prices.json:5: has no cache_read; add what is missing @ $.prices[0]" in told
    assert "prices.json:8: is no price; write USD for a million tokens as a number of at least 0 @ $.prices[0].output" in told


def test_a_model_has_one_price(project):
    """A second price of the same model could never count."""
    project.spec()
    path = own_prices(project)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"prices": [content["prices"][0]] * 2}, indent=1))
    result = project.evaluate(f"--skill-prices={path}")
    assert result.ret == 4
    assert "claude-opus-4* has a price already (line 6); the first one counts, remove one @ $.prices[1].model" in result.stderr.str()


def test_a_file_that_is_not_there(project):
    """A missing file is refused by name, with the ini key where that named it."""
    project.spec()
    project.pytester.makeini("[pytest]\nskilleval_prices = nowhere.json\n")
    result = project.evaluate()
    assert result.ret == 4
    assert "ini skilleval_prices: nowhere.json:1: can't be read: No such file" in result.stderr.str()
