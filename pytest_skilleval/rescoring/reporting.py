"""What recorded runs come to: the report of a results folder, and whether a planned look ends its session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_skilleval.archive import PLAN, PROVENANCE, Archive
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.locks import OtherSpec, departures, refusal
from pytest_skilleval.core.plan import Plan
from pytest_skilleval.core.prices import Prices
from pytest_skilleval.core.record import MeasuredRun
from pytest_skilleval.core.versions import engine_meets
from pytest_skilleval.rescoring.measuring import measure
from pytest_skilleval.rescoring.recorded import recorded_prices, recorded_spec

if TYPE_CHECKING:
    from pytest_skilleval.report.values import Report


def look_ends(archive: Archive, loaded: LoadedSpec, plan: Plan, number: int) -> str | None:
    """Why a planned look (its number, from 1) ends the session, over the runs that it counts; None: it goes on."""
    from pytest_skilleval.report.facts import SpecFacts
    from pytest_skilleval.report.stopping import why_it_ends

    look = plan.looks[number - 1]
    measured, _ = measure(archive, loaded, tuple(row for row in plan.of(loaded.spec.skill).rows if row.repeat <= look.repeats))
    return why_it_ends(measured, SpecFacts.of(loaded), look, plan.random_seed)


def _check_plan(archive: Archive, plan: Plan, spec: LoadedSpec) -> None:
    """ArchiveError when the plan's rows are not runs of the spec."""
    skill, cases = spec.spec.skill, {case.id for case in spec.spec.cases}
    strange = [f"skill {name!r}" for name in sorted({*plan.locks, *(row.skill for row in plan.rows)}) if name != skill]
    strange += [] if skill in plan.locks else ["no lock"]
    for row in plan.rows:
        strange += [f"case {row.case!r}"] if row.case not in cases else []
        strange += [f"arm {row.arm!r}"] if row.arm not in spec.spec.arms else []
        strange += [f"skin {row.skin}"] if not 0 <= row.skin < len(spec.skins) else []
    if strange:
        raise ArchiveError(
            f"{archive.folder / PLAN}: has {', '.join(dict.fromkeys(strange))}, which does not fit the spec of {skill} ({spec.path}); "
            "put the recorded plan back, or score by a spec that still has all that was run"
        )


def _unlocked(changed: tuple[str, ...]) -> tuple[str, ...]:
    if not changed:
        return ()
    return (f"scored by another spec than the one locked before the first run ({'; '.join(changed)}): every figure is exploratory",)


def _unwanted_engines(loaded: LoadedSpec, measured: Sequence[MeasuredRun]) -> tuple[str, ...]:
    """Versions of the engines that ran and do not meet the spec's ``engine``."""
    wanted = loaded.spec.engine
    ran = {version for run in measured if run.record and (version := run.record.provenance.get("sandbox.engine"))}
    return tuple(sorted(version for version in ran if wanted and not engine_meets(wanted, version)))


def report_on(
    archive: Archive,
    *,
    loaded: LoadedSpec | None = None,
    prices: Prices | None = None,
    strict: bool = False,
    gate: bool = False,
    exploratory: bool = False,
) -> Report:
    """The report of a results folder, from its raw files: after a session, and at any time later.

    Parameters
    ----------
    loaded
        The spec to score by; None: the one that was recorded with the session.
    prices
        What to count by; None: what the session counted by.
    strict, gate
        The options of the session; they decide the exit code only.
    exploratory
        Score by another spec than the one that the plan locked, too; then nothing is tested.

    Raises
    ------
    OtherSpec
        The spec is not the one that the plan locked, and not only figures are asked for.
    ArchiveError
        Plan or spec of the folder can't be read, or it mixes simulated and live runs.
    """
    from pytest_skilleval.report.build import build
    from pytest_skilleval.report.facts import SessionFacts

    plan, locked = archive.read(PLAN, Plan), recorded_spec(archive)
    spec = loaded or locked
    _check_plan(archive, plan, spec)
    provenance, changed = archive.read(PROVENANCE, dict[str, Any]), departures(plan, locked, spec)
    if changed and not exploratory:
        raise OtherSpec(f"{archive.folder}: {refusal(plan, spec, changed, provenance)}")
    prices = prices or recorded_prices(archive)
    measured, damaged = measure(archive, spec, plan.rows, prices)
    unwanted = _unwanted_engines(spec, measured)
    facts = SessionFacts(
        random_seed=plan.random_seed,
        partial=plan.partial,
        strict=strict,
        gate=gate,
        release=plan.release,
        damaged=tuple(f"{one.run_id}: {one.problem}" for one in damaged),
        warnings=(
            *_unlocked(changed),
            *(f"Docker Engine {one} ran, the spec wants {spec.spec.engine}" for one in unwanted),
            *plan.warnings,
        ),
        folder=str(archive.folder),
        provenance=provenance | prices.facts(),
        lock=plan.locks[locked.spec.skill],
        changed=changed,
        unwanted_engines=unwanted,
        looks=plan.looks,
        stopped_at=plan.stopped.get(locked.spec.skill),
        stopped_why=plan.stopped_why.get(locked.spec.skill, "changed"),
    )
    return build(measured, spec, facts)
