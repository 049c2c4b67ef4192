"""``guard.yaml``: command prefixes that an arm's guard denies.

::

    deny:
      - docker system prune
      - docker volume rm
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_skilleval.core.errors import Fault
from pytest_skilleval.core.nearest import did_you_mean
from pytest_skilleval.core.positions import Document

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_./:=@%+, -]")


def guard_of(document: Document) -> tuple[tuple[str, ...], tuple[Fault, ...]]:
    """The denied prefixes, each as words with single spaces, and what is wrong with the file."""
    faults = (*document.faults, *_faults(document))
    if faults:
        return (), faults
    return tuple(" ".join(prefix.split()) for prefix in document.value["deny"]), ()


def _faults(document: Document) -> Iterator[Fault]:
    value = document.value
    if not isinstance(value, dict):
        yield document.fault((), "must be a mapping with the key `deny`: a list of command prefixes")
        return
    for key in value.keys() - {"deny"}:
        yield document.fault((key,), f"unknown key `{key}`{did_you_mean(key, ['deny'])}")
    prefixes = value.get("deny")
    if not isinstance(prefixes, tuple) or not prefixes:
        yield document.fault(("deny",), "`deny` must be a list of at least one command prefix")
        return
    seen: set[str] = set()
    for index, prefix in enumerate(prefixes):
        if problem := _problem(prefix, seen):
            yield document.fault(("deny", index), problem)


def _problem(prefix: object, seen: set[str]) -> str | None:
    if not isinstance(prefix, str) or not prefix.strip():
        return "must be a command prefix, such as `docker system prune`"
    if odd := _NOT_PLAIN.search(prefix):
        return f"`{odd.group()}` can't stand in a prefix: it is compared word by word; give plain words"
    words = " ".join(prefix.split())
    if words in seen:
        return f"`{words}` is denied twice; remove one"
    seen.add(words)
    return None
