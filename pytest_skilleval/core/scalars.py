"""Plain scalars of YAML: what ``yes``, ``017`` and ``1.5`` mean."""

from __future__ import annotations

import re
from typing import Final

_BOOLS: Final = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{form: value for word, value in _BOOLS.items() for form in (word, word.title(), word.upper())},
}
_INTS: Final = (
    (re.compile(r"[-+]?(?:0|[1-9][0-9_]*)\Z"), 10),
    (re.compile(r"[-+]?0[0-7_]+\Z"), 8),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+\Z"), 16),
    (re.compile(r"[-+]?0b[01_]+\Z"), 2),
)
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?\Z")
_SPECIAL: Final = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}


def scalar(text: str) -> str | float | bool | None:
    """What YAML 1.1 makes of a plain scalar (int counts as float here)."""
    if text[:1] in "+-.0123456789" and text:
        return _number(text)
    return _CONSTANTS.get(text, text)


def _number(text: str) -> str | float:
    for pattern, base in _INTS:
        if pattern.match(text):
            try:
                return int(text.replace("_", ""), base)
            except ValueError:  # no digit in it, or thousands
                return text
    if _FLOAT.match(text):
        return float(text.replace("_", ""))
    return _SPECIAL.get(text.lower(), text)
