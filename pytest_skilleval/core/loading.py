"""Loading specs: from files to one frozen, valid value, or to every fault at once."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_skilleval.core.catalogue import Catalogue, load_catalogue
from pytest_skilleval.core.dress import dress, dress_makes
from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.lint import Context, giveaways, lint
from pytest_skilleval.core.loaded import LoadedSpec, Skin
from pytest_skilleval.core.plain_files import no_plain_file
from pytest_skilleval.core.positions import shown
from pytest_skilleval.core.reading import MAX_BYTES, parse_document, read_bytes
from pytest_skilleval.core.shape import shape
from pytest_skilleval.core.sidefiles import read_side_files, seed_file_names
from pytest_skilleval.core.spec import Seed

__all__ = ["called_specs", "collector_paused", "dress", "find_specs", "giveaways", "is_spec_file", "load_spec", "seed_hash"]

_TOP_KEYS = tuple(re.compile(rb"(?:\A|[\r\n])[\"']?" + key + rb"[\"']?[ \t]*:") for key in (b"skill", b"cases"))


def find_specs(folder: Path) -> list[Path]:
    """Every ``<folder>/<skill>/spec.yaml`` that is a spec of ours, sorted."""
    return [path for path in called_specs(folder) if is_spec_file(path)]


def called_specs(folder: Path) -> list[Path]:
    """Every ``<folder>/<skill>/spec.yaml``, whatever it is (links that lead nowhere too), sorted."""
    return sorted(path for skill in folder.glob("*") if os.path.lexists(path := skill / "spec.yaml"))


def is_spec_file(path: Path) -> bool:
    """Whether a file is a spec of ours: top-level `skill` and `cases`. Cheap, and never raises."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError:
        return False
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        content = content.decode("utf-16", errors="replace").encode()
    text = content.removeprefix(b"\xef\xbb\xbf")
    return all(key.search(text) for key in _TOP_KEYS)


def load_spec(path: Path, catalogue_dir: Path | None = None) -> LoadedSpec:
    """Read a spec, the files it refers to and its catalogue (by default ``catalogue`` beside the spec's folder).

    Raises
    ------
    SpecError
        With every fault of the spec and its files; each names file, line and path, and says what to do.
    """
    path = path.absolute()
    with collector_paused():
        return _load(path, load_catalogue(catalogue_dir or path.parent.parent / "catalogue"))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Loading makes many values and no cycles: the collector's visits would take most of the time and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _load(path: Path, catalogue: Catalogue) -> LoadedSpec:
    if odd := no_plain_file(path):
        raise SpecError((Fault(shown(path), 1, "", odd),))
    content = read_bytes(path)
    document = parse_document(content, shown(path))
    shaped = shape(document)
    faults = [*document.faults, *shaped.faults]
    if shaped.spec is None:
        raise SpecError(tuple(faults))
    spec = shaped.spec
    beside = read_side_files(spec, path.parent, catalogue, document, shaped.cuts)
    context = Context(
        spec=spec,
        document=document,
        cuts=shaped.cuts,
        folder=path.parent.name,
        catalogue=catalogue,
        skins=beside.skins or (Skin(),),
        names_known=bool(beside.skins),
        runbook=beside.runbook,
    )
    linted = lint(context)
    faults += [*beside.faults, *linted.faults]
    if faults:
        raise SpecError(tuple(dict.fromkeys(faults)))
    return LoadedSpec(
        spec=spec,
        path=path,
        text_hash=_text_hash(content, beside.files),
        case_lines={case.id: document.line(("cases", index)) for index, case in enumerate(spec.cases)},
        catalogue=catalogue.skills,
        skins=beside.skins,
        guards=beside.guards,
        instructions=beside.instructions,
        runbook_prompts=beside.runbook or {},
        warnings=(*linted.warnings, *beside.warnings),
        unproven=linted.unproven,
        files=beside.files,
    )


def _text_hash(content: bytes, files: Mapping[str, bytes]) -> str:
    return _hash({"spec.yaml": content, **files})


def _hash(files: Mapping[str, bytes]) -> str:
    """SHA-256 over names and contents, in the order of the names."""
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return total.hexdigest()


def seed_hash(loaded: LoadedSpec, seed: Seed, skin: Skin) -> str:
    """SHA-256 of all that decides the seeded state: the seed's program and its folder, what it makes, and the skin."""
    files = {f"file {name}": loaded.files[name] for name in seed_file_names(loaded.folder, seed.run)}
    made = dress_makes(seed.makes, skin).model_dump_json()
    names = json.dumps({"names": dict(skin.names), "age_days": skin.age_days}, sort_keys=True)
    return _hash({**files, "makes": made.encode(), "skin": names.encode()})
