"""Files called like a spec that are none: which of them somebody meant as one, and what keeps them from it."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from pytest_skilleval.core.errors import Fault, SpecError
from pytest_skilleval.core.loading import is_spec_file
from pytest_skilleval.core.plain_files import no_plain_file
from pytest_skilleval.core.positions import shown
from pytest_skilleval.core.reading import MAX_BYTES, compose, decode, read_bytes

_NEEDED: Final = ("skill", "cases")
_OURS: Final = frozenset({*_NEEDED, "arms", "seed"})


def why_no_spec(path: Path) -> Fault | None:
    """What keeps the file `path` from being taken as a spec; None for a spec, and for what is clearly somebody else's YAML."""
    file = shown(path)
    if odd := no_plain_file(path):
        return Fault(file, 1, "", f"is not taken as a spec: it {odd}")
    if is_spec_file(path) or _is_too_large(path):
        return None
    try:
        root = compose(decode(read_bytes(path), file), file)
    except SpecError as error:
        fault = error.faults[0]
        return None if "single document" in fault.message else Fault(file, fault.line, "", f"is not taken as a spec: it {fault.message}")
    told = _missing(root)
    return Fault(file, told[0], "", f"is not taken as a spec: {told[1]}") if told else None


def _is_too_large(path: Path) -> bool:
    """Nobody writes a spec of that size, and a stranger's description of a large API has it."""
    try:
        return path.stat().st_size > MAX_BYTES
    except OSError:
        return False


def _missing(root: Any) -> tuple[int, str] | None:
    """(line, what is missing) of a document that was meant as a spec."""
    if not isinstance(root, MappingNode):
        kind = "a list" if isinstance(root, SequenceNode) else "a text" if root and root.value else "empty"
        return 1, f"it is {kind}; `skill:` and `cases:` belong at its top"
    lines = {key.value: key.start_mark.line + 1 for key, _ in root.value if isinstance(key, ScalarNode)}
    ours = [key for key in lines if key.lower() in _OURS]
    lacking = [key for key in _NEEDED if key not in lines]
    if not ours:
        return None
    if not lacking:
        return lines["skill"], "its `skill:` and `cases:` must stand at the start of a line"
    near = [(key, other) for key in lacking for other in get_close_matches(key, [one for one in lines if one not in _OURS], n=1)]
    hint = "".join(f"; write `{key}` for `{other}`" for key, other in near)
    return lines[ours[0]], f"it has no {' and no '.join(f'`{key}:`' for key in lacking)} at its top{hint}"
