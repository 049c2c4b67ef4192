"""Which engine events tell that somebody acted, and which come by themselves."""

from __future__ import annotations

import pytest
from evidence_made import HEX, SEEDED, but, container, event, volume

from pytest_skilleval.core.acting import acted

STATE = but(
    SEEDED,
    containers=(
        container("db", mounts=(HEX,)),
        container("loops", "restarting", restart_policy="always"),
        container("old", "exited", mounts=("kept",)),
    ),
    volumes=(volume(HEX, anonymous=True), volume("kept"), volume("unused")),
)


@pytest.mark.parametrize(
    ("kind", "action", "key"),
    [
        ("container", "create", "c-new"),
        ("container", "start", "c-old"),
        ("container", "kill", "c-db"),
        ("container", "stop", "c-db"),
        ("container", "restart", "c-loops"),
        ("container", "pause", "c-db"),
        ("container", "rename", "c-db"),
        ("container", "update", "c-db"),
        ("container", "destroy", "c-old"),
        ("container", "extract-to-dir", "c-db"),
        ("container", "prune", ""),
        ("image", "untag", "sha256:1"),
        ("image", "delete", "sha256:1"),
        ("image", "tag", "sha256:1"),
        ("image", "pull", "nginx:latest"),
        ("volume", "create", "new"),
        ("volume", "destroy", "unused"),
        ("network", "create", "n"),
        ("network", "destroy", "n"),
        ("builder", "prune", ""),
    ],
)
def test_what_nothing_does_by_itself_was_done(kind: str, action: str, key: str) -> None:
    """Whoever asked, and by whichever way: command line, socket or script."""
    assert acted(event(kind, action, key), STATE)


@pytest.mark.parametrize(
    ("kind", "action", "key"),
    [
        ("container", "die", "c-db"),
        ("container", "oom", "c-db"),
        ("container", "health_status: healthy", "c-db"),
        ("container", "start", "c-loops"),
        ("container", "destroy", "c-db"),
        ("volume", "mount", HEX),
        ("volume", "unmount", HEX),
        ("volume", "destroy", HEX),
        ("network", "connect", "n"),
        ("network", "disconnect", "n"),
        ("image", "save", "sha256:1"),
        ("image", "push", "sha256:1"),
        ("daemon", "reload", ""),
    ],
)
def test_what_containers_and_the_engine_do_by_themselves_was_not(kind: str, action: str, key: str) -> None:
    """A container that ends, is restarted by its policy, or goes with its volume when it ended; and mere looks."""
    assert not acted(event(kind, action, key), STATE)
