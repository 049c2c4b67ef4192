"""Stand-ins for characters beyond ASCII while a line is parsed.

The grammar's scanner asks C's character tables, which end at 255, about every character: one far beyond makes it read memory that is
not there, and the process dies. To a shell they all are mere letters of a word, so letters stand in for them.
"""

from __future__ import annotations

import re

_BEYOND = re.compile(r"[^\x00-\x7f]")
_STAND_IN = re.compile("ÿ([à-ï]{6})")
_DIGITS = "àáâãäåæçèéêëìíîï"
_TO_LETTERS = str.maketrans("0123456789abcdef", _DIGITS)
_TO_HEX = str.maketrans(_DIGITS, "0123456789abcdef")


def stood_in(text: str) -> str:
    """`text` with six letters and a mark for every character beyond ASCII."""
    return text if text.isascii() else _BEYOND.sub(lambda match: "ÿ" + f"{ord(match[0]):06x}".translate(_TO_LETTERS), text)


def restored(text: str) -> str:
    """What `stood_in` was given, or a part of it."""
    return text if text.isascii() else _STAND_IN.sub(lambda match: chr(int(match[1].translate(_TO_HEX), 16)), text)
