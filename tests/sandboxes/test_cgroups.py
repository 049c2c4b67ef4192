"""Control groups: what is found, what is made, what is said when a controller is missing."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from pytest_skilleval.sandboxes.engine.cgroups import Group, Hierarchy, hierarchies, layout, writable

V1 = """\
tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,nosuid,xattr,release_agent=/lib/systemd/agent,name=systemd 0 0
cgroup2 {unified} cgroup2 rw,relatime 0 0
cgroup /elsewhere/cpu cgroup rw,relatime,cpu,cpuacct 0 0
"""


def test_every_hierarchy_is_found_once(tmp_path: Path) -> None:
    """Controllers are told from mount options, a second mount of a hierarchy is passed over, v2 comes last."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(V1.format(unified=tmp_path))
    found = hierarchies(mounts)
    assert [(one.path, one.version, one.controllers) for one in found] == [
        (Path("/sys/fs/cgroup/cpu,cpuacct"), 1, ("cpu", "cpuacct")),
        (Path("/sys/fs/cgroup/systemd"), 1, ("name=systemd",)),
        (tmp_path, 2, ("cpu", "memory")),
    ]
    assert [one.options for one in found[:2]] == ["cpu,cpuacct", "none,name=systemd"]
    assert layout(found) == "cgroup v1"
    assert layout(found[2:]) == "cgroup v2"
    assert layout(()) == "no cgroup"


@pytest.fixture
def v2(tmp_path: Path) -> Hierarchy:
    """A folder that looks like a v2 hierarchy with two controllers, where files appear by writing."""
    for name, text in {"cgroup.controllers": "cpu memory pids", "cgroup.subtree_control": "cpu"}.items():
        (tmp_path / name).write_text(text)
    group = tmp_path / "box"
    group.mkdir()
    for name in ("cgroup.procs", "cgroup.subtree_control", "memory.max"):
        (group / name).write_text("")
    (group / "cgroup.controllers").write_text("cpu memory")
    return Hierarchy(tmp_path, 2, ("cpu", "memory", "pids"))


def test_limits_are_set_and_missing_ones_are_told(v2: Hierarchy) -> None:
    """A limit whose file is there is written and told as in force; one whose controller is not delegated is a note."""
    group = Group("box", os.geteuid(), (v2,), {"memory": 1 << 30, "pids": 100})
    group.create()
    assert (v2.path / "box/memory.max").read_text() == str(1 << 30)
    assert group.in_force == {"memory": 1 << 30}
    assert group.notes == ["no pids limit: the pids controller is not delegated here"]


def test_the_first_process_moves_to_a_leaf_before_controllers_are_delegated(v2: Hierarchy) -> None:
    """Under v2 the group itself must be empty: the first process goes to a leaf, then the groups below get controllers."""
    group = Group("box", os.geteuid(), (v2,))
    group.create()
    group.settle(4711)
    assert (v2.path / "box/init.scope/cgroup.procs").read_text() == "4711"
    assert (v2.path / "box/cgroup.subtree_control").read_text() in ("+cpu", "+memory")
    group.enter("user.slice/session-1.scope")
    assert (v2.path / "box/user.slice/session-1.scope/cgroup.procs").read_text() == "0"
    group.enter(None)
    assert (v2.path / "box/init.scope/cgroup.procs").read_text() == "0"


def test_a_hierarchy_that_can_not_be_written_is_told_and_left_out(v2: Hierarchy) -> None:
    """Where no group can be made the reason is noted and the others are used."""
    away = Hierarchy(Path("/proc/no-such-hierarchy"), 1, ("cpu",))
    group = Group("box", os.geteuid(), (away, v2))
    group.create()
    assert group.found == (v2,)
    assert any("/proc/no-such-hierarchy" in note for note in group.notes)
    assert writable((away, v2))
    assert not writable((away,))


@pytest.mark.engine
def test_a_leaf_is_killed_with_all_its_children() -> None:
    """In each real hierarchy that can be written, killing a leaf kills its processes, forked ones too, and no others."""
    if not writable(hierarchies()):
        pytest.skip("no control group can be made here")
    for one in hierarchies():
        name = f"devbox-unit-{os.getpid()}"
        group = Group(name, os.geteuid(), (one,))
        group.create()
        if not group.found:
            continue
        script = f"echo $$ > {one.path / name}/user.slice/session-1.scope/cgroup.procs; sleep 300 & setsid sleep 300 & sleep 300"
        try:
            group._leaf(one, "user.slice/session-1.scope")
            with subprocess.Popen(["sh", "-c", script]) as inside, subprocess.Popen(["sleep", "300"]) as outside:
                time.sleep(0.2)
                group.kill("user.slice")
                assert inside.wait(5) == -9
                assert outside.poll() is None
                outside.kill()
        finally:
            group.remove()
        assert not (one.path / name).exists()
