"""Rules about single checks: one kind each, claims that can be decided, patterns that can match, names the seed makes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_skilleval.core.dress import dress_makes, substitute
from pytest_skilleval.core.lint.context import Context, Placed, Problem
from pytest_skilleval.core.loaded import Skin
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.object_types import ALL_TYPES, BUILD_CACHE, DANGLING, TYPES
from pytest_skilleval.core.patterns import PatternError, compile_pattern
from pytest_skilleval.core.positions import Where
from pytest_skilleval.core.spec import CHECK_KINDS, Case, Check, Makes, Removed, RemovedOfType, Seed, StateClaim

_FOR_ALL_TYPES = ("present", "absent", "replaced", "unchanged")
Made = Mapping[str, frozenset[str]]
"""Type (``container`` ...) -> names."""


def check_problems(context: Context) -> Iterator[Problem]:
    """Everything wrong with checks and ``only_if`` claims."""
    makes = _Makes(context.skins)
    for index, case in enumerate(context.spec.cases):
        checks = context.checks[index]
        for placed in checks:
            yield from _check(context, placed.check, placed.where)
        claims = list(_claims(case, ("cases", index), checks))
        for place, claim in claims:
            yield from _claim(claim, place)
        yield from _names(context, context.spec.seed_of(case), claims, makes)


def _check(context: Context, check: Check, where: Where) -> Iterator[Problem]:
    given = [kind for kind in CHECK_KINDS if getattr(check, kind) is not None]
    if len(given) != 1:
        found = f"has {' and '.join(f'`{kind}`' for kind in given)}; split it" if given else "has none; add one"
        yield Problem(where, f"a check is exactly one of {', '.join(CHECK_KINDS)}; this one {found}")
    if "of" in check.model_fields_set and check.commands is None and not context.damaged(where):
        yield Problem((*where, "of"), "`of` belongs to `commands` checks only; remove it")
    for place, pattern in _patterns(check, where):
        try:
            compile_pattern(substitute(pattern, context.skins[0].names, quote=re.escape))
        except PatternError as error:
            yield Problem(place, f"the pattern {error}")


def _patterns(check: Check, where: Where) -> Iterator[tuple[Where, str]]:
    if check.commands is not None:
        yield (*where, "commands"), check.commands
    if check.reply is not None:
        yield (*where, "reply"), check.reply
    if check.validator is not None and check.validator.output is not None:
        yield (*where, "validator", "output"), check.validator.output


def _claims(case: Case, where: Where, checks: Iterable[Placed]) -> Iterator[tuple[Where, StateClaim]]:
    for index, turn in enumerate(case.turns):
        yield from (((*where, "turns", index, "only_if", number), claim) for number, claim in enumerate(turn.only_if))
    for placed in checks:
        if placed.check.state is not None:
            yield (*placed.where, "state"), placed.check.state


def _claim(claim: StateClaim, where: Where) -> Iterator[Problem]:
    objects = [kind for kind in TYPES if getattr(claim, kind) is not None]
    counts = list(_counts(claim))
    if counts:
        if objects or claim.is_ is not None or len(counts) > 1:
            yield Problem(where, f"`{counts[0][0]}` stands alone; put the other claim into a check of its own")
        for word, count in counts:
            yield from _removed(count, (*where, word))
    elif len(objects) != 1:
        found = " and ".join(f"`{kind}`" for kind in objects) or "none"
        mend = "split it" if objects else "add one"
        yield Problem(
            where, f"a state claim names exactly one of {', '.join(TYPES)}, `removed` or `touched`; this one names {found}; {mend}"
        )
    elif claim.is_ is None:
        yield Problem(where, f"says nothing about the {objects[0]}; add `is: present`, `is: absent` ...")
    elif objects[0] != "container" and claim.is_ not in _FOR_ALL_TYPES:
        yield Problem((*where, "is"), f"only a container can be `{claim.is_}`; a {objects[0]} is {', '.join(_FOR_ALL_TYPES)}")


def _counts(claim: StateClaim) -> Iterator[tuple[str, Removed]]:
    """The claims that count objects, with their key."""
    if claim.removed is not None:
        yield "removed", claim.removed
    if claim.touched is not None:
        yield "touched", claim.touched


def _removed(removed: Removed, where: Where) -> Iterator[Problem]:
    parts = {f"{kind}s": getattr(removed, f"{kind}s") for kind in TYPES}
    given = {name: part for name, part in parts.items() if part is not None}
    if not given or _says_something(removed):
        yield from _removed_part(removed, where)
    for name, part in given.items():
        yield from _removed_part(part, (*where, name))


def _says_something(part: RemovedOfType) -> bool:
    return part.at_least is not None or part.only is not None or part.except_ is not None


def _removed_part(part: RemovedOfType, where: Where) -> Iterator[Problem]:
    if not _says_something(part):
        yield Problem(where, "says nothing; give `at_least`, `only` or `except`")
    elif part.only is not None and (part.at_least is not None or part.except_ is not None):
        yield Problem((*where, "only"), "`only` already says exactly what is gone; remove `at_least` and `except`")


def _names(context: Context, seed: Seed | None, claims: list[tuple[Where, StateClaim]], makes: _Makes) -> Iterator[Problem]:
    if seed is None and "seed" in context.cuts.words:
        return
    named = [(place, types, name) for where, claim in claims for place, types, name in _named(claim, where)]
    for skin, made in zip(context.skins, makes.of(seed), strict=True) if named else ():
        problems = [
            problem for place, types, name in named if (problem := _unmade(context, place, types, substitute(name, skin.names), made))
        ]
        yield from problems
        if problems:
            return


class _Makes:
    """What seeds make in each of some skins, worked out once a seed: most cases have the spec's own."""

    def __init__(self, skins: tuple[Skin, ...]) -> None:
        self.skins = skins
        self.known: dict[int, tuple[Made, ...]] = {}

    def of(self, seed: Seed | None) -> tuple[Made, ...]:
        """What `seed` makes, skin by skin; nothing where there is none."""
        if id(seed) not in self.known:
            self.known[id(seed)] = tuple(_made(dress_makes(seed.makes, skin)) if seed else {} for skin in self.skins)
        return self.known[id(seed)]


def _made(makes: Makes) -> Made:
    return {
        "container": frozenset(makes.containers),
        "volume": frozenset(makes.volumes),
        "image": frozenset(makes.images) | ({DANGLING} if makes.dangling_images else frozenset()),
        "network": frozenset(makes.networks),
        BUILD_CACHE: frozenset({BUILD_CACHE} if makes.build_cache else ()),
    }


def _named(claim: StateClaim, where: Where) -> Iterator[tuple[Where, tuple[str, ...], str]]:
    """(place, types it may be of, name) of everything a claim names."""
    for kind in TYPES:
        if (name := getattr(claim, kind)) is not None:
            yield (*where, kind), (kind,), name
    for word, count in _counts(claim):
        yield from _named_in(count, (*where, word), ALL_TYPES)
        for kind in TYPES:
            if (part := getattr(count, f"{kind}s")) is not None:
                types = ("volume", "container") if kind == "volume" else (kind,)  # an anonymous volume goes by its container's name
                yield from _named_in(part, (*where, word, f"{kind}s"), types)


def _named_in(part: RemovedOfType, where: Where, types: tuple[str, ...]) -> Iterator[tuple[Where, tuple[str, ...], str]]:
    for key, names in (("only", part.only), ("except", part.except_)):
        yield from (((*where, key, index), types, name) for index, name in enumerate(names or ()))


def _unmade(context: Context, where: Where, types: tuple[str, ...], name: str, made: Made) -> Problem | None:
    known = frozenset[str]().union(*(made.get(kind, frozenset()) for kind in types))
    if name in known or name in context.cuts.words:
        return None
    kind = "object" if types == ALL_TYPES else types[0]
    if not known:
        return Problem(where, f"no {kind} is made by the seed, so `{name}` can't be checked; add it under `makes`")
    return Problem(where, f"the seed makes no {kind} `{name}`{did_you_mean(name, known)}")
