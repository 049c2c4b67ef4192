"""Recorded runs with their scores: the same function over the same files, live and offline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from pytest_skilleval.agents import agent
from pytest_skilleval.archive import Archive, Damaged, RunFolder
from pytest_skilleval.core.contrasts import installs, keeps_text
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.loaded import LoadedSpec
from pytest_skilleval.core.plan import Row
from pytest_skilleval.core.prices import Cost, Prices
from pytest_skilleval.core.record import MeasuredRun, RunRecord, TokenSplit
from pytest_skilleval.core.scoring import score
from pytest_skilleval.core.transcript import Usage, usage_of_run
from pytest_skilleval.gateway import reading
from pytest_skilleval.gateway.values import RequestRecord
from pytest_skilleval.rescoring.equality import held_against_each_other
from pytest_skilleval.rescoring.evidence import evidence, model_requests
from pytest_skilleval.rescoring.recorded import recorded_prices

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Case


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
    case, arm, cli = dressed_case(loaded, row), loaded.spec.arms[row.arm], agent(row.agent)
    requests, damaged_requests = model_requests(folder)
    found = evidence(folder, record, cli, requests)
    transcripts = [turn.transcript for turn in found.turns]
    # The gateway sees every model call, sub-agents' too; what the CLI tells of itself is the second best.
    seen, told = reading.usage_of(requests), usage_of_run(transcript.usage for transcript in transcripts)
    spent = seen if seen.known else told
    models = sorted({transcript.model for transcript in transcripts if transcript.model})
    money = reading.cost_of(requests, prices) if requests else _priced(spent, models, prices)
    reached, refused = reading.hosts_of(requests)
    asked = {reading.model_of(call) for call in reading.model_calls(requests)} or set(models)
    # What a CLI tells is reckoned by a list, whoever pays, of a scripted model, too; a sign-in, or a price that the user gives, is
    # nearer to the bill.
    nearer = record.simulated or any(call.free for call in requests) or (bool(asked) and all(map(prices.of_own, asked)))
    return msgspec.structs.replace(
        facts,
        score=score(
            case,
            found,
            skill=row.skill,
            skills_folder=cli.skills_folder,
            catalogue=frozenset(loaded.catalogue),
            installed=installs(arm, row.skill),
            dosed=keeps_text(arm),
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
