"""Other names of the same shape: equal parts stay equal, separators and small numbers stay, no word does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import count, islice

_PART = re.compile(r"[0-9a-f]{12,}|[A-Za-z]+|[0-9]+|[^A-Za-z0-9]")
_SEPARATORS = "-_."
_SMALL = 2
_SHORT = 3
_TRIES = 2000
_SHORT_WORDS = (
    "oak elm bay fig ivy owl jar pin rye hut gem dew fog ink kit orb pea ram sap tug urn vat wax yam zip ash bee cob "
    "den ear fan gum hay ice jam key lid mat nut oar paw rib sun tap van yak arc bun cue dot eel fox gap hat"
)
_LONG_WORDS = (
    "harbour market bridge meadow lantern orchard copper saddle willow granite anchor basket candle dragon ember falcon garden "
    "hammer island jacket kettle ladder marble needle oyster pebble quarry ribbon silver timber umbrella valley walnut yellow "
    "zephyr almond beacon cactus damson feather glacier hollow ivory jungle kiosk lemon magnet nectar olive parade quartz "
    "raven salmon thistle velvet window bamboo cedar dolphin easel fiddle ginger heron indigo juniper koala lagoon maple nomad "
    "otter pepper quilt river sparrow tulip violet wagon acorn birch clover daisy estuary fountain goblet hazel inkwell jasmine "
    "kayak lily mango nutmeg opal plum quince rosemary saffron tundra vineyard wheat apricot badger cobalt dune elder fennel"
)


class Disguise:
    """Hands out other names; the same for the same name, and never one that holds a word of the `real` ones."""

    def __init__(self, real: Iterable[str]) -> None:
        self._real = {part.lower() for name in real for part in _PART.findall(name)}
        self._short = self._unused(_SHORT_WORDS)
        self._long = self._unused(_LONG_WORDS)
        self._numbers = count(3)
        self._parts: dict[str, str] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()

    def name(self, real: str, kind: str = "") -> str:
        """A name for `real` that Docker takes; names of one `kind` differ from each other."""
        if (kind, real) not in self._names:
            self._names[kind, real] = self._fresh(kind, self._shaped(real))
        return self._names[kind, real]

    def tag(self, real: str) -> str:
        """The name of an image: registry, path and tag each of the same shape; ``latest`` stays."""
        if ("image", real) not in self._names:
            repository, version = _cut(real)
            host, path = _registry(repository)
            parts = "/".join(self._shaped(part).lower() for part in path)
            self._names["image", real] = self._fresh("image", f"{host}{parts}", f":{self._version(version)}")
        return self._names["image", real]

    def word(self, real: str) -> str:
        """One word for a whole text."""
        return self._parts.get(f"text {real}") or self._parts.setdefault(f"text {real}", next(self._long))

    def _fresh(self, kind: str, name: str, end: str = "") -> str:
        found = name
        for number in count(2):
            if (kind, found + end) not in self._taken:
                break
            found = f"{name}-{number}"
        self._taken.add((kind, found + end))
        return found + end

    def _shaped(self, real: str) -> str:
        parts = [self._part(part) for part in _PART.findall(real)]
        shaped = "".join(parts).strip(_SEPARATORS)
        return shaped if re.search("[A-Za-z]", shaped) else f"{self.word(real)}-{shaped}".strip(_SEPARATORS)

    def _version(self, real: str) -> str:
        if real == "latest":
            return real
        match = re.fullmatch(r"([vV]?)([0-9].*)", real)
        mark, rest = match.groups() if match else ("", real)
        return mark + "".join(self._part(part) for part in _PART.findall(rest)).strip(_SEPARATORS) or "latest"

    def _part(self, real: str) -> str:
        if not real.isalnum():
            return real if real in _SEPARATORS else "-"
        if real.isdigit() and len(real) <= _SMALL:
            return real
        key = real.lower()
        if key not in self._parts:
            self._parts[key] = self._other(key)
        other = self._parts[key]
        return other if real == key else other.upper() if real.isupper() else other.capitalize()

    def _other(self, real: str) -> str:
        if real.isalpha():
            return next(self._short if len(real) <= _SHORT else self._long)
        candidates = (_number(real, step) if real.isdigit() else _hexadecimal(real, step) for step in self._numbers)
        return next((other for other in islice(candidates, _TRIES) if other not in self._real), "9" * len(real))

    def _unused(self, listed: str) -> Iterator[str]:
        """The words listed, then pairs of them; none that is a part of a real name."""
        words = listed.split()
        made = (first + second for second in ("", *words) for first in words)
        return (word for word in made if word not in self._real)


def _number(real: str, step: int) -> str:
    """A number of as many digits; a year for a year."""
    if re.fullmatch("(?:19|20)[0-9]{2}", real):
        return str(1970 + step % 130)
    return str(10 ** (len(real) - 1) + step * 7)[-len(real) :]


def _hexadecimal(real: str, step: int) -> str:
    digits = "".join(hashlib.sha256(f"{step} {block}".encode()).hexdigest() for block in range(len(real) // 64 + 1))
    return digits[: len(real)]


def _cut(real: str) -> tuple[str, str]:
    """Repository and tag."""
    repository, _, tag = real.partition("@")[0].rpartition(":")
    return (repository, tag) if repository and "/" not in tag else (real.partition("@")[0], "latest")


def _registry(repository: str) -> tuple[str, list[str]]:
    """What stands for the registry, and the path below it."""
    first, *rest = repository.split("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        return "registry.example.com/", rest
    return "", [first, *rest]
