"""SKILL.md files in the shapes that public catalogues hold: what the standard says, and what each agent would do."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_skilleval.core.frontmatter import conformance, split
from pytest_skilleval.core.loadability import loadable

GOOD = b"---\nname: tidy\ndescription: Use when rooms are untidy.\n---\n# Tidy\n"


def skill(*lines: str, body: str = "# Tidy\n") -> bytes:
    """A SKILL.md with these front-matter lines."""
    return "\n".join(["---", *lines, "---", body]).encode()


def described(description: str) -> bytes:
    """A SKILL.md with this description, as it is written."""
    return skill("name: tidy", f"description: {description}")


def named(name: str) -> bytes:
    """A SKILL.md with this name, as it is written."""
    return skill(f"name: {name}", "description: Use when.")


@dataclass(frozen=True)
class Shape:
    """One SKILL.md, its faults against the standard as (line, part of the message), and the agents that would not list it."""

    name: str
    content: bytes
    faults: tuple[tuple[int, str], ...] = ()
    unseen: tuple[str, ...] = ()
    folder: str = "tidy"


BOTH = ("claude-code", "codex")
CODEX = ("codex",)
BOM = (1, "starts with a byte-order mark")
NO_NAME = (1, "`name` is missing; write the name of the skill's folder")
COLON = "is not YAML: mapping values are not allowed in this context; a text that holds `: ` needs quotes"
TOKEN = "is not YAML: while scanning for the next token, found character that cannot start any token"
NOT_LOWER = "may hold lower-case letters, digits and hyphens only"
HYPHENS = "may not begin or end with a hyphen or hold two in a row"
ALIAS = "uses a YAML anchor or alias"

SHAPES = [
    Shape("good", GOOD),
    Shape("byte-order mark", b"\xef\xbb\xbf" + GOOD, (BOM,), BOTH),
    Shape("byte-order mark and CRLF", b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n"), (BOM,), BOTH),
    Shape("CRLF", GOOD.replace(b"\n", b"\r\n")),
    Shape("mixed line ends", GOOD.replace(b"\n", b"\r\n", 2)),
    Shape("CR only", GOOD.replace(b"\n", b"\r"), (), BOTH),
    Shape("no final newline", GOOD.rstrip()),
    Shape("nothing behind the fence", b"---\nname: tidy\ndescription: Use when.\n---"),
    Shape("leading blank line", b"\n" + GOOD, ((1, "has blank space before the front-matter"),), BOTH),
    Shape("HTML comment first", b"<!-- generated -->\n" + GOOD, ((1, "has a comment before the front-matter"),), BOTH),
    Shape("keys without fences", b"name: tidy\ndescription: Use when.\n", ((1, "has keys but no fences"),), BOTH),
    Shape("prose only", b"# Tidy\n\nUse when.\n", ((1, "has no front-matter"),), BOTH),
    Shape("unclosed", b"---\nname: tidy\ndescription: Use when.\n# Tidy\n", ((1, "the front-matter is never closed"),), BOTH),
    Shape("closed by dots", b"---\nname: tidy\ndescription: Use when.\n...\n# Tidy\n", ((4, "the front-matter is closed by `...`"),), BOTH),
    Shape("space behind the fences", b"---  \nname: tidy\ndescription: Use when.\n--- \nBody\n"),
    Shape("dashes in a value", described("Use when --- or not.")),
    Shape("dashes in a block", skill("name: tidy", "description: |", "  Use when", "  ---", "  or not.")),
    Shape("unquoted colon", described("Use when: untidy."), ((3, COLON),)),
    Shape("at sign first", described("@home tidying."), ((3, TOKEN),)),
    Shape("backtick first", described("`tidy` rooms."), ((3, TOKEN),)),
    Shape("per cent first", described("%done tidying."), ((3, TOKEN),), CODEX),
    Shape("asterisk first", described("*tidy rooms."), ((3, "is not YAML: found undefined alias"),), CODEX),
    Shape("ampersand first", described("&tidy rooms."), ((3, ALIAS),)),
    Shape("exclamation mark first", described("!tidy rooms."), ((3, "carries the YAML tag `!tidy`"),)),
    Shape("cut at a hash", described("Use C # sharp."), ((3, "`description` ends at ` #`"),)),
    Shape("folded", skill("name: tidy", "description: >-", "  Use when", "  untidy.")),
    Shape("literal", skill("name: tidy", "description: |", "  Use when", "  untidy.")),
    Shape("plain over two lines", skill("name: tidy", "description: Use when", "  untidy.")),
    Shape("value on the next line", skill("name: tidy", "description:", "  Use when.")),
    Shape("quoted with escapes", described(r'"Use \"when\": caf\u00e9 # all of it"')),
    Shape(
        "inline JSON metadata",
        skill("name: tidy", "description: Use when.", 'metadata: {"a": {"b": 1}}'),
        ((4, "`metadata.a` must be a text, not a mapping"),),
    ),
    Shape(
        "repeated description",
        skill("name: tidy", "description: One.", "description: Two."),
        ((4, "the key `description` is given twice (first on line 3)"),),
        CODEX,
    ),
    Shape("name that is a truth value", named("yes"), ((2, "`name` must be a text; quote it: 'yes'"),), (), "yes"),
    Shape("name that is a number", named("123"), ((2, "`name` must be a text; quote it: '123'"),), (), "123"),
    Shape("description that is a number", described("1.5"), ((3, "`description` must be a text; quote it: '1.5'"),)),
    Shape("description that is a date", described("2026-01-01")),
    Shape(
        "description that is null", described("~"), ((3, "`description` is empty; write what the skill does, and when to use it"),), BOTH
    ),
    Shape("description that is a list", described("[a, b]"), ((3, "`description` must be a text, not a list"),), BOTH),
    Shape("empty description", described("''"), ((3, "`description` is empty"),), BOTH),
    Shape("no description", skill("name: tidy"), ((1, "`description` is missing; write what the skill does, and when to use it"),), BOTH),
    Shape("no name", skill("description: Use when."), (NO_NAME,)),
    Shape(
        "metadata with other types",
        skill("name: tidy", "description: Use when.", "metadata:", "  version: 1.0", "  draft: true", "  since: 2026-01-01"),
        ((5, "`metadata.version` must be a text; quote it: '1.0'"), (6, "`metadata.draft` must be a text; quote it: 'true'")),
    ),
    Shape(
        "metadata that is a text",
        skill("name: tidy", "description: Use when.", "metadata: mine"),
        ((4, "`metadata` must be a mapping of texts to texts"),),
        CODEX,
    ),
    Shape(
        "tools as a list",
        skill("name: tidy", "description: Use when.", "allowed-tools: [Bash, Read]"),
        ((4, "`allowed-tools` must be a text, its entries parted by spaces"),),
    ),
    Shape(
        "tools with commas",
        skill("name: tidy", "description: Use when.", "allowed-tools: Bash, Read"),
        ((4, "must be parted by spaces, not commas"),),
    ),
    Shape("tools with spaces", skill("name: tidy", "description: Use when.", "allowed-tools: Bash Read")),
    Shape(
        "unknown keys",
        skill("name: tidy", "description: Use when.", "type: tool", "effort: high"),
        ((4, "`type` is no field of the standard"), (5, "`effort` is no field of the standard")),
    ),
    Shape(
        "long compatibility",
        skill("name: tidy", "description: D.", "compatibility: " + "c" * 501),
        ((4, "`compatibility` has 501 characters"),),
    ),
    Shape("capitals in the name", named("Tidy"), ((2, NOT_LOWER),), (), "Tidy"),
    Shape("space in the name", named("tidy up"), ((2, NOT_LOWER),), (), "tidy up"),
    Shape("underscore in the name", named("tidy_up"), ((2, NOT_LOWER),), (), "tidy_up"),
    Shape("leading hyphen", named("-tidy"), ((2, HYPHENS),), (), "-tidy"),
    Shape("two hyphens", named("tidy--up"), ((2, HYPHENS),), (), "tidy--up"),
    Shape("another name than the folder", named("tidy"), ((2, "the name `tidy` differs from the folder `clean`"),), (), "clean"),
    Shape("name of 64 characters", named("n" * 64), (), (), "n" * 64),
    Shape("name of 65 characters", named("n" * 65), ((2, "`name` has 65 characters; at most 64"),), CODEX, "n" * 65),
    Shape("description of 1024 characters", described("\N{GRINNING FACE}" * 1024)),
    Shape("description of 1025 characters", described("é" * 1025), ((3, "`description` has 1025 characters; at most 1024"),)),
    Shape("name in composed letters, folder in decomposed ones", named("ordné"), (), (), "ordne\u0301"),
    Shape("Chinese name", named("整理"), (), (), "整理"),
    Shape("right-to-left description", described("סדר")),
    Shape("zero-width character", described("Use\u200b when."), ((3, "holds the hidden character U+200B"),)),
    Shape("bidirectional override", described("Use \u202ewhen."), ((3, "holds the hidden character U+202E"),)),
    Shape(
        "hidden character in the body",
        skill("name: tidy", "description: D.", body="a\nb\u2066c\n"),
        ((6, "holds the hidden character U+2066"),),
    ),
    Shape("NUL in a value", described("Use\x00 when."), ((3, "holds the control character U+0000"),), CODEX),
    Shape("C1 in a value", described("Use\x9b when."), ((3, "holds the control character U+009B"),), CODEX),
    Shape("NUL in the body", GOOD + b"\x00\n", ((6, "holds the control character U+0000"),)),
    Shape("Latin-1", GOOD.replace(b"rooms", b"caf\xe9s"), ((3, "is not UTF-8 (byte 0xe9)"),), CODEX),
    Shape("Latin-1 in the body", GOOD + b"caf\xe9\n", ((6, "is not UTF-8 (byte 0xe9)"),), CODEX),
    Shape("empty", b"", ((1, "is empty"),), BOTH),
    Shape("blank", b"\n\n", ((1, "is empty"),), BOTH),
    Shape("tab behind the colon", described("\tUse when.").replace(b": \t", b":\t")),
    Shape(
        "tab for indentation",
        skill("name: tidy", "description: >", "\tUse when."),
        ((4, "found a tab character where an indentation space is expected; indentation takes spaces, not tabs"),),
        BOTH,
    ),
    Shape("front-matter that is a list", skill("- tidy", "- when"), ((1, "the front-matter must be a mapping"),), BOTH),
    Shape("empty front-matter", b"---\n---\nBody\n", ((1, "the front-matter must be a mapping"),), BOTH),
    Shape("flow mapping", skill("{name: tidy, description: Use when.}")),
    Shape("anchors", skill("name: tidy", "description: &d Use when.", "license: *d"), ((3, ALIAS), (4, ALIAS))),
    Shape("rules in the body", GOOD + b"a\n\n---\n\nb\n\n---\n"),
    Shape("body of 300 kB", GOOD + b"x" * 300_000),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.replace(" ", "-"))
def test_conformance(shape: Shape) -> None:
    """Each departure from the standard is told with its line, and nothing else is."""
    found = conformance(shape.content, shape.folder)
    assert [told.line for told in found] == [line for line, _ in shape.faults], found
    assert all(part in told.message for told, (_, part) in zip(found, shape.faults, strict=True)), found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.replace(" ", "-"))
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_loadable(shape: Shape, agent: str) -> None:
    """Whether an agent would list the file under its own description is told apart from the standard, with the reason."""
    listed, reason = loadable(shape.content, agent)
    assert listed is (agent not in shape.unseen), reason
    assert listed or reason.startswith(("Claude Code ", "Codex "))


@pytest.mark.parametrize(
    ("content", "agent", "loss"),
    [
        (described("Use when --- or not."), "claude-code", "Claude Code ends the front-matter at the first `---` and cuts what follows it"),
        (described("Use when --- or not."), "codex", ""),
        (described("é" * 1025), "codex", "Codex cuts a description after 1024 characters"),
        (described("é" * 1024), "codex", ""),
        (GOOD, "claude-code", ""),
    ],
)
def test_loss(content: bytes, agent: str, loss: str) -> None:
    """What an agent would list, but not whole, says what is lost."""
    assert loadable(content, agent) == (True, loss)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_body_is_kept_byte_for_byte(end: bytes) -> None:
    """The body is everything behind the closing fence, whatever it holds."""
    body = end + b"\xff\x00 # Tidy" + end + b"---" + end + b"\t"
    content = end.join([b"---", b"name: tidy", b"---"]) + end + body
    assert split(content).body == body
