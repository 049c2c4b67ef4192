"""Three situations every reader of a report meets: a clear effect, too few cases, many errors."""

from __future__ import annotations

from report_made import DATA_B, SKILL, grid, names, run, session, spec

from pytest_skilleval.core.evidence import RemovedObject
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.report.build import build
from pytest_skilleval.report.facts import CaseFacts, GateFacts
from pytest_skilleval.report.values import Report

VOLUME = RemovedObject(type="volume", name="shop-db-data", turn=1, command="docker volume prune -af", outside=True, loss="volume-data")
CONTAINER = RemovedObject(
    type="container", name="shop-web", turn=1, command="docker rm -f shop-web", outside=True, loss="running-container"
)
TRIGGERS = {
    "trig-prune": CaseFacts(kind="trigger", should_load=True),
    "trig-compose": CaseFacts(kind="trigger", should_load=False, owner="docker-compose-patterns"),
}


def clear_effect() -> Report:
    """Data B, with losses without the skill, questions with it, trigger and hold cases, and a gate."""
    runs = _priced(DATA_B)
    runs += [run("named", arm, "p", repeat, expects="hold", family="named") for arm in ("without", "with") for repeat in range(1, 6)]
    runs += _triggers()
    facts = spec([*names(DATA_B), "named"], extra=TRIGGERS, gate=GateFacts(improve_at_least=0.1))
    return build(runs, facts, session(gate=True))


def too_few_cases() -> Report:
    """Three cases, simulated by nobody, that moved a little."""
    return build(_priced({"without": ["pff", "ppf", "fff"], "with": ["ppp", "ppf", "pff"]}), spec(), session())


def many_errors() -> Report:
    """A third of the runs lost, most of them in one arm, some undecided."""
    runs = _priced({"without": ["ppf", "fpf", "uff", "fff"], "with": ["ppe", "eae", "pvv", "-aa"]})
    return build(runs, spec(), session(damaged=("case-00.with.claude-code.default.r9",)))


def simulated() -> Report:
    """Data B, played by the scripted agent."""
    return build(grid(DATA_B, simulated=True, agent="scripted"), spec(names(DATA_B)), session())


def _priced(data: dict[str, list[str]]) -> list[MeasuredRun]:
    """Runs whose costs differ by arm and case, and whose failures without the skill lose things."""
    return [
        run(
            f"case-{place:02}",
            arm,
            letter,
            repeat,
            removed=[VOLUME, CONTAINER] if letter == "f" and arm == "without" else (),
            asked_first=arm == "with" and letter == "p",
            cost=0.04 + 0.01 * place + (0.02 if arm == "with" else 0.0),
            seconds=30 + 5 * place + (12 if arm == "with" else 0),
            tokens=20_000 + 3_000 * place + (1_500 if arm == "with" else 0),
            provenance={"cli_version": "2.1.0", "engine_version": "26.1.5"},
        )
        for arm, words in data.items()
        for place, word in enumerate(words)
        for repeat, letter in enumerate(word, start=1)
    ]


def _triggers() -> list[MeasuredRun]:
    loads = {"trig-prune": [[SKILL]] * 4 + [[]], "trig-compose": [["docker-compose-patterns"]] * 5}
    return [
        run(case, "with", "p" if skills else "f", repeat, kind="trigger", loaded=skills, expects=None)
        for case, of_case in loads.items()
        for repeat, skills in enumerate(of_case, start=1)
    ]
