"""Recorded runs again: raw files -> evidence -> score. No agent, no Docker, no network; the same code as live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_skilleval.agents import agent
from pytest_skilleval.archive import PLAN, PRICES, PROVENANCE, SPEC, Archive, Damaged, RunFolder
from pytest_skilleval.core.arms import installs
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.loaded import LoadedSpec, Skill, Skin
from pytest_skilleval.core.locks import OtherSpec, departures, refusal
from pytest_skilleval.core.plan import Plan, Row
from pytest_skilleval.core.ports import Agent
from pytest_skilleval.core.prices import Cost, Prices, shipped
from pytest_skilleval.core.record import FORMAT, MeasuredRun, RunRecord, TokenSplit
from pytest_skilleval.core.scoring import Evidence, TurnEvidence, ValidatorResult, score
from pytest_skilleval.core.snapshot import DockerState, EngineEvent
from pytest_skilleval.core.transcript import Usage, usage_of_run
from pytest_skilleval.core.versions import engine_meets
from pytest_skilleval.equality import held_against_each_other
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.values import RequestRecord, read_lines

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case
    from pytest_skilleval.report.values import Report


class RecordedSpec(msgspec.Struct, frozen=True, kw_only=True):
    """``spec.json``: what the session was scored by, so that it can be scored again without the repository."""

    format: int = FORMAT
    path: str
    text_hash: str
    spec: dict[str, Any]
    skins: tuple[tuple[dict[str, str], float], ...]
    case_lines: dict[str, int]
    catalogue: dict[str, str]
    """Skill id -> description."""
    runbook_prompts: dict[int, str] = {}


def record_spec(loaded: LoadedSpec) -> RecordedSpec:
    """The part of a loaded spec that scoring and reporting need."""
    return RecordedSpec(
        path=str(loaded.path),
        text_hash=loaded.text_hash,
        spec=loaded.spec.model_dump(mode="json", by_alias=True, exclude_unset=True),
        skins=tuple((dict(skin.names), skin.age_days) for skin in loaded.skins),
        case_lines=dict(loaded.case_lines),
        catalogue={skill_id: skill.description for skill_id, skill in loaded.catalogue.items()},
        runbook_prompts=dict(loaded.runbook_prompts),
    )


def recorded_spec(archive: Archive) -> LoadedSpec:
    """The spec as it was when the session ran; ArchiveError when its record is damaged."""
    from pydantic import ValidationError

    from pytest_skilleval.core.spec import Spec

    record, path = archive.read(SPEC, RecordedSpec), archive.folder / SPEC
    try:
        spec = Spec.model_validate_json(msgspec.json.encode(record.spec))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ArchiveError(f"{path}: damaged ({where}: {first['msg']}); put the recorded file back") from error
    return LoadedSpec(
        spec=spec,
        path=Path(record.path),
        text_hash=record.text_hash,
        case_lines=record.case_lines,
        catalogue={
            skill_id: Skill(id=skill_id, name=skill_id, description=text, body="", files={}) for skill_id, text in record.catalogue.items()
        },
        skins=tuple(Skin(names=names, age_days=age) for names, age in record.skins),
        runbook_prompts=record.runbook_prompts,
    )


def recorded_prices(archive: Archive) -> Prices:
    """The prices that the session counted by; the shipped ones where none were recorded."""
    return archive.read(PRICES, Prices) if (archive.folder / PRICES).exists() else shipped()


def measure(
    archive: Archive, loaded: LoadedSpec, rows: tuple[Row, ...], prices: Prices | None = None
) -> tuple[tuple[MeasuredRun, ...], tuple[Damaged, ...]]:
    """Every selected row with what became of it, scored from its raw files, and the runs whose files are damaged.

    A damaged run counts as lost (`record` None); the others are scored all the same. A run whose first request differs from
    those of its block by more than its arm declares is void. `prices`: other ones than the session counted by.
    """
    prices = prices or recorded_prices(archive)
    records, damaged = archive.records()
    measured, problems = [], list(damaged)
    for row in rows:
        if not row.selected and row.run_id not in records:
            continue
        try:
            measured.append(measure_one(archive.run(row.run_id), loaded, row, records.get(row.run_id), prices))
        except ArchiveError as error:
            problems.append(Damaged(row.run_id, str(error)))
            measured.append(_facts(loaded, row, None))
    return held_against_each_other(archive, measured), tuple(problems)


def measure_one(folder: RunFolder, loaded: LoadedSpec, row: Row, record: RunRecord | None, prices: Prices) -> MeasuredRun:
    """One row with its score; ArchiveError when a raw file that must be there is damaged."""
    facts = _facts(loaded, row, record)
    if record is None or record.status != "scored":
        return facts
    case, cli = dressed_case(loaded, row), agent(row.agent)
    requests, damaged_requests = _requests(folder)
    found = evidence(folder, record, cli, requests)
    transcripts = [turn.transcript for turn in found.turns]
    # The gateway sees every model call, sub-agents' too; what the CLI tells of itself is the second best.
    seen, told = reading.usage_of(requests), usage_of_run(transcript.usage for transcript in transcripts)
    spent = seen if seen.known else told
    models = sorted({transcript.model for transcript in transcripts if transcript.model})
    money = reading.cost_of(requests, prices) if requests else _priced(spent, models, prices)
    reached, refused = reading.hosts_of(requests)
    asked = {reading.model_of(call) for call in reading.model_calls(requests)} or set(models)
    # What a CLI tells is reckoned by a list, whoever pays; a sign-in, or a price that the user gives, is nearer to the bill.
    nearer = any(call.free for call in requests) or (bool(asked) and all(map(prices.of_own, asked)))
    return msgspec.structs.replace(
        facts,
        score=score(
            case,
            found,
            skill=row.skill,
            skills_folder=cli.skills_folder,
            catalogue=frozenset(loaded.catalogue),
            installed=installs(loaded.spec.arms[row.arm], row.skill),
            votes_wanted=loaded.spec.judge.votes,
        ),
        usage=spent,
        cost_usd=money.billed if nearer or told.cost_usd is None else told.cost_usd,
        uncached_usd=money.uncached,
        split=_split(record, requests),
        dose=found.dose,
        seconds=round(sum(turn.seconds for turn in record.turns), 4),
        turns_sent=len(record.turns),
        tool_calls=sum(len(transcript.tool_calls) for transcript in transcripts),
        models_reported=tuple(models),
        damaged_requests=damaged_requests,
        hosts_reached=reached,
        hosts_refused=refused,
    )


def _priced(spent: Usage, models: Sequence[str], prices: Prices) -> Cost:
    """Money by the price table, where all tokens are of one model."""
    return prices.cost(spent, models[0]) if spent.known and len(models) == 1 else Cost(billed=None, uncached=None)


def _split(record: RunRecord, requests: Sequence[RequestRecord]) -> TokenSplit | None:
    sizes = [record.provenance.get(f"arm.{part}_characters", "") for part in ("listing", "body")]
    if not all(map(str.isdecimal, sizes)):
        return None
    return reading.split_of(requests, listing_characters=int(sizes[0]), body_characters=int(sizes[1]))


def _facts(loaded: LoadedSpec, row: Row, record: RunRecord | None) -> MeasuredRun:
    case = loaded.spec.case(row.case)
    return MeasuredRun(row=row, record=record, family=case.family, expects=case.expects)


def dressed_case(loaded: LoadedSpec, row: Row) -> Case:
    """The row's case in the skin that its block drew; with the generated rehearsal where the row plays one."""
    from pytest_skilleval.core.dress import dress
    from pytest_skilleval.core.generated import with_generated

    case = loaded.spec.case(row.case)
    return dress(loaded, with_generated(loaded, case, row.rehearsal), loaded.skins[row.skin])


def evidence(folder: RunFolder, record: RunRecord, cli: Agent, requests: Sequence[RequestRecord]) -> Evidence:
    """All that scoring may look at, read from one run's folder."""
    path, dose = folder.path / "baseline.json", reading.dose_of(requests, record.row.skill)
    turns = tuple(_turn(folder, record, number, cli) for number in range(1, len(record.turns) + 1))
    whole = cli.supplement([turn.transcript for turn in turns], _session_records(folder))
    return Evidence(
        baseline=folder.read("baseline.json", DockerState) if path.exists() else None,
        dose=dose.highest if dose else None,
        turns=tuple(msgspec.structs.replace(turn, transcript=transcript) for turn, transcript in zip(turns, whole, strict=True)),
        events=folder.lines("events.jsonl", EngineEvent),
        validators=folder.read("validators.json", tuple[ValidatorResult, ...]) if (folder.path / "validators.json").exists() else (),
    )


def model_requests(folder: RunFolder) -> tuple[RequestRecord, ...]:
    """What the gateway recorded of the run; empty where there was none."""
    return _requests(folder)[0]


def _requests(folder: RunFolder) -> tuple[tuple[RequestRecord, ...], int]:
    """The same, with the number of lines that can't be read."""
    path = folder.path / "requests.jsonl"
    return read_lines(path.read_bytes()) if path.exists() else ((), 0)


def _session_records(folder: RunFolder) -> Iterator[bytes]:
    """The CLI's own line-JSON records of the session."""
    for path in sorted((folder.path / "session").rglob("*.jsonl")):
        yield path.read_bytes()


def _turn(folder: RunFolder, record: RunRecord, number: int, cli: Agent) -> TurnEvidence:
    place = folder.path / f"turn-{number}"
    facts = record.turns[number - 1]
    try:
        stdout, stderr = (place / "stdout.jsonl").read_bytes(), (place / "stderr.txt").read_bytes()
        prompt = (place / "prompt.txt").read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{place}: the raw turn can't be read ({error})") from error
    return TurnEvidence(
        prompt=prompt,
        transcript=cli.parse(stdout, stderr, facts.exit_code),
        after=folder.read(f"turn-{number}/snapshot.json", DockerState) if (place / "snapshot.json").exists() else None,
        timed_out=facts.timed_out,
        started=facts.started,
        seconds=facts.seconds,
    )


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
