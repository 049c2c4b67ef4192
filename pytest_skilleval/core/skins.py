"""``skins.yaml``: sets of names and ages for the same seeded state; a block draws one.

::

    - {names: {db: shop-db, web: shop-web}, age_days: 47}
    - {names: {db: blog-db, web: blog-web}, age_days: 12}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_skilleval.core.errors import Fault
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Document, Where

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*\Z")
"""What Docker takes for the name of a container, volume or network."""
_KNOWN = ("names", "age_days")


def skins_of(document: Document) -> tuple[tuple[Skin, ...], tuple[Fault, ...]]:
    """The skins, and what is wrong with the file; all skins name the same things."""
    faults = (*document.faults, *_faults(document))
    if faults:
        return (), faults
    return tuple(_skin(entry) for entry in document.value), ()


def _skin(entry: dict[str, Any]) -> Skin:
    names = entry.get("names") or {}
    return Skin(names=names, age_days=float(entry["age_days"])) if "age_days" in entry else Skin(names=names)


def _faults(document: Document) -> Iterator[Fault]:
    skins = document.value
    if not isinstance(skins, tuple) or not skins:
        yield document.fault((), "must be a list of skins, such as `- {names: {db: shop-db}, age_days: 47}`")
        return
    for index, skin in enumerate(skins):
        if isinstance(skin, dict):
            yield from _skin_faults(document, (index,), skin)
        else:
            yield document.fault((index,), "must be a mapping with `names` and `age_days`")
    if all(isinstance(skin, dict) and isinstance(skin.get("names", {}), dict) for skin in skins):
        yield from _differing(document, skins)


def _skin_faults(document: Document, where: Where, skin: dict[str, Any]) -> Iterator[Fault]:
    for key in skin.keys() - set(_KNOWN):
        yield document.fault((*where, key), f"unknown key `{key}`{did_you_mean(key, _KNOWN)}")
    age = skin.get("age_days", 1)
    if isinstance(age, bool) or not isinstance(age, int | float) or not 0 < age < 36500:
        yield document.fault((*where, "age_days"), "must be a number of days, more than 0")
    names = skin.get("names", {})
    if not isinstance(names, dict):
        yield document.fault((*where, "names"), "must be a mapping, such as {db: shop-db}")
        return
    for key, name in names.items():
        yield from _name_faults(document, (*where, "names", key), key, name)
    for name in {name for name in names.values() if isinstance(name, str) and list(names.values()).count(name) > 1}:
        yield document.fault((*where, "names"), f"two keys have the name `{name}`; names must differ")


def _name_faults(document: Document, where: Where, key: str, name: object) -> Iterator[Fault]:
    if not _KEY.match(key):
        yield document.fault(where, f"`{key}` can't be written as ${{...}}: use letters, digits and underscores")
    if not isinstance(name, str):
        yield document.fault(where, f"`{document.source(where)}` is not read as text by YAML; quote it: '{document.source(where)}'")
    elif not NAME.match(name):
        yield document.fault(where, f"`{name}` is no Docker name: letters, digits, `_`, `.` and `-`, beginning with a letter or digit")


def _differing(document: Document, skins: tuple[dict[str, Any], ...]) -> Iterator[Fault]:
    first = set(skins[0].get("names", {}))
    for index, skin in enumerate(skins[1:], start=1):
        for key in sorted(first ^ set(skin.get("names", {}))):
            there, missing = (0, index) if key in first else (index, 0)
            yield document.fault((missing,), f"has no name for `{key}`, which skin {there + 1} has; all skins name the same things")
