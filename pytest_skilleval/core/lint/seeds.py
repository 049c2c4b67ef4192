"""Rules about seeds: names that Docker takes, and ``${name}`` references that every skin fills."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_skilleval.core.dress import references, substitute, texts
from pytest_skilleval.core.lint.context import Context, Problem
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import Seed

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*\Z")
_IMAGE = re.compile(r"[a-z0-9]+(?:[._/:-]+[A-Za-z0-9]+)*(?:@sha256:[0-9a-f]{64})?\Z")


def seed_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with what seeds make and what is filled in."""
    spec = context.spec
    if spec.seed:
        yield from _seed(spec.seed, ("seed",), context.skins.get(spec.seed.skins or "", (Skin(),)))
    for index, case in enumerate(spec.cases):
        if case.seed:
            yield from _seed(case.seed, ("cases", index, "seed"), context.skins_of(case))
    yield from _references(context)


def _seed(seed: Seed, where: Where, skins: tuple[Skin, ...]) -> Iterator[Problem]:
    for kind, names in (("containers", tuple(seed.makes.containers)), ("volumes", seed.makes.volumes), ("networks", seed.makes.networks)):
        yield from _names(names, (*where, "makes", kind), _NAME, skins[0], by_key=kind == "containers")
    yield from _names(seed.makes.images, (*where, "makes", "images"), _IMAGE, skins[0], by_key=False)


def _names(names: tuple[str, ...], where: Where, shape: re.Pattern[str], skin: Skin, *, by_key: bool) -> Iterator[Problem]:
    for index, name in enumerate(names):
        place = (*where, name if by_key else index)
        plain = substitute(name, skin.names)
        if name in names[:index]:
            yield Problem(place, f"`{name}` is made twice; remove one")
        elif not references(plain) and not shape.match(plain):
            yield Problem(place, f"`{plain}` is no name that Docker takes")


def _references(context: Context) -> Iterator[Problem]:
    """``${key}`` without a name; all skins of a file name the same things, so the first one tells."""
    if not context.document.has_references:
        return
    spec = context.spec
    if spec.seed:
        known = context.skins.get(spec.seed.skins or "", (Skin(),))[0].names
        for where, text in texts(spec.seed, ("seed",)):
            yield from _unknown(where, text, frozenset(known))
    for index, case in enumerate(spec.cases):
        names = frozenset(context.skins_of(case)[0].names)
        for where, text in texts(case, ("cases", index)):
            yield from _unknown(where, text, names)


def _unknown(where: Where, text: str, names: frozenset[str]) -> Iterator[Problem]:
    for key in references(text):
        if key not in names:
            mend = did_you_mean(key, names) if names else "; name a file of skins under `seed: {skins: skins.yaml}`"
            yield Problem(where, f"`${{{key}}}` is in no skin{mend} (a shell variable is written $${{{key}}})")
