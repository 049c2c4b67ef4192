"""``skilleval plan``: how large an evaluation must be for a wanted effect, what the spec as it stands can show, and the price."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_skilleval.commands.piloting import Pilot
    from pytest_skilleval.core.loaded import LoadedSpec
    from pytest_skilleval.core.plan import Plan, Row
    from pytest_skilleval.core.statistics.planning import Price, Spread
    from pytest_skilleval.report.sizing import Size

HELP = "Tell how many cases and repeats a wanted effect needs, what the spec as it stands can show, and what it costs."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("spec", type=Path, metavar="SPEC", help="spec.yaml, or its folder")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="a pilot: take rates, spread and price from this results folder")
    parser.add_argument("--effect", type=float, default=0.3, help="difference in pass rate that is to be shown (default: 0.3)")
    parser.add_argument("--rate", type=float, help="without a pilot: pass rate without the skill (default: 0.5)")
    parser.add_argument("--icc", type=float, help="without a pilot: how unlike cases are, 0 (alike) to 1 (default: 0.33)")
    parser.add_argument("--agent", help="agent to plan for (default: the spec's, or the pilot's)")
    parser.add_argument("--model", help="its model (default: its own, or the pilot's)")
    parser.add_argument("--prices", type=Path, metavar="FILE", help="prices of one's own, as for --skill-prices")
    parser.add_argument("--repeats", type=int, help="repeats to plan for (default: the spec's)")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="runs that go on side by side, as with -n (default: 1)")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw the curves, too")


def run(options: argparse.Namespace) -> int:
    """Print the plan, and write the picture; 0."""
    from pytest_skilleval.commands.piloting import pilot_in
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.loading import load_spec
    from pytest_skilleval.report.picture import picture
    from pytest_skilleval.report.sizing import sizing_lines

    if not 0 < abs(options.effect) <= 1 or min(options.at_once, 1 if options.repeats is None else options.repeats) < 1:
        raise UsageProblem("--effect is a difference of two rates, such as 0.3; --repeats and --at-once are 1 or more")
    loaded = load_spec(options.spec / "spec.yaml" if options.spec.is_dir() else options.spec)
    pilot = None
    if options.results:
        pilot = pilot_in(options.results, loaded.spec.skill, agent=options.agent, model=options.model)
    size = _size(options, loaded, pilot)
    for line in sizing_lines(size):
        sys.stdout.write(f"{line}\n")
    if options.picture:
        options.picture.write_text(picture(size), encoding="utf-8")
        sys.stdout.write(f"picture: {options.picture}\n")
    return 0


def _size(options: argparse.Namespace, loaded: LoadedSpec, pilot: Pilot | None) -> Size:
    """The spec's size, what it can show, and what other sizes could."""
    from pytest_skilleval.core.statistics.sizes import sizing
    from pytest_skilleval.report.sizing import Size, families

    plan = _plan(options, loaded, pilot)
    rows = _counted(plan, loaded)
    cases = sorted({row.case for row in rows})
    per_repeat = len(rows) // max(row.repeat for row in rows) // len(cases)
    price, whole = _price(rows, loaded, pilot, options), _price(plan.rows, loaded, pilot, options)
    spread, notes = _spread(options, pilot)
    kinds = families(loaded.spec, cases)
    return Size(
        skill=loaded.spec.skill,
        cases=len(cases),
        families=kinds,
        arms=len({row.arm for row in rows}),
        agents=tuple(sorted({(row.agent, row.model) for row in rows})),
        all_runs=len(plan.rows),
        whole=whole,
        priced_by=_priced_by(pilot),
        simulated=pilot is not None and pilot.simulated,
        notes=notes,
        effect=options.effect,
        sizing=sizing(spread, options.effect, cases=kinds, repeats=max(row.repeat for row in rows), arms=per_repeat, price=price),
    )


def _plan(options: argparse.Namespace, loaded: LoadedSpec, pilot: Pilot | None) -> Plan:
    """The plan that ``pytest --skill-eval`` would make."""
    from pytest_skilleval.core.planning import Request, make_plan

    agent, model = options.agent or (pilot and pilot.agent), options.model or (pilot and pilot.model)
    request = Request(agents=(agent,) if agent else (), models=(model,) if model else (), repeats=options.repeats)
    return make_plan([loaded], request)


def _counted(plan: Plan, loaded: LoadedSpec) -> list[Row]:
    """Rows of the cases that the headline is about: outcome cases to improve, or all where none is marked."""
    from pytest_skilleval.core.errors import UsageProblem

    outcome = [row for row in plan.rows if row.kind == "outcome"]
    rows = [row for row in outcome if loaded.spec.case(row.case).expects == "improve"] or outcome
    if not rows:
        raise UsageProblem(f"{loaded.path}: no outcome case, so there is no effect to plan for")
    return rows


def _price(rows: Sequence[Row], loaded: LoadedSpec, pilot: Pilot | None, options: argparse.Namespace) -> Price:
    """What one run costs: the pilot's recorded average, else round figures by turn."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.estimates import estimate
    from pytest_skilleval.core.own_prices import read_own
    from pytest_skilleval.core.statistics.planning import Price

    turns = {(loaded.spec.skill, case.id): len(case.all_turns) for case in loaded.spec.cases}
    prices = read_own(options.prices, "--prices") if options.prices else None
    assumed = estimate(rows, turns, workers=1, prices=prices)
    paid = pilot is not None and not pilot.simulated and pilot.price.money is not None
    if assumed.usd is None and not paid:
        raise UsageProblem(
            f"no price is known for {', '.join(assumed.unpriced)}: give it with --prices FILE, or take a pilot with --results"
        )
    money, seconds = (assumed.usd or 0.0) / len(rows), assumed.seconds / len(rows)
    if pilot is not None and not pilot.simulated:
        money, seconds = pilot.price.money or money, pilot.price.seconds or seconds
    return Price(money, seconds, options.at_once)


def _priced_by(pilot: Pilot | None) -> str:
    if pilot is None or pilot.simulated or pilot.price.money is None:
        return "money and time assumed from round figures a turn, not measured"
    return "money and time as in the pilot"


def _spread(options: argparse.Namespace, pilot: Pilot | None) -> tuple[Spread, tuple[str, ...]]:
    """Rates and spread, from the pilot where it says enough, else from guesses; and what to know about them."""
    from pytest_skilleval.core.errors import UsageProblem
    from pytest_skilleval.core.statistics import planning

    guessed = [flag for flag, value in (("--rate", options.rate), ("--icc", options.icc)) if value is not None]
    if pilot is not None:
        if guessed:
            raise UsageProblem(f"{' and '.join(guessed)} are guesses, and the pilot says it; leave them out or leave out --results")
        measured = planning.pilot(pilot.pairs)
        if measured is not None:
            return measured, ()
    rate, icc = 0.5 if options.rate is None else options.rate, 1 / 3 if options.icc is None else options.icc
    try:
        spread = planning.stated(rate, options.effect, icc)
    except ValueError as error:
        raise UsageProblem(f"--rate, --effect and --icc don't fit together: {error}") from error
    few = "the pilot is too small or nothing in it varied (6 cases with 2 runs in both arms are needed): guesses are used instead"
    return spread, (few,) if pilot is not None else ()
