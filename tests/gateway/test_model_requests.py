"""Reading model requests: what is shown, how much of a skill, what differs; credentials and prices."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core import prices
from pytest_skilleval.core.credentials import MASK, Masker, Masking, credentials, secrets
from pytest_skilleval.core.dose import dose
from pytest_skilleval.core.first_requests import differences, normalise, undeclared_part
from pytest_skilleval.core.model_requests import SKILLS_OF_CLAUDE, decode, shown, texts
from pytest_skilleval.core.transcript import Usage, usage_of_run

CLAUDE = {
    "model": "claude-opus-4-8",
    "system": [{"type": "text", "text": "You are an agent."}],
    "tools": [{"name": "Bash"}, {"name": "mcp__tracker__list"}, {"name": "mcp__tracker__get"}],
    "messages": [
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": "<system-reminder>\n# claudeMd\nCodebase and user instructions.\n\n"
                    "Contents of /home/agent/.claude/CLAUDE.md (user's private"
                    " global instructions for all projects):\n\nBe brief.\n\n"
                    "Contents of /srv/app/CLAUDE.md (project instructions):\n\nUse tabs.\n"
                    "# currentDate\nToday's date is 2026-01-02.\n\n"
                    "      IMPORTANT: this context may or may not be relevant.\n</system-reminder>\n",
                },
                {"type": "text", "text": "hello"},
            ],
        },
        {
            "role": "system",
            "content": f"Agents:\n- Explore: reads\n\n{SKILLS_OF_CLAUDE}\n\n- careful: Ask first.\nTRIGGER: deletions\n"
            "- plug:in: Other. Use: rarely\n- bare: ",
        },
    ],
}
CODEX = {
    "model": "gpt-x",
    "input": [
        {
            "type": "additional_tools",
            "tools": [
                {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]},
                {"type": "namespace", "name": "mcp__tracker", "tools": [{"type": "function", "name": "list"}]},
            ],
        },
        {
            "type": "message",
            "role": "developer",
            "content": [
                {
                    "type": "input_text",
                    "text": "<skills_instructions>\n## Skills\n### Skill roots\n"
                    "- `r0` = `/home/agent/.agents/skills`\n### Available skills\n"
                    "- careful: Ask first. (file: r0/careful/SKILL.md)\n- old: Abs. (file: /opt/old/SKILL.md)\n</skills_instructions>",
                }
            ],
        },
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"}],
        },
    ],
}


def test_claude_request_is_read() -> None:
    """Skills (with descriptions over several lines), tools, MCP servers and instruction files of a Claude Code request."""
    seen = shown(CLAUDE)
    assert [(skill.name, skill.description) for skill in seen.skills] == [
        ("careful", "Ask first.\nTRIGGER: deletions"),
        ("plug:in", "Other. Use: rarely"),
        ("bare", ""),
    ]
    assert (seen.tools[0], seen.mcp_servers) == ("Bash", ("tracker",))
    assert [text.strip() for text in seen.instructions] == ["Be brief.", "Use tabs."]


def test_codex_request_is_read() -> None:
    """The same of a Codex request, skill roots resolved and tools of a namespace found."""
    seen = shown(CODEX)
    assert [(skill.name, skill.description, skill.path) for skill in seen.skills] == [
        ("careful", "Ask first.", "/home/agent/.agents/skills/careful/SKILL.md"),
        ("old", "Abs.", "/opt/old/SKILL.md"),
    ]
    assert (seen.tools, seen.mcp_servers) == (("exec", "mcp__tracker.list"), ("tracker",))
    assert seen.instructions == ("Be brief.",)


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ("<tools>\nDeferred tool namespaces:\n- mcp__tracker\n- web\n</tools>", ("tracker",)),
        ("Use ToolSearch to load tool schemas before calling them:\nCronCreate\nmcp__tracker__list\n\nAgents:\n- mcp__no", ("tracker",)),
        ("The following MCP servers are still connecting - their tools will appear shortly:\ntracker\nwiki\n\nMore.", ("tracker", "wiki")),
        ("The user asks what mcp__tracker__list does", ()),
    ],
)
def test_servers_whose_tools_are_deferred_are_found(text: str, servers: tuple[str, ...]) -> None:
    """An MCP server is found also where the request only names it; a mention of one is none."""
    assert shown({"messages": [{"role": "system", "content": text}]}).mcp_servers == servers


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["messages", "input", "tools", "content", "type", "role", "name", "text"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read(value: object) -> None:
    """No body whatever makes reading raise."""
    body = decode(json.dumps(value).encode())
    assert isinstance(texts(body), list)
    assert shown(body).mcp_servers is not None


def test_undecodable_body_shows_nothing() -> None:
    """Bytes that are no JSON show nothing."""
    assert decode(b"\xff{") == {}
    assert decode(b'{"input":' + b"[" * 100_000) == {}
    assert shown({}).skills == ()


BODY = "# Careful\n\nName exactly what is lost.\nAsk first.\n"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ([], 0.0),
        (["Careful: a skill about deletions"], 0.0),
        ([BODY], 1.0),
        (["     1\t# Careful\n     2\t\n     3\tName exactly what is lost.\n     4\tAsk first."], 1.0),
        (["1→# Careful\n3→Name exactly what is lost.", "4→Ask first."], 1.0),
        ([json.dumps({"output": BODY})], 1.0),
        (["    Name exactly what is lost."], 26 / 45),
        (["we were told to Ask first. and did"], 0.0),
    ],
)
def test_dose(context: list[str], expected: float) -> None:
    """The dose is the share of the body's lines, by length, in whatever dress a tool brings them."""
    assert dose(BODY, context) == pytest.approx(expected)


def test_empty_body_has_no_dose() -> None:
    """A skill without a body can't be dosed."""
    assert dose("\n \n", ["x"]) == 0.0


@given(st.lists(st.text(alphabet="abc de", min_size=1, max_size=12), min_size=1, max_size=8), st.integers(0, 8))
def test_dose_grows_with_what_is_shown(lines: list[str], shown_lines: int) -> None:
    """More of the body is never a smaller dose, and all of it is 1."""
    body = "\n".join(lines)
    some, more = dose(body, ["\n".join(lines[:shown_lines])]), dose(body, ["\n".join(lines[: shown_lines + 1])])
    assert 0 <= some <= more <= 1
    assert dose(body, [body]) == (1.0 if body.strip() else 0.0)


def test_fences_and_rules_are_no_dose() -> None:
    """What agents' own prompts have as well, a fence or a rule, tells nothing of the skill."""
    body = "---\n```\ndocker ps\n```\n"
    assert dose(body, ["---\n```\nls\n```"]) == 0
    assert dose(body, ["docker ps"]) == 1


def test_volatile_parts_make_no_difference() -> None:
    """Session ids, dates and clocks differ from run to run and are no difference between arms."""
    one = {"m": "id 01a229d8-5656-76b0-bd62-794992054ef2 on 2026-11-30", "x": {"create_time": 1.5}}
    two = {"m": "id 11111111-2222-3333-4444-555555555555 on 2027-01-01", "x": {"create_time": 2.5}}
    assert differences(one, two) == ()
    assert normalise("cc_version=2.1.197.e58; cch=ab12") == "cc_version=2.1.197; cch=<hash>"


def test_what_only_one_of_two_requests_has_is_told() -> None:
    """A difference is a line, with its place in the JSON and the side that has it."""
    without = {"messages": [{"content": "Skills:\n- a: A.\n- b: B."}]}
    found = differences(without, {"messages": [{"content": "Skills:\n- a: A.\n- careful: Ask first.\n- b: B."}]})
    assert [(one.line, one.added, one.where) for one in found] == [("- careful: Ask first.", True, "messages[].content")]


@pytest.mark.parametrize("body", [CLAUDE, CODEX])
def test_what_an_arm_declares_is_taken_out(body: dict[str, object]) -> None:
    """Listing and instructions are gone, with the lines around them; the prompt, the tools and other instructions stay."""
    rest, _permissions = undeclared_part(body, "Be brief.\n")
    left = "\n".join(line for _, line in rest)
    assert not [word for word in ("careful", "Ask first", "Be brief", "# claudeMd", "AGENTS.md") if word in left]
    assert ("Use tabs." in left) == (body is CLAUDE)
    assert "tracker" in left


def test_a_number_that_changes_is_a_difference() -> None:
    """Other effort or limits between arms are found, and no declared text explains them."""
    assert [one.line for one in differences({"max_tokens": 32000}, {"max_tokens": 64000})] == ["32000", "64000"]
    assert undeclared_part({"max_tokens": 32000}, "32000") == ((("max_tokens", "32000"),), ())


SECRET = "sk-ant-0123456789"


def streamed(mask: Masker, whole: bytes, cuts: list[int]) -> bytes:
    """All that comes through of `whole`, cut up at `cuts`."""
    borders = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    return b"".join(mask(whole[begin:end]) for begin, end in itertools.pairwise(borders)) + mask.flush()


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=5))
def test_secrets_are_masked_however_a_stream_is_cut_up(before: bytes, after: bytes, cuts: list[int]) -> None:
    """A secret never comes through, not even in two chunks; everything else does, and the count is right."""
    whole, one = before + SECRET.encode() + after, Masker([SECRET])
    assert streamed(one, whole, cuts) == whole.replace(SECRET.encode(), MASK)
    assert one.count == whole.count(SECRET.encode())


ENTANGLED = ("aaaaaaab", "aaaaaaabbbbb", "abbbbbbb", "aaaaaaaa")
"""The first begins the second, whose end begins the third; the last overlaps itself."""


@given(st.lists(st.sampled_from([*ENTANGLED, "a", "bbbb"]), max_size=6).map("".join), st.lists(st.integers(0, 80), max_size=8))
def test_secrets_that_hold_parts_of_each_other_are_masked_however_a_stream_is_cut_up(text: str, cuts: list[int]) -> None:
    """From the left, and the longest of those that begin at one place, as in one piece."""
    longest_first = b"|".join(sorted((secret.encode() for secret in ENTANGLED), key=len, reverse=True))
    wanted, count = re.subn(longest_first, MASK, text.encode())
    one = Masker(ENTANGLED)
    assert (streamed(one, text.encode(), cuts), one.count) == (wanted, count)


def test_masker_of_several_values_and_none() -> None:
    """The longest value is masked first; values too short to be secrets are left; no values change nothing."""
    mask = Masking(["abcdefgh", "abcdefghij", "short"])
    assert mask(b"x abcdefghij abcdefgh short") == b"x [masked] [masked] short"
    assert Masking([])(b"abcdefgh") == b"abcdefgh"


def test_only_credentials_are_taken() -> None:
    """Only variables on the lists are taken, and more where they are named."""
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "u", "PATH": "p", "CORP_TOKEN": "t", "OPENAI_API_KEY": ""}
    assert credentials(environ) == {"ANTHROPIC_API_KEY": "k"}
    assert credentials(environ, ["CORP_TOKEN"]) == {"ANTHROPIC_API_KEY": "k", "CORP_TOKEN": "t"}


def test_values_of_further_headers_are_secret() -> None:
    """Each value by itself, without the word that says of which kind it is, beside those of the variables."""
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_CUSTOM_HEADERS": "X-Key: of-the-company\nAuthorization: Bearer a-token\nX-Empty:"}
    assert secrets(environ) == ("k", "of-the-company", "a-token")
    assert secrets(environ, said=lambda: b"names of-the-company, k") == ("k", "a-token"), "a header's word that is said openly is none"


def test_cost_equals_the_hand_sum() -> None:
    """Dollars by kind of token equal the sum done by hand, as billed and without a cache."""
    usage = Usage(input=1000, output=200, cache_read=5000, cache_write_5m=300, cache_write_1h=700, known=True)
    cost = prices.shipped().cost(usage, "claude-opus-4-8[1m]")
    assert cost.billed == pytest.approx((1000 * 5 + 200 * 25 + 5000 * 0.5 + 300 * 6.25 + 700 * 10) / 1e6)
    assert cost.uncached == pytest.approx((7000 * 5 + 200 * 25) / 1e6)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.0),
        ("anthropic/claude-haiku-4-5", 1.0),
        ("claude-opus-4-20250514", 15.0),
        ("gpt-5.1-codex-max", 1.25),
        ("gpt-6.2-sol", None),
        ("scripted", None),
    ],
)
def test_price_by_model_name(model: str, price: float | None) -> None:
    """Vendor prefixes and dates do not matter; a model that is not in the table has no price."""
    found = prices.shipped().of(model)
    assert (found.input if found else None) == price


def test_usage_of_a_run_counts_each_turn_once() -> None:
    """Turns are summed where each tells its own, and the last one counts where it tells the whole session's."""
    own = [Usage(input=1, cost_usd=0.5, known=True), Usage(), Usage(input=2, cost_usd=0.25, known=True)]
    whole = [Usage(input=10, known=True, whole_session=True), Usage(input=25, known=True, whole_session=True)]
    assert (usage_of_run(own).input, usage_of_run(own).cost_usd) == (3, 0.75)
    assert usage_of_run(whole).input == 25
    assert usage_of_run([]).known is False


PIECES = ("Contents of ", "x (y)", ":", "\n", " ", "IMPORTANT: this context", "\n# currentDate", "abc", ":\n\n", "Contents of a:\n\n")
SLOW = re.compile(
    r"Contents of ([^\n]+?)(?: \([^\n]*\))?:\n\n"
    r"(.*?)(?=\n*Contents of [^\n]+:\n\n|\n# currentDate|\n+\s*IMPORTANT: this context|\Z)",
    re.DOTALL,
)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_instructions_are_what_stands_between_headings(text: str) -> None:
    """One pass over the text finds what an expression finds that needs the cube of its length."""
    text = f"# claudeMd\n{text}"
    told = shown({"messages": [{"role": "user", "content": text}]}).instructions
    assert list(told) == [content for _, content in SLOW.findall(text)]


@pytest.mark.parametrize("filling", ["\n", "\n ", "Contents of ", "\n IMPORTANT: this context", ":\n\n"])
def test_instructions_of_any_length_are_read(filling: str) -> None:
    """Texts that made the expression try for hours are read at once."""
    text = "# claudeMd\nContents of x:\n\n" + filling * 100_000
    assert shown({"messages": [{"role": "user", "content": text}]}).instructions
