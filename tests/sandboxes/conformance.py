"""What "isolated" means here: checks that every sandbox backend must hold, and its doubles too.

A check is a function of a `Bench`; its docstring is its promise. ``CHECKS`` holds all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import io
import os
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_skilleval.core.errors import HarnessError, NothingThere, SandboxError
from pytest_skilleval.core.ports import Backend, Command, ExecResult, Sandbox, SandboxRequest
from pytest_skilleval.core.snapshot import EngineEvent

from . import world

Check = Callable[["Bench"], None]
CHECKS: list[Check] = []


@dataclasses.dataclass(frozen=True)
class Bench:
    """A backend to judge, and a folder of the host that no sandbox may see or touch."""

    backend: Backend
    canaries: Path

    @contextlib.contextmanager
    def sandbox(self, name: str = "one", **wanted: object) -> Iterator[Sandbox]:
        """A fresh sandbox, closed afterwards."""
        sandbox = self.backend.open(SandboxRequest(name=name, **wanted))  # type: ignore[arg-type]
        try:
            yield sandbox
        finally:
            sandbox.close()


def check(function: Check) -> Check:
    """Put `function` into the suite."""
    CHECKS.append(function)
    return function


def run(sandbox: Sandbox, *argv: str, timeout: float = 60, **rest: object) -> ExecResult:
    """Run a program inside."""
    return sandbox.exec(Command(argv=argv, **rest), timeout=timeout)  # type: ignore[arg-type]


def sh(sandbox: Sandbox, script: str, timeout: float = 60, **rest: object) -> str:
    """What a shell script prints; it must succeed."""
    done = run(sandbox, "sh", "-c", script, timeout=timeout, **rest)
    assert done.exit_code == 0, f"{script}: {done.exit_code} {done.stdout.decode()} {done.stderr.decode()}"
    return done.stdout.decode()


# --- running programs ---------------------------------------------------------------------------


@check
def exit_codes_are_exact(bench: Bench) -> None:
    """A program's exit code, its death by a signal, and its absence are told as a shell would tell them."""
    with bench.sandbox() as sandbox:
        for code in (0, 1, 42, 255):
            assert run(sandbox, "sh", "-c", f"exit {code}").exit_code == code
        assert run(sandbox, "sh", "-c", "kill -KILL $$").exit_code == 137
        assert run(sandbox, "sh", "-c", "kill -TERM $$").exit_code == 143
        assert run(sandbox, "no-such-program").exit_code == 127
        assert run(sandbox, "/etc/hostname").exit_code == 126


@check
def arguments_arrive_unchanged(bench: Bench) -> None:
    """Dashes, newlines, quotes, dollars, other scripts and 100 kB long texts reach the program as they are."""
    texts = ("-n", "--", "a\nb\n", "'\"`$(id) $HOME \\", "ünï ☃ 日本", "", " ", "*", "x" * 100_000)
    with bench.sandbox() as sandbox:
        done = run(sandbox, "sh", "-c", 'for one in "$@"; do printf "%s\\0" "$one"; done', "sh", *texts)
        assert done.stdout.decode().split("\0")[:-1] == list(texts)
        assert run(sandbox, "printf", "%s", "-rf").stdout == b"-rf"


@check
def an_argument_too_long_for_linux_is_refused_with_the_reason(bench: Bench) -> None:
    """More than 128 kB in one argument is an error that names the limit, not a strange exit code."""
    with bench.sandbox() as sandbox, pytest.raises(HarnessError, match="131071 bytes at most"):
        run(sandbox, "true", "x" * 131_072)


@check
def much_input_and_output_do_not_block_each_other(bench: Bench) -> None:
    """Eight megabytes in, through both streams out, with neither side waiting for the other for ever."""
    data = os.urandom(1 << 16) * 128
    with bench.sandbox() as sandbox:
        done = run(sandbox, "sh", "-c", "tee /dev/stderr", stdin=data, timeout=60)
        assert done.stdout == data
        assert done.stderr == data


@check
def output_is_handed_on_as_it_comes(bench: Bench) -> None:
    """The first line is told while the program still runs, and streams are kept apart."""
    told: list[tuple[float, bytes]] = []
    with bench.sandbox() as sandbox:
        begun = time.monotonic()
        done = sandbox.exec(
            Command(argv=("sh", "-c", "echo one; echo error >&2; sleep 0.6; echo two")),
            timeout=30,
            on_stdout=lambda data: told.append((time.monotonic() - begun, data)),
        )
    assert b"".join(data for _, data in told) == done.stdout == b"one\ntwo\n"
    assert done.stderr == b"error\n"
    assert told[0][0] < 0.5 < told[-1][0]


@check
def a_program_that_does_not_read_its_input_ends(bench: Bench) -> None:
    """Input that nobody reads is dropped when the program ends."""
    with bench.sandbox() as sandbox:
        assert run(sandbox, "true", stdin=b"x" * (1 << 20), timeout=20).exit_code == 0
        assert run(sandbox, "cat").stdout == b""


@check
def a_time_out_kills_everything_the_command_started(bench: Bench) -> None:
    """Children, background jobs, and those that left for a session of their own are dead after a time-out."""
    detached = "(setsid nohup sh -c 'sleep 873; true' >/dev/null 2>&1 &)"
    script = f"sleep 871 & setsid sleep 872 & {detached}; trap '' TERM; while :; do sleep 874; done"
    with bench.sandbox() as sandbox:
        begun = time.monotonic()
        done = run(sandbox, "sh", "-c", script, timeout=1)
        assert done.timed_out
        assert done.exit_code is None
        assert time.monotonic() - begun < 4
        assert "sleep 87" not in sh(sandbox, "ps -eo args | grep -v grep")


@check
def a_time_out_leaves_containers_alone(bench: Bench) -> None:
    """Killing what a command started does not kill the containers that it asked the engine for."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        done = run(sandbox, "sh", "-c", "docker run -d --name kept tools:1 sleep 500; sleep 600", timeout=5)
        assert done.timed_out
        assert sh(sandbox, "docker inspect -f '{{.State.Running}}' kept") == "true\n"


@check
def what_was_said_before_a_time_out_is_kept(bench: Bench) -> None:
    """Output up to the time-out is in the result."""
    with bench.sandbox() as sandbox:
        assert run(sandbox, "sh", "-c", "echo early; sleep 60", timeout=1).stdout == b"early\n"


@check
def background_work_outlives_its_command(bench: Bench) -> None:
    """A command returns when it ends, though its background job holds its output open; the job goes on."""
    with bench.sandbox() as sandbox:
        begun = time.monotonic()
        done = run(sandbox, "sh", "-c", "(sleep 1; echo done > /tmp/late) & echo started")
        assert done.stdout == b"started\n"
        assert time.monotonic() - begun < 0.9
        assert sh(sandbox, "sleep 1.5; cat /tmp/late") == "done\n"


@check
def a_cancelled_command_returns_at_once(bench: Bench) -> None:
    """`cancel` from another thread ends a running command, which is told as cancelled; the sandbox goes on."""
    with bench.sandbox() as sandbox:
        timer = threading.Timer(0.5, sandbox.cancel)
        timer.start()
        begun = time.monotonic()
        done = run(sandbox, "sh", "-c", "setsid sleep 861 & sleep 862")
        timer.join()
        assert done.cancelled
        assert not done.timed_out
        assert time.monotonic() - begun < 3
        assert "sleep 86" not in sh(sandbox, "ps -eo args | grep -v grep")


@check
def commands_run_side_by_side(bench: Bench) -> None:
    """Several threads may run commands in one sandbox at once, each with its own streams."""
    results: dict[int, bytes] = {}
    with bench.sandbox() as sandbox:

        def one(number: int) -> None:
            results[number] = run(sandbox, "sh", "-c", f"sleep 0.2; echo {number}; cat", stdin=b"x" * 100_000).stdout

        threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - begun < 2
    assert results == {number: f"{number}\n".encode() + b"x" * 100_000 for number in range(6)}


@check
def a_command_has_a_clean_environment(bench: Bench) -> None:
    """Only the variables of a login and those asked for are set; none of the host's."""
    os.environ["SKILLEVAL_CANARY"] = "host"
    try:
        with bench.sandbox() as sandbox:
            text = run(sandbox, "env", env={"EXTRA": "1"}, env_secret={"TOKEN": "s3cret"}).stdout.decode()
    finally:
        del os.environ["SKILLEVAL_CANARY"]
    found = dict(line.split("=", 1) for line in text.splitlines())
    assert found.keys() - {"PWD", "SHLVL", "_"} == {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "EXTRA", "TOKEN"}
    assert (found["HOME"], found["USER"], found["TOKEN"]) == (sandbox.home, "agent", "s3cret")


@check
def the_agent_is_an_ordinary_user(bench: Bench) -> None:
    """User `agent` has uid 1000, is in group docker, works in the workspace, and its HOME is elsewhere."""
    with bench.sandbox() as sandbox:
        assert sh(sandbox, "id -un; id -u; id -Gn | tr ' ' '\\n' | grep -x docker; pwd; echo ~").splitlines() == [
            "agent",
            "1000",
            "docker",
            sandbox.workspace,
            "/home/agent",
        ]
        assert not sandbox.workspace.startswith(sandbox.home)
        assert sh(sandbox, "touch here ~/there && stat -c %U here ~/there") == "agent\nagent\n"
        assert sh(sandbox, "id -u", user="root") == "0\n"


@check
def a_folder_that_is_gone_is_told(bench: Bench) -> None:
    """A command in a folder that does not exist fails with 126 and says so."""
    with bench.sandbox() as sandbox:
        done = run(sandbox, "true", cwd="/no/such/place")
        assert done.exit_code == 126
        assert b"/no/such/place" in done.stderr


@check
def streams_can_be_opened_again(bench: Bench) -> None:
    """The agent may write to /dev/stdout and /dev/stderr by name, and read /dev/stdin."""
    with bench.sandbox() as sandbox:
        done = run(sandbox, "sh", "-c", "cat /dev/stdin > /dev/stdout; echo e > /dev/stderr", stdin=b"in")
        assert (done.exit_code, done.stdout, done.stderr) == (0, b"in", b"e\n")


# --- files --------------------------------------------------------------------------------------


@check
def files_go_in_and_come_out(bench: Bench) -> None:
    """What `put` unpacks belongs to the user asked for, and `get` gives the same bytes back."""
    data = os.urandom(300_000)
    with bench.sandbox() as sandbox:
        sandbox.put(world.files(sub__blob=data, note=b"n"), into=f"{sandbox.workspace}/new/folder")
        assert (
            sh(sandbox, "stat -c '%U %n' new new/folder new/folder/sub/blob") == "agent new\nagent new/folder\nagent new/folder/sub/blob\n"
        )
        sandbox.put(world.files(tool=b"t"), into="/opt/tools", user="root")
        assert sh(sandbox, "stat -c %U /opt/tools/tool") == "root\n"
        with tarfile.open(fileobj=io.BytesIO(sandbox.get(f"{sandbox.workspace}/new"))) as packed:
            file = packed.extractfile("new/folder/sub/blob")
            assert file is not None
            assert file.read() == data


@check
def a_file_that_is_not_there_is_an_error(bench: Bench) -> None:
    """`get` of nothing, and `put` where the user may not write, are sandbox errors that name the path."""
    with bench.sandbox() as sandbox:
        with pytest.raises(NothingThere, match="/no/such/file"):
            sandbox.get("/no/such/file")
        with pytest.raises(SandboxError, match="/etc"):
            sandbox.put(world.files(x=b""), into="/etc")


@check
def host_folders_are_shown_read_only(bench: Bench) -> None:
    """A folder bound from the host can be read and run from, not written, whatever the rights inside."""
    tool = bench.canaries / "tools"
    (tool / "bin").mkdir(parents=True, exist_ok=True)
    (tool / "bin/hello").write_text("#!/bin/sh\necho hello\n")
    for path in (tool, tool / "bin", tool / "bin/hello"):
        path.chmod(0o755)
    with bench.sandbox(read_only={tool: "/opt/hello"}) as sandbox:
        assert run(sandbox, "/opt/hello/bin/hello").stdout == b"hello\n"
        assert run(sandbox, "sh", "-c", "echo x >> /opt/hello/bin/hello; rm -rf /opt/hello/bin", user="root").exit_code != 0
        assert str(bench.canaries) not in sh(sandbox, "cat /proc/self/mountinfo /proc/mounts")
    assert (tool / "bin/hello").read_text() == "#!/bin/sh\necho hello\n"


# --- Docker inside ------------------------------------------------------------------------------


@check
def the_engine_works_for_the_agent(bench: Bench) -> None:
    """The agent can run, limit, stop and remove containers and build images, with no setting at all."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        limits = "-m 64m --cpus 0.5 --pids-limit 50" if "pids" in sandbox.describe()["limits"] else ""
        assert sh(sandbox, f"docker run --rm {limits} tools:1 echo hello") == "hello\n"
        sandbox.put(world.files(Dockerfile=b"FROM tools:1\nRUN echo built > /made\n"), into=sandbox.workspace)
        # By its log: what an attached container prints before it ends at once, an engine may lose on its own.
        sh(sandbox, "docker build -q -t made:1 . && docker run --name built made:1 cat /made && docker wait built")
        assert sh(sandbox, "docker logs built; docker rm built >/dev/null") == "built\n"
        assert sh(sandbox, "docker run -d --name job tools:1 sleep 100 >/dev/null; docker rm -f job; docker ps -aq") == "job\n"
        assert sh(sandbox, "docker run --rm -v $PWD:/work tools:1 cat /work/Dockerfile").startswith("FROM")


@check
def published_ports_are_reachable_on_localhost(bench: Bench) -> None:
    """A port that a container publishes answers on localhost inside the sandbox, and nowhere on the host."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d -p 18457:80 tools:1 sh -c 'echo hi > /index.html; exec httpd -f -p 80 -h /' >/dev/null")
        assert (
            sh(sandbox, "for i in 1 2 3 4 5; do curl -s --retry-connrefused --retry 5 localhost:18457 && break; sleep 0.2; done") == "hi\n"
        )
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", 18457), 2):
            raise AssertionError("the container's port is open on the host")


@check
def compose_services_find_each_other_by_name(bench: Bench) -> None:
    """`docker compose up` starts services that reach each other by their names."""
    text = b"""
services:
  web:
    image: tools:1
    init: true
    command: sh -c "echo page > /index.html; exec httpd -f -p 80 -h /"
  probe:
    image: tools:1
    init: true
    command: sh -c "for i in 1 2 3 4 5 6 7 8 9; do wget -q -O - http://web/ && exit 0; sleep 0.3; done; exit 1"
    depends_on: [web]
"""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sandbox.put(world.files(compose_dot_yaml=text), into=f"{sandbox.workspace}/shop")
        sh(sandbox, "docker compose up -d 2>/dev/null && docker wait shop-probe-1", cwd=f"{sandbox.workspace}/shop")
        assert sh(sandbox, "docker logs shop-probe-1") == "page\n"


# --- isolation ----------------------------------------------------------------------------------


@check
def nothing_inside_reaches_out(bench: Bench) -> None:
    """Neither the agent, nor its root, nor a container reaches any address outside, or the host's own ports."""
    with socket.create_server(("0.0.0.0", 0)) as server, bench.sandbox() as sandbox:
        port = server.getsockname()[1]
        world.load(sandbox)
        for address in ("127.0.0.1", "172.17.0.1", "1.1.1.1", socket.gethostbyname(socket.gethostname())):
            done = run(sandbox, "curl", "-s", "-m", "2", f"http://{address}:{port}/", user="root", timeout=10)
            assert done.exit_code in (7, 28), f"{address}: {done.exit_code}"
        assert (
            run(sandbox, "docker", "run", "--rm", "tools:1", "wget", "-T", "2", "-q", f"http://1.1.1.1:{port}/", timeout=15).exit_code == 1
        )
        assert (
            run(sandbox, "docker", "run", "--rm", "--network", "host", "tools:1", "nc", "-w", "2", "1.1.1.1", "80", timeout=15).exit_code
            == 1
        )
        server.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            server.accept()
            raise AssertionError("something inside connected to the host")


@check
def a_port_can_lead_out_on_purpose(bench: Bench) -> None:
    """`listen` makes a port inside lead to one server outside, fast and for many connections at once."""

    class Hello(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server, bench.sandbox() as sandbox:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sandbox.listen(8765, ("127.0.0.1", server.server_port))
        one = "curl -s --data-binary @/tmp/big http://127.0.0.1:8765/ | cmp - /tmp/big"
        sh(sandbox, f"head -c 3000000 /dev/urandom > /tmp/big; {one}")
        sh(sandbox, f"for i in 1 2 3 4 5 6 7 8; do ({one} || touch /tmp/bad) & done; wait; test ! -e /tmp/bad")
        begun = time.monotonic()
        sh(sandbox, "curl -s -d x 'http://127.0.0.1:8765/[1-100]' > /dev/null")
        assert time.monotonic() - begun < 2
        server.shutdown()


@check
def a_unix_socket_outside_can_be_led_to(bench: Bench) -> None:
    """`listen` takes the path of a unix socket, and a server that is away is an error, not a hang."""
    path = str(bench.canaries / "s")
    with socket.socket(socket.AF_UNIX) as server, bench.sandbox() as sandbox:
        server.bind(path)
        server.listen()
        sandbox.listen(8766, path)

        def answer() -> None:
            near, _ = server.accept()
            with near:
                near.recv(1000)
                near.sendall(b"HTTP/1.0 200 OK\r\n\r\nfrom outside")

        threading.Thread(target=answer, daemon=True).start()
        assert sh(sandbox, "curl -s http://127.0.0.1:8766/") == "from outside"
        server.close()
        assert run(sandbox, "curl", "-s", "-m", "5", "http://127.0.0.1:8766/").exit_code in (52, 56)


@check
def containers_with_every_right_cannot_harm_the_host(bench: Bench) -> None:
    """`docker run --privileged -v /:/host` and `rm -rf` of all it sees leave the host's files as they were."""
    canary = bench.canaries / "keep.txt"
    canary.write_text("here")
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        script = "rm -rf /host/* /host/.[a-z]* 2>/dev/null; find /host -name keep.txt 2>/dev/null; ls /host/dev; true"
        told = sh(sandbox, f'docker run --rm --privileged --pid host --network host -v /:/host tools:1 sh -c "{script}"')
        assert "keep.txt" not in told
    assert canary.read_text() == "here"
    assert Path("/etc/passwd").exists()
    assert Path("/usr/bin/env").exists()


@check
def deleting_everything_inside_leaves_the_host_alone(bench: Bench) -> None:
    """`rm -rf --no-preserve-root /` as root inside deletes the sandbox only; the engine still tells its state."""
    canary = bench.canaries / "keep.txt"
    canary.write_text("here")
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d --name up tools:1 sleep 500")
        run(sandbox, "rm", "-rf", "--no-preserve-root", "/", user="root", timeout=120)
        assert run(sandbox, "ls", cwd="/").exit_code == 127
        assert [one.name for one in sandbox.state().containers] == ["up"]
    assert canary.read_text() == "here"
    with bench.sandbox() as again:
        assert sh(again, "ls /usr/bin/env") == "/usr/bin/env\n"


@check
def the_hosts_files_cannot_be_read(bench: Bench) -> None:
    """The host's users, secrets, home folders, temporary files and the project itself are not to be found inside."""
    secret = f"canary-{os.urandom(8).hex()}"
    (bench.canaries / "secret.txt").write_text(secret)
    project = Path(__file__).resolve().parents[2]
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        for path in (bench.canaries, project, Path.home() / ".cache"):
            assert run(sandbox, "ls", str(path), user="root").exit_code == 2
        mine = sh(sandbox, "cat /etc/shadow /etc/passwd 2>/dev/null; true", user="root")
        hosts = [line for line in Path("/etc/shadow").read_text().splitlines() if line.split(":")[1] not in ("*", "!", "!*", "")]
        assert not [line for line in hosts if line in mine]
        ways = "grep -rs canary- / --include=secret.txt; ls -d /proc/[0-9]*/cwd/secret.txt"
        assert secret not in run(sandbox, "sh", "-c", ways, user="root", timeout=120).stdout.decode()
        told = sh(sandbox, 'docker run --rm --privileged -v /:/host tools:1 sh -c "find /host -name secret.txt; mount"')
        assert "secret.txt" not in told
        assert str(bench.canaries) not in told


@check
def the_hosts_disks_and_kernel_settings_are_out_of_reach(bench: Bench) -> None:
    """Root inside, and a privileged container, can neither read a raw disk nor change a setting of the host's kernel."""
    before = Path("/proc/sys/vm/swappiness").read_text()
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        for number in (Path("/proc/partitions").read_text().split()[4:6],):
            major, minor = number
            assert run(sandbox, "sh", "-c", f"mknod /tmp/disk b {major} {minor} && head -c 1 /tmp/disk", user="root").exit_code != 0
        change = "echo 1 > /proc/sys/vm/swappiness; echo b > /proc/sysrq-trigger"
        assert run(sandbox, "sh", "-c", change, user="root").exit_code != 0
        run(sandbox, "docker", "run", "--rm", "--privileged", "tools:1", "sh", "-c", change)
        assert run(sandbox, "mount", "-t", "ext4", "/dev/vda", "/mnt", user="root").exit_code != 0
    assert Path("/proc/sys/vm/swappiness").read_text() == before


@check
def the_hosts_engine_cannot_be_reached(bench: Bench) -> None:
    """No socket of a Docker Engine but its own is to be found inside."""
    with bench.sandbox() as sandbox:
        own = sh(sandbox, "docker info -f '{{.ID}}'")
        with bench.sandbox("two") as other:
            assert sh(other, "docker info -f '{{.ID}}'") != own
        found = sh(sandbox, "find / -xdev -type s 2>/dev/null; find /run /var/run/ -type s", user="root").split()
        assert set(found) <= {
            "/run/docker.sock",
            "/var/run/docker.sock",
            "/run/containerd/containerd.sock",
            "/run/containerd/containerd.sock.ttrpc",
            "/var/run/containerd/containerd.sock",
            "/var/run/containerd/containerd.sock.ttrpc",
            "/run/docker/metrics.sock",
            "/var/run/docker/metrics.sock",
        } | {path for path in found if "/docker/libnetwork/" in path}


@check
def two_sandboxes_do_not_see_each_other(bench: Bench) -> None:
    """Files, processes, containers, ports and shared memory of one sandbox are not there in another."""
    with bench.sandbox("one") as one, bench.sandbox("two") as two:
        world.load(one)
        sh(
            one,
            "docker run -d --name mine -p 9123:80 tools:1 sleep 700; touch /tmp/mine /dev/shm/mine; (setsid sleep 733 &) >/dev/null 2>&1",
        )
        assert sh(two, "docker ps -aq; docker images -q; ls /tmp /dev/shm").strip() in ("/dev/shm:\n\n/tmp:", "")
        assert "sleep 7" not in sh(two, "ps -eo args | grep -v grep")
        assert run(two, "curl", "-s", "-m", "2", "localhost:9123").exit_code == 7
        assert sh(one, "docker ps -q | wc -l") == "1\n"


@check
def processes_inside_cannot_reach_those_outside(bench: Bench) -> None:
    """Root inside sees only the sandbox's processes and can kill none of the host's."""
    with bench.sandbox() as sandbox:
        seen = [int(pid) for pid in sh(sandbox, "ps -eo pid=", user="root").split()]
        assert len(seen) < 40
        assert run(sandbox, "kill", "-9", str(os.getpid()), user="root").exit_code != 0 or os.getpid() in seen


@check
def killing_things_inside_does_not_end_the_sandbox(bench: Bench) -> None:
    """An agent that kills whatever it sees loses its processes, and a killed engine comes back as on any machine."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d --name job tools:1 sleep 500; docker volume create kept")
        run(sandbox, "sh", "-c", "pkill -9 sleep; kill -9 1; kill -9 -1", user="root")
        wait = "for i in $(seq 50); do docker version >/dev/null 2>&1 && exit 0; sleep 0.2; done; exit 1"
        assert run(sandbox, "sh", "-c", wait).exit_code == 0
        state = sandbox.state()
        assert [(one.name, one.state) for one in state.containers] == [("job", "exited")]
        assert [one.name for one in state.volumes] == ["kept"]
        sandbox.mark()
        sh(sandbox, "docker rm job")
        assert [one.action for one in sandbox.events() if one.type == "container"] == ["destroy"]


@check
def orphans_are_buried(bench: Bench) -> None:
    """Processes whose parents are gone do not pile up as zombies."""
    with bench.sandbox() as sandbox:
        sh(sandbox, "for i in 1 2 3 4 5; do (sh -c 'sleep 0.1 & exec true' &) ; done; sleep 0.5")
        assert "Z" not in sh(sandbox, "ps -eo stat=")


@check
def a_full_disk_inside_does_not_fill_the_hosts(bench: Bench) -> None:
    """What a sandbox may write is bounded; beyond it, writing fails inside."""
    with bench.sandbox(disk=64 << 20) as sandbox:
        if "disk" not in sandbox.describe()["limits"]:
            return
        done = run(sandbox, "sh", "-c", "head -c 200000000 /dev/zero > big; stat -c %s big; rm big; echo fine > small")
        assert done.exit_code == 0
        assert int(done.stdout) < 64 << 20


@check
def a_runaway_program_is_bounded(bench: Bench) -> None:
    """More processes than allowed are refused inside, and the sandbox can still be used and closed."""
    with bench.sandbox(pids=200) as sandbox:
        if "pids" not in sandbox.describe()["limits"]:
            return
        run(sandbox, "sh", "-c", "f() { f | f & }; f; sleep 1", timeout=3)
        sandbox.cancel()
        assert sh(sandbox, "echo alive") == "alive\n"


# --- state, events, life ------------------------------------------------------------------------


@check
def state_tells_what_the_engine_holds(bench: Bench) -> None:
    """A snapshot holds containers with state, exit code, volumes and networks; images with tags; volumes with content."""
    with bench.sandbox() as sandbox:
        world.make(sandbox)
        state = sandbox.state()
    assert {one.name: (one.state, one.exit_code) for one in state.containers} == {
        "shop-db-1": ("running", None),
        "shop-web-1": ("running", None),
        "stubborn": ("running", None),
        "report-monday": ("exited", 0),
        "import-failed": ("exited", 3),
        "scratchpad": ("exited", 0),
        "standby": ("created", None),
    }
    web = next(one for one in state.containers if one.name == "shop-web-1")
    assert (web.restart_policy, web.networks, web.image) == ("unless-stopped", ("shop_default",), "shop-web:1.4")
    assert sorted(tag for one in state.images for tag in one.tags) == ["shop-db:15", "shop-web:1.4", "tools:1", "worker:7"]
    assert sum(one.dangling for one in state.images) == 3
    assert sorted(one.name for one in state.volumes if not one.anonymous) == ["backup_2023", "cache", "shop_pgdata"]
    assert len(state.volumes) == 4
    assert [one.name for one in state.networks if not one.builtin] == ["shop_default"]
    db = next(one for one in state.containers if one.name == "shop-db-1")
    assert (db.mounts, db.binds) == (("shop_pgdata",), ())
    assert [(one.name, one.volumes, one.networks) for one in state.compose_projects] == [("shop", ("shop_pgdata",), ("shop_default",))]


@check
def bind_mounts_are_told(bench: Bench) -> None:
    """Where they come from, where they go, and whether they can be written."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker create --name web -v /srv:/www:ro -v data:/data tools:1 true")
        (web,) = sandbox.state().containers
    assert (web.binds, web.mounts) == (("/srv:/www:ro",), ("data",))


@check
def equal_states_are_equal_and_content_tells(bench: Bench) -> None:
    """Two looks at an untouched engine are equal; a changed byte in a small volume shows."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        write = "docker run --rm -v data:/d tools:1 sh -c 'echo %s > /d/f'"
        sh(sandbox, write % "one")
        first, second = sandbox.state(), sandbox.state()
        assert dataclasses_like(first) == dataclasses_like(second)
        sh(sandbox, write % "two")
        assert sandbox.state().volumes[0].content != first.volumes[0].content


def dataclasses_like(state: object) -> object:
    """A snapshot without the moment it was taken."""
    import msgspec

    return msgspec.structs.replace(state, taken_at="")  # type: ignore[type-var]


@check
def events_tell_what_was_repaired_too(bench: Bench) -> None:
    """Removing and making again leaves equal names behind but is in the events, after `mark`, in order, by the clock."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker volume create data")
        sandbox.mark()
        sh(sandbox, "docker volume rm data; docker volume create data; docker exec none true || true")
        events = sandbox.events()
    assert [(one.type, one.action, one.name) for one in events] == [("volume", "destroy", "data"), ("volume", "create", "data")]
    assert 0 < events[0].at <= events[1].at < 30


@check
def events_are_heeded_as_they_come(bench: Bench) -> None:
    """Also those of a command that still runs; none before it was asked for, and none afterwards."""
    with bench.sandbox() as sandbox:
        sh(sandbox, "docker volume create before")
        sandbox.mark()
        heard: list[str] = []
        arrived = threading.Event()

        def hear(event: EngineEvent) -> None:
            heard.append(f"{event.action} {event.name}")
            arrived.set()

        sandbox.heed(hear)
        busy = threading.Thread(target=sh, args=(sandbox, "docker volume create data; sleep 2"))
        busy.start()
        in_time = arrived.wait(1.9)
        sandbox.heed(None)
        busy.join()
        sh(sandbox, "docker volume rm data")
        assert sandbox.events()
    assert in_time
    assert heard == ["create data"]


@check
def no_event_is_lost(bench: Bench) -> None:
    """More events than the engine remembers are all there."""
    with bench.sandbox() as sandbox:
        sandbox.mark()
        sh(sandbox, "seq 400 | xargs -P 4 -n 40 sh -c 'for n; do docker volume create v$n; done' sh >/dev/null", timeout=120)
        created = [one.name for one in sandbox.events() if (one.type, one.action) == ("volume", "create")]
    assert sorted(created) == sorted(f"v{number}" for number in range(1, 401))


@check
def a_closed_sandbox_is_gone(bench: Bench) -> None:
    """Closing twice is fine; whatever is asked afterwards is a sandbox error."""
    with bench.sandbox() as sandbox:
        sandbox.close()
        for call in (lambda: run(sandbox, "true"), sandbox.state, lambda: sandbox.get("/etc/passwd")):
            with pytest.raises(SandboxError):
                call()


@check
def closing_is_quick_whatever_runs_inside(bench: Bench) -> None:
    """Containers that ignore SIGTERM and commands under way do not hold up the end."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d tools:1 sh -c 'trap \"\" TERM; while :; do sleep 1; done'")
        ended: list[object] = []

        def hang() -> None:
            try:
                ended.append(run(sandbox, "sleep", "500", timeout=600))
            except SandboxError as error:
                ended.append(error)

        thread = threading.Thread(target=hang)
        thread.start()
        time.sleep(0.2)
        begun = time.monotonic()
        sandbox.close()
        thread.join(10)
        assert time.monotonic() - begun < 2
    assert ended
    assert isinstance(ended[0], SandboxError)


@check
def paused_containers_end_with_the_sandbox(bench: Bench) -> None:
    """A frozen process does not die of SIGKILL everywhere; it is gone all the same, and at once."""
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d --name still tools:1 sleep 500 >/dev/null && docker pause still")
        begun = time.monotonic()
        sandbox.close()
        assert time.monotonic() - begun < 5


@check
def paused_containers_stay_paused_and_hold_up_nothing(bench: Bench) -> None:
    """A paused container is told as paused, comes back paused from a kept state, and does not hold up the end."""
    key = f"conformance-{os.urandom(4).hex()}"
    with bench.sandbox() as sandbox:
        world.load(sandbox)
        sh(sandbox, "docker run -d --name held --restart always tools:1 sleep 900; docker pause held")
        assert [(one.name, one.state) for one in sandbox.state().containers] == [("held", "paused")]
        if bench.backend.can_restore:
            sandbox.save(key, age_days=2)
        begun = time.monotonic()
        sandbox.close()
        assert time.monotonic() - begun < 2
    if bench.backend.can_restore:
        with bench.sandbox("two", restore=key) as again:
            assert [(one.name, one.state, one.restart_policy) for one in again.state().containers] == [("held", "paused", "always")]
            begun = time.monotonic()
            again.close()
            assert time.monotonic() - begun < 2


@check
def the_sandbox_tells_what_it_is(bench: Bench) -> None:
    """`describe` names backend, engine version, storage, image store, control groups and limits."""
    with bench.sandbox() as sandbox:
        facts = sandbox.describe()
    assert facts["backend"] == bench.backend.name
    assert {"engine", "storage", "image store", "cgroups", "limits"} <= facts.keys()
    assert all(isinstance(value, str) for value in facts.values())


@check
def a_kept_state_comes_back_as_it_was(bench: Bench) -> None:
    """After save and restore the same things are there, what ran runs, and all looks as old as asked for."""
    if not bench.backend.can_restore:
        return
    key = f"conformance-{os.urandom(4).hex()}"
    sandbox = bench.backend.open(SandboxRequest(name="one"))
    try:
        world.make(sandbox)
        sandbox.put(world.files(notes_dot_txt=b"mine"), into=f"{sandbox.home}/docs")
        before = sandbox.state()
        begun = time.monotonic()
        sandbox.save(key, age_days=23)
        assert time.monotonic() - begun < 5
    finally:
        sandbox.close()
    assert bench.backend.has(key)
    assert not bench.backend.has(key + "x")
    with bench.sandbox("two", restore=key) as again:
        after = again.state()
        assert sh(again, "cat ~/docs/notes.txt; stat -c %U ~/docs/notes.txt") == "mineagent\n"
        assert sh(again, "curl -s --retry 5 --retry-connrefused localhost:8080") == "welcome\n"
        assert (
            sh(again, "docker exec shop-web-1 ping -c 1 db >/dev/null && docker run --rm -v shop_pgdata:/d tools:1 cat /d/table")
            == "rows\n"
        )
        ages = sh(again, "docker ps -a --format '{{.RunningFor}} {{.Names}}'").splitlines()
        assert ages
        assert all(line.startswith("3 weeks ago") for line in ages)
        assert sh(again, "docker inspect -f '{{.Created}}' shop_default")[:10] < before.taken_at[:10]
        assert time.time() - int(sh(again, "stat -c %Y ~/docs/notes.txt /tmp | head -1")) > 22 * 86400
    facts = [(one.id, one.name, one.state, one.exit_code, one.mounts, one.restart_policy) for one in before.containers]
    assert [(one.id, one.name, one.state, one.exit_code, one.mounts, one.restart_policy) for one in after.containers] == facts
    assert [(one.id, one.tags) for one in after.images] == [(one.id, one.tags) for one in before.images]
    assert [(one.name, one.labels, one.content) for one in after.volumes] == [(one.name, one.labels, one.content) for one in before.volumes]
