"""Rules about seeds: names that Docker takes, and ``${name}`` references that every skin fills."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_skilleval.core.dress import references, substitute, texts
from pytest_skilleval.core.lint.context import Context, Problem
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.skins import NAME
from pytest_skilleval.core.spec import Seed

_IMAGE = re.compile(r"[a-z0-9]+(?:[._/:-]+[A-Za-z0-9]+)*(?:@sha256:[0-9a-f]{64})?\Z")
_NAMED = "use letters, digits, `_`, `.` and `-`, beginning with a letter or digit"


def seed_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with what seeds make and what is filled in."""
    spec = context.spec
    if spec.seed:
        yield from _seed(spec.seed, ("seed",), context.skins[0])
        yield from _shortened(spec.seed, ("seed",), context.skins)
    for index, case in enumerate(spec.cases):
        if case.seed:
            where: Where = ("cases", index, "seed")
            yield from _seed(case.seed, where, context.skins[0])
            yield from _shortened(case.seed, where, context.skins)
            if case.seed.skins is not None and (spec.seed is None or case.seed.skins != spec.seed.skins):
                yield Problem((*where, "skins"), "one skin is drawn for a block of any case; name the file under the spec's own `seed`")
    yield from _references(context)


def _seed(seed: Seed, where: Where, skin: Skin) -> Iterator[Problem]:
    for kind, names in (("containers", tuple(seed.makes.containers)), ("volumes", seed.makes.volumes), ("networks", seed.makes.networks)):
        yield from _names(names, (*where, "makes", kind), NAME, _NAMED, skin, by_key=kind == "containers")
    yield from _names(seed.makes.images, (*where, "makes", "images"), _IMAGE, "write it like shop/web:1.4", skin, by_key=False)


def _shortened(seed: Seed, where: Where, skins: tuple[Skin, ...]) -> Iterator[Problem]:
    """``docker.io/`` and ``library/`` stand for Docker's own registry and official images: it shows a name without them."""
    for index, name in enumerate(seed.makes.images):
        for plain in dict.fromkeys(substitute(name, skin.names) for skin in skins):
            short = plain.removeprefix("docker.io/").removeprefix("library/")
            if short != plain:
                mend = "choose another first part" if plain.startswith("library/") else f"write `{short}`"
                yield Problem((*where, "makes", "images", index), f"Docker shows `{plain}` as `{short}`, so no check would find it; {mend}")


def _names(names: tuple[str, ...], where: Where, shape: re.Pattern[str], mend: str, skin: Skin, *, by_key: bool) -> Iterator[Problem]:
    for index, name in enumerate(names):
        place = (*where, name if by_key else index)
        plain = substitute(name, skin.names)
        if name in names[:index]:
            yield Problem(place, f"`{name}` is made twice; remove one")
        elif not references(plain) and not shape.match(plain):
            yield Problem(place, f"`{plain}` is no name that Docker takes; {mend}")


def _references(context: Context) -> Iterator[Problem]:
    """``${key}`` without a name; all skins name the same things, so the first one tells."""
    if not (context.document.has_references and context.names_known):
        return
    names = frozenset(context.skins[0].names)
    parts = [(("seed",), context.spec.seed), *((("cases", index), case) for index, case in enumerate(context.spec.cases))]
    for place, part in parts:
        for where, text in texts(part, place):
            yield from _unknown(where, text, names)


def _unknown(where: Where, text: str, names: frozenset[str]) -> Iterator[Problem]:
    for key in references(text):
        if key not in names:
            mend = did_you_mean(key, names) if names else "; name a file of skins under `seed: {skins: skins.yaml}`"
            yield Problem(where, f"`${{{key}}}` is in no skin{mend} (a shell variable is written $${{{key}}})")
