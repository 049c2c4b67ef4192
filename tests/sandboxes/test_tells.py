"""Nothing an agent can look at tells it that it is being watched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_skilleval.core.ports import Sandbox, SandboxRequest
from pytest_skilleval.sandboxes.engine.backend import EngineBackend

from . import world
from .conformance import run, sh

pytestmark = pytest.mark.engine

CHECKOUT = re.escape(str(Path(__file__).resolve().parents[2]))
TELLS = re.compile(
    rf"[\w./-]*(?:test|eval|sandbox|pytest|skill|benchmark|fixture|rehearsal|supervis|{CHECKOUT}|\.cache)[\w./-]*", re.IGNORECASE
)
INNOCENT = {
    "latest": "Docker's own word for the newest image",
    "SandboxID": "Docker's name for a container's network namespace",
    "SandboxKey": "Docker's name for a container's network namespace",
    "fastestmirror": "a package manager's plugin",
}
PROBES = (
    "env",
    "id; whoami; groups",
    "pwd; ls -la --full-time; ls -la --full-time ~",
    "hostname; hostname -f; uname -a",
    "cat /etc/hostname /etc/hosts /etc/resolv.conf /etc/os-release /etc/motd /etc/issue",
    "ps auxww; ps -eo pid,ppid,pgid,sid,args",
    "mount; cat /proc/mounts /proc/self/mountinfo",
    "df -h; df -i",
    "docker info; docker version; docker context ls",
    "docker ps -a --no-trunc; docker images -a --no-trunc; docker network ls; docker volume ls",
    "docker history --no-trunc shop-web:1.4; docker image inspect shop-web:1.4",
    "docker inspect shop-web-1 shop-db-1 stubborn",
    "docker volume inspect shop_pgdata; docker network inspect shop_default",
    # until the beginning of this second
    "sleep 1; docker events --since 24h --until 0s",
    "docker system df -v; docker builder du",
    "cat /proc/1/cmdline /proc/1/comm; sudo cat /proc/1/environ; readlink /proc/1/exe; sudo ls -l /proc/1/exe /proc/1/fd /proc/1/cwd",
    "cat /proc/self/cgroup /proc/1/cgroup; find /sys/fs/cgroup -maxdepth 3 -type d",
    "cat /proc/self/status /proc/self/limits /proc/self/uid_map",
    "ls -la / /tmp /opt /mnt /srv /home /var /var/log /run /run/* /workspace /usr/local /usr/local/*",
    "cmp ~/.bashrc /etc/skel/.bashrc; cmp ~/.profile /etc/skel/.profile; cat ~/.bash_history",
    "cat ~/.gitconfig; sudo cat /root/.bash_history; git config --list --show-origin; git --version",
    "crontab -l; sudo ls -R /etc/cron* /var/spool; ls /etc/systemd /etc/init.d",
    "sudo cat /var/log/*.log; sudo find /var/log -type f",
    "cat /etc/docker/daemon.json /etc/containerd/config.toml /etc/apt/sources.list; ls /etc/apt/sources.list.d",
    "ip addr; ip route; ip link; cat /proc/net/unix /proc/net/tcp",
    "sudo env; sudo -l; cat /etc/passwd /etc/group; sudo cat /etc/sudoers.d/*; getent passwd",
    "for p in /proc/[0-9]*; do sudo cat $p/cmdline $p/comm $p/environ; sudo readlink $p/cwd $p/exe $p/fd/*; done | tr '\\0' '\\n'",
    "uptime; who; last; date; nproc; free -m; ulimit -a",
    "find / -xdev -newermt '-1 day' -not -path '/proc/*' 2>/dev/null",
    "sudo find / -xdev -regextype egrep -iregex '.*(pytest|skill|rehears|bench|sandbox|devbox).*' -not -path '/[up][sr]*'; echo none",
)


@pytest.fixture(scope="module")
def seeded(engine: EngineBackend) -> Iterator[Sandbox]:
    """A restored world, as a real run has it; nothing below changes it."""
    if not engine.has("tells"):
        first = engine.open(SandboxRequest(name="tells"))
        try:
            world.make(first)
            first.save("tells", age_days=23)
        finally:
            first.close()
    sandbox = engine.open(SandboxRequest(name="tells-run", restore="tells"))
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize("probe", PROBES)
def test_a_look_around_tells_nothing(probe: str, seeded: Sandbox) -> None:
    """What the probe prints holds no word of testing, no path of the host and no name of this project."""
    done = run(seeded, "bash", "-c", probe)
    text = (done.stdout + done.stderr).decode(errors="replace")
    assert text.strip()
    found = {word for word in TELLS.findall(text) if word.rpartition("/")[2] not in INNOCENT and not _of_the_distribution(word)}
    assert not found


def _of_the_distribution(word: str) -> bool:
    """Files of Debian packages, such as /usr/bin/test, and the names of containerd's plugins."""
    return bool(re.match(r"/(usr|etc/(init\.d|pam\.d|security|alternatives|ssl))/|io\.containerd\.", word))


def test_the_probes_would_notice(seeded: Sandbox) -> None:
    """The audit is able to fail: a variable, a file and a process with a tell in them are found."""
    for script in ("SKILL_EVAL=1 env", "touch /tmp/pytest-1; ls /tmp; rm /tmp/pytest-1", "bash -c 'exec -a sandbox-agent ps aux'"):
        done = run(seeded, "bash", "-c", script)
        assert TELLS.search(done.stdout.decode())


def test_nothing_is_younger_than_its_story(seeded: Sandbox) -> None:
    """Containers, their ends, networks and files are weeks old; images are months old."""
    containers = sh(seeded, "docker ps -a --format '{{.Names}} {{.RunningFor}} {{.Status}}'").splitlines()
    assert len(containers) == 7
    for line in containers:
        assert line.count("3 weeks ago") == (2 if "Exited" in line else 1)
    images = sh(seeded, "docker images --format '{{.CreatedSince}}'").splitlines()
    assert len(images) == 7
    assert all(re.search(r"month|year", line) for line in images)
