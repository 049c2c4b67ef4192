"""Command lines as Codex tells them: what it ran is what stands in its wrapping, however that is quoted."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skilleval.agents.codex_commands import unwrap

WRAPPINGS = st.sampled_from(
    ["/bin/bash -lc ", "/usr/bin/zsh -c ", "/bin/sh -lc  ", "bash -c ", "/opt/bin/dash -c ", "/bin/fish -c ", "/bin/bash -xc ", ""]
)
COMMANDS = st.lists(
    st.sampled_from(["'", '"', "\\", "$", "`", "!", " ", "a", "\n", "\t", "\r", "x y", "é", "#", "\u3000", "c "]), max_size=9
)
QUOTINGS = st.sampled_from(["{}", "'{}'", "'{}'b", '"{}"', "a'{}'\"{}\"", "quoted"])


def by_shlex(command: str) -> str:
    """What a whole parser of shell words finds in a wrapping."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    wrapped = len(words) == 3 and words[0].split("/")[-1] in {"bash", "sh", "zsh", "dash"} and words[1] in {"-c", "-lc"}
    return words[2] if wrapped else command


@settings(max_examples=400)
@given(wrapping=WRAPPINGS, parts=COMMANDS, quoting=QUOTINGS)
def test_the_quick_way_out_of_a_wrapping_is_that_of_shell_words(wrapping: str, parts: list[str], quoting: str) -> None:
    """Whatever stands in a wrapping and however it is quoted, what is found is what a whole parser of shell words finds."""
    inner = "".join(parts)
    command = wrapping + (shlex.quote(inner) if quoting == "quoted" else quoting.replace("{}", inner))
    assert unwrap(command) == by_shlex(command)
