"""Foreign text made fit for a spec, and ids made out of titles."""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_LONE = re.compile("[\ud800-\udfff]")
_REFERENCE = re.compile(r"\$\{(?=[A-Za-z_][A-Za-z0-9_]*\})")
_LONGEST_ID = 56


def cleaned(text: str) -> str:
    """`text` with plain line ends and without control characters, lone surrogates and surrounding blanks."""
    return _LONE.sub("\ufffd", _UNFIT.sub("", _LINE_ENDS.sub("\n", text))).strip()


def literal(text: str) -> str:
    """`text` written so that a spec keeps it as it is: ``${NAME}`` is no reference to a skin there."""
    return _REFERENCE.sub("$${", text)


def slug(text: str) -> str:
    """An id made of the letters and digits of `text`; empty when it has none of the Latin alphabet."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST_ID].strip("-")


class Ids:
    """Hands out ids, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def fresh(self, wanted: str, otherwise: str) -> str:
        """An id made of the text `wanted`, or of `otherwise` when nothing is left of it; numbered when it is taken."""
        base = slug(wanted) or otherwise
        if base.isdigit():
            base = f"case-{base}"
        number, found = 2, base
        while found in self._taken:
            found, number = f"{base}-{number}", number + 1
        self._taken.add(found)
        return found
