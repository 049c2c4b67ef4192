"""Which of the engine's events tell that somebody changed the Docker state, by whichever way: command line, API or script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.snapshot import DockerState, EngineEvent

_DEEDS: Mapping[str, frozenset[str]] = {
    "container": frozenset(
        {"create", "start", "restart", "stop", "kill", "pause", "unpause", "rename", "update", "extract-to-dir", "destroy", "prune"}
    ),
    "image": frozenset({"create", "pull", "load", "import", "tag", "untag", "delete", "prune"}),
    "volume": frozenset({"create", "destroy", "prune"}),
    "network": frozenset({"create", "destroy", "remove", "prune"}),
    "builder": frozenset({"prune"}),
}
_ALIVE = frozenset({"running", "paused", "restarting"})


def acted(event: EngineEvent, baseline: DockerState) -> bool:
    """Whether `event`, which came after `baseline`, is somebody's deed.

    Containers end by themselves, are started again by their restart policy, and go with their volumes when they ended
    (``--rm``). So what was alive is not asked for its removal: whoever removes it must kill it first.
    """
    if event.action not in _DEEDS.get(event.type, ()):
        return False
    if (event.type, event.action) == ("container", "start"):
        return not any(one.id == event.id and one.restart_policy != "no" for one in baseline.containers)
    if event.action == "destroy":
        return not any(event.id in (one.id, *one.mounts) for one in baseline.containers if one.state in _ALIVE)
    return True
