"""What importers and the scaffold make: cases as they will stand in the spec, and notes on what found no place there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Note(NamedTuple):
    """Something of the material that was not carried over, or not as it was, and why."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCase:
    """One case: its keys as they will stand in spec.yaml, the comment lines above it, and files to write below the spec's folder."""

    data: Mapping[str, Any]
    comments: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The cases of one file, and what could not be carried over."""

    cases: tuple[DraftCase, ...] = ()
    notes: tuple[Note, ...] = ()
