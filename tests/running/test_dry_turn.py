"""A guard is trusted only when each of its commands was tried and denied."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.errors import ArmError
from pytest_skilleval.core.transcript import ShellCommand
from pytest_skilleval.running.dry_turn import check_guard

TRIES = ("docker rm -f --help", "docker kill --help")


def command(line: str, *, denied: bool) -> ShellCommand:
    """One command that an agent tried."""
    return ShellCommand(line=line, executed=not denied, denied=denied)


def test_a_guard_that_denies_all_holds() -> None:
    """Nothing is raised; without a guard there is nothing to deny."""
    check_guard([command(line, denied=True) for line in TRIES], TRIES)
    check_guard([], ())


@pytest.mark.parametrize("seen", [(), (command("docker kill --help", denied=False),)])
def test_what_ran_or_was_not_tried_is_named(seen: tuple[ShellCommand, ...]) -> None:
    """A command that ran is no guard, and neither is one that nobody saw denied."""
    with pytest.raises(ArmError, match=r"the guard does not hold: docker kill$"):
        check_guard([command("docker rm -f --help", denied=True), *seen], TRIES)
