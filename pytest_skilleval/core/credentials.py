"""Which environment variables are credentials of agents, and how their values are kept out of everything recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "AZURE_OPENAI_API_KEY",
)
"""Variables whose values are secret: only the gateway, or the agent's own environment, ever gets them."""

CUSTOM_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""Claude Code's variable for further headers of its requests, lines of ``Name: value``; the values are secret."""

SCHEMES = frozenset({"bearer", "basic"})
"""First words of a header's value that are no part of the secret."""

SHORTEST = 8
"""Shorter values are not masked: they would be found everywhere."""

MASK = b"[masked]"

PLACEHOLDER = "placeholder"
"""What an agent gets for a key where the gateway holds the real one."""


def credentials(environ: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """The credential variables that are set, those named in `more` included."""
    return {name: environ[name] for name in (*CREDENTIALS, *more) if environ.get(name)}


def secrets(environ: Mapping[str, str], more: Iterable[str] = (), said: Callable[[], bytes] = bytes) -> tuple[str, ...]:
    """All values to be masked: those of `credentials`, and those of the further headers that do not stand in what is `said` openly.

    Many headers hold an ordinary word. One that a spec says, too, is no secret, and masked it would be missing in what is scored.
    """
    headers = list(filter(None, (without_scheme(value) for _, value in header_lines(environ.get(CUSTOM_HEADERS, "")))))
    openly = said() if headers else b""
    return (*credentials(environ, more).values(), *(value for value in headers if value.encode(errors="surrogateescape") not in openly))


def header_lines(text: str) -> Iterator[tuple[str, str]]:
    """Name and value of each line that is not blank; a line without a colon has no value."""
    for line in filter(str.strip, text.splitlines()):
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def without_scheme(value: str) -> str:
    """What is secret in the value of a header."""
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() in SCHEMES and rest else value


class Masker:
    """Replaces secret values in a stream of bytes, also where a value is split between two chunks.

    `count` is the number of values masked so far. Call `flush` at the stream's end.
    """

    def __init__(self, values: Iterable[str]) -> None:
        bare = (value.strip() for value in values)  # keys read from files end with a line end, which nobody repeats
        secrets = {form.encode("utf-8", "surrogateescape") for value in bare if len(value) >= SHORTEST for form in _written(value)}
        self._secrets = tuple(sorted(secrets, key=len, reverse=True))
        self._any = re.compile(b"|".join(map(re.escape, self._secrets)))
        self._held = b""
        self.count = 0

    def __call__(self, chunk: bytes) -> bytes:
        """The masked bytes that can be let go; the tail that may be the beginning of a secret is held back."""
        if not self._secrets:
            return chunk
        text = self._held + chunk
        return self._let_go(text, len(text) - max(_overlap(text, secret) for secret in self._secrets))

    def flush(self) -> bytes:
        """What was held back."""
        return self._let_go(self._held, len(self._held))

    def _let_go(self, text: bytes, until: int) -> bytes:
        """The masked bytes of `text` up to `until`, or to the end of the secret that stands there; the rest is held back.

        A secret that begins later is not masked yet: it may prove to be the beginning of a longer one.
        """
        parts: list[bytes] = []
        done = 0
        if any(secret in text for secret in self._secrets):  # fast, and mostly there is none
            for found in self._any.finditer(text):
                if found.start() >= until:
                    break
                parts += text[done : found.start()], MASK
                done = found.end()
                self.count += 1
        end = max(done, until)
        self._held = text[end:]
        return b"".join((*parts, text[done:end]))


def _written(value: str) -> Iterator[str]:
    """The value as it is, and as it stands in JSON."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]


def _overlap(text: bytes, secret: bytes) -> int:
    """Length of the longest end of `text` that is a proper beginning of `secret`."""
    for size in range(min(len(text), len(secret) - 1), 0, -1):
        if text.endswith(secret[:size]):
            return size
    return 0


class Masking:
    """Removes secrets from whole files and texts, and from streams by a `Masker` of its own for each.

    `count` is the number of values masked in files and texts so far.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple(values)
        self.count = 0

    def __call__(self, whole: bytes) -> bytes:
        """The file without secrets."""
        one = self.stream()
        masked = one(whole) + one.flush()
        self.count += one.count
        return masked

    def text(self, text: str) -> str:
        """The text without secrets, and without what no UTF-8 file can hold: names of files may be any bytes."""
        return self(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def learn(self, values: Iterable[str]) -> None:
        """More secrets; streams that were begun before do not know them."""
        self._values = tuple(dict.fromkeys((*self._values, *values)))

    def anew(self) -> Masking:
        """One for the same secrets that has masked nothing yet."""
        return Masking(self._values)

    def stream(self) -> Masker:
        """For one stream that comes in chunks."""
        return Masker(self._values)
