"""What a session recorded of its spec and prices, so that it can be scored again without the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from pytest_skilleval.archive import PRICES, SPEC, Archive
from pytest_skilleval.core.errors import ArchiveError
from pytest_skilleval.core.loaded import LoadedSpec, Skill, Skin
from pytest_skilleval.core.prices import Prices, shipped
from pytest_skilleval.core.record import FORMAT


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
