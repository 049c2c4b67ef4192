"""How the console script is called."""

from __future__ import annotations

import pytest

from pytest_skilleval.cli import COMMANDS, main


@pytest.mark.parametrize("words", [[], ["nosuch"], ["report"], ["report", "--nosuch", "x"]])
def test_a_call_that_can_not_be_meant_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is that of every usage error, and what is wrong is said."""
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 4
    assert "usage: skilleval" in capsys.readouterr().err


def test_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """--help names each command and ends with 0."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert all(name in told for name in COMMANDS)
