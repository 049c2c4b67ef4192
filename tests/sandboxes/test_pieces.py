"""The small parts of the engine backend that work without an engine."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core.errors import SandboxError
from pytest_skilleval.sandboxes import backend
from pytest_skilleval.sandboxes.engine import host_root, reap, tree, volumes
from pytest_skilleval.sandboxes.engine.forward import Forward
from pytest_skilleval.sandboxes.engine.prepared import Store
from pytest_skilleval.sandboxes.engine.wire import Account, Program, Programs, Setup

TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=30)


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether `holds` becomes true in time."""
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return held


def test_an_unknown_backend_is_named() -> None:
    """A wrong name is an error that lists the right ones."""
    with pytest.raises(ValueError, match=r"'chroot'.*engine"):
        backend("chroot")


def test_nothing_heavy_is_imported_for_the_registry() -> None:
    """Importing the package loads neither the Docker SDK nor requests, and a supervisor needs the standard library only."""
    code = "import sys, pytest_skilleval.sandboxes as s; print(sorted({'docker', 'requests', 'msgspec'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    root = Path(tree.__file__).parents[3]
    alone = f"import sys; sys.path.append({str(root)!r}); import pytest_skilleval.sandboxes.engine.supervisor"
    subprocess.run([sys.executable, "-I", "-S", "-c", alone], check=True)


@given(st.lists(TEXTS, min_size=1).map(tuple), st.dictionaries(TEXTS, TEXTS), TEXTS)
def test_a_program_crosses_the_wire_unchanged(argv: tuple[str, ...], env: dict[str, str], cwd: str) -> None:
    """Arguments, variables and folder arrive as they were sent, whatever characters they hold."""
    program = Program(argv, env, cwd, Account(1000, 1000, (1000, 101), "/home/agent"))
    descriptor = program.dump()
    try:
        arrived = Program.load(descriptor)
    finally:
        os.close(descriptor)
    assert (arrived.argv, arrived.env, arrived.cwd, arrived.account.uid) == (argv, env, cwd, 1000)


def test_a_setup_crosses_the_wire_unchanged() -> None:
    """What a supervisor is told is what the backend said."""
    setup = Setup(
        id="x",
        folder="/f",
        scratch="/s",
        tree="/t",
        size=None,
        hostname="devbox",
        owner=1,
        ids=2,
        docker_gid=3,
        tar="/bin/tar",
        control=7,
        masks=("/m",),
        read_only=(("/a", "/b"),),
        limits={"pids": 5, "memory": None},
        programs=Programs(),
        cgroups=(("/c", 2, ("cpu",)),),
    )
    assert Setup.load(setup.dump()) == setup


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("http://mirror.example/debian/\nhttp://mirror.example/debian-security/\n", "http://mirror.example/debian"),
        ("https://cache.example/a/b/debian\n", "https://cache.example/a/b/debian"),
        ("http://archive.ubuntu.com/ubuntu/\nhttp://security.ubuntu.com/ubuntu/\n", tree.FALLBACK_MIRROR),
        ("https://deb.nodesource.com/node_20.x/\n", tree.FALLBACK_MIRROR),
        ("", tree.FALLBACK_MIRROR),
    ],
)
def test_the_mirror_is_the_hosts_own(listing: str, expected: str) -> None:
    """A host that gets Debian's packages from a mirror builds from it; any other host uses Debian's own."""
    assert tree.mirror(listing) == expected


@pytest.fixture
def quick_build(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Builds that make a tiny root at once; what is built is noted in the list."""
    built: list[str] = []

    def bootstrap(root: Path, _: object) -> None:
        built.append(root.parent.name)
        root.mkdir()
        (root / "file").write_text("x")

    record = {"accounts": {"root": {"uid": 0, "gid": 0, "groups": [0], "home": "/root", "shell": "/bin/sh"}}, "docker_gid": 9, "facts": {}}
    monkeypatch.setattr(tree, "_bootstrap", bootstrap)
    monkeypatch.setattr(tree, "_furnish", lambda _: record)
    monkeypatch.setattr(tree, "shift_owners", lambda _: None)
    return built


def test_a_tree_is_built_once(tmp_path: Path, quick_build: list[str]) -> None:
    """Several who want the tree at the same time get the same one, built by one of them."""
    found: list[tree.Tree] = []
    threads = [threading.Thread(target=lambda: found.append(tree.build(tmp_path, lambda _: None))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(quick_build) == 1
    assert {one.path for one in found} == {tmp_path / "trees" / tree.recipe() / "root"}
    assert tree.find(tmp_path) == found[0]


def test_a_build_killed_midway_is_begun_anew(tmp_path: Path, quick_build: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed build left is never taken for a tree, and does not stand in the way of the next."""

    def die(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tree, "_furnish", die)
        with pytest.raises(KeyboardInterrupt):
            tree.build(tmp_path, lambda _: None)
    assert tree.find(tmp_path) is None
    assert tree.build(tmp_path, lambda _: None).docker_gid == 9
    assert len(quick_build) == 2
    assert not list((tmp_path / "trees").glob("*.part"))


@pytest.mark.engine
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces")
def test_a_killed_builder_takes_its_programs_along() -> None:
    """When the session is killed during a build, no program of the build goes on writing."""
    seconds = f"{300 + os.getpid() / 1e7:.7f}"
    words = f"contained(['sleep', '{seconds}'])"
    run = f"import subprocess; from pytest_skilleval.sandboxes.engine.tree import contained; subprocess.run({words})"
    wanted = f"sleep\0{seconds}\0".encode()

    def asleep() -> bool:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if path.read_bytes() == wanted:
                    return True
        return False

    with subprocess.Popen([sys.executable, "-c", run]) as session:
        begun = within(10, asleep)
        session.kill()
    assert begun
    assert within(2, lambda: not asleep())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owners_are_shifted_and_modes_kept(tmp_path: Path) -> None:
    """Every file, link and folder belongs to the shifted user; set-user-id and sticky bits stay; doing it twice does nothing."""
    (tmp_path / "su").write_text("")
    (tmp_path / "su").chmod(0o4755)
    (tmp_path / "shared").mkdir(mode=0o1777)
    (tmp_path / "shared").chmod(0o1777)
    os.chown(tmp_path / "shared", 7, 8)
    (tmp_path / "link").symlink_to("nowhere")
    os.link(tmp_path / "su", tmp_path / "same")
    for _ in range(2):
        tree.shift_owners(tmp_path)
    facts = {path.name: (path.lstat().st_uid, path.lstat().st_gid, path.lstat().st_mode & 0o7777) for path in tmp_path.iterdir()}
    first = tree.FIRST_ID
    assert facts["su"] == facts["same"] == (first, first, 0o4755)
    assert facts["shared"] == (first + 7, first + 8, 0o1777)
    assert facts["link"][:2] == (first, first)


def test_old_engines_are_told_apart() -> None:
    """An engine below 26 prunes more volumes, which is said; newer ones need no word."""
    assert "20.10.24" in host_root.old_engine("20.10.24+dfsg1")[0]
    assert host_root.old_engine("26.1.5+dfsg1") == ()
    assert host_root.old_engine("unknown") == ()


def test_the_dead_are_reaped_and_the_living_spared(tmp_path: Path) -> None:
    """A folder whose lock is free is removed, its disk folder too; one that is locked stays; strangers' files stay."""
    state, scratch = tmp_path / "state", tmp_path / "scratch"
    _, living, lock = reap.claim(state)
    name, dead, dead_lock = reap.claim(state)
    (scratch / name).mkdir(parents=True)
    (state / "stranger").mkdir()
    os.close(dead_lock)
    try:
        assert reap.reap(state, (), scratch) == (name,)
        assert living.exists()
        assert (state / "stranger").exists()
        assert not dead.exists()
        assert not (scratch / name).exists()
        assert reap.reap(state, (), scratch) == ()
    finally:
        os.close(lock)


def test_a_state_is_found_by_its_key_only(tmp_path: Path) -> None:
    """What is kept under a key comes back under it; similar keys, however odd, are others; nothing half-written is left."""
    store = Store(tmp_path / "prepared")
    keys = ["a/b", "a-b", "a b", "x" * 500, "Ünï"]
    for number, key in enumerate(keys):
        store.keep(key, b"data%d" % number, ["c1", "c2"], ["c2"])
    for number, key in enumerate(keys):
        kept = store.require(key)
        assert kept.archive.read_bytes() == b"data%d" % number
        assert (kept.running, kept.paused) == (("c1", "c2"), ("c2",))
    assert store.find("a_b") is None
    with pytest.raises(SandboxError, match="a_b"):
        store.require("a_b")
    assert not list(store.folder.glob("*.part"))


def test_a_state_not_used_for_a_month_is_forgotten(tmp_path: Path) -> None:
    """Keeping a state removes those that nobody has asked for in thirty days; asking counts as use."""
    store = Store(tmp_path)
    for key in ("used", "unused"):
        store.keep(key, b"", [], [])
    for path in tmp_path.glob("*.tar"):
        os.utime(path, (0, 0))
    assert store.find("used")
    store.keep("new", b"", [], [])
    assert [bool(store.find(key)) for key in ("used", "unused", "new")] == [True, False, True]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_tree_not_used_for_a_month_is_forgotten(tmp_path: Path, quick_build: list[str]) -> None:
    """Building a tree removes those of other recipes that are no longer used, with the states prepared on them."""
    for name in ("old", "recent"):
        (tmp_path / "trees" / name).mkdir(parents=True)
        (tmp_path / "trees" / name / "tree.json").write_text("{}")
        (tmp_path / "prepared" / name).mkdir(parents=True)
    os.utime(tmp_path / "trees/old/tree.json", (0, 0))
    tree.build(tmp_path, lambda _: None)
    assert quick_build
    assert sorted(path.name for path in (tmp_path / "prepared").iterdir()) == ["recent"]
    assert not (tmp_path / "trees/old").exists()


def hashed(folder: Path) -> str:
    """The hash of a folder by path."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return volumes.hash_folder(descriptor)
    finally:
        os.close(descriptor)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), st.binary(max_size=50), max_size=6), st.randoms())
def test_the_hash_depends_on_content_alone(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], random: object) -> None:
    """The same files made in another order hash the same; any changed byte, name or kind hashes otherwise."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    names = list(files)
    random.shuffle(names)  # type: ignore[attr-defined]
    for folder, order in ((one, list(files)), (two, names)):
        for name in order:
            (folder / name).write_bytes(files[name])
    assert hashed(one) == hashed(two)
    (two / "more").write_bytes(b"")
    assert hashed(one) != hashed(two)


def test_odd_files_do_not_lead_or_hold_the_reader(tmp_path: Path) -> None:
    """Links are not followed, pipes are not opened, and folders are part of the hash."""
    (tmp_path / "v").mkdir()
    (tmp_path / "secret").write_text("one")
    (tmp_path / "v/link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "v/pipe")
    before = hashed(tmp_path / "v")
    (tmp_path / "secret").write_text("two")
    assert hashed(tmp_path / "v") == before
    (tmp_path / "v/folder").mkdir()
    assert hashed(tmp_path / "v") != before


@pytest.mark.parametrize("content", [{"big": b"x" * (volumes.MAX_BYTES + 1)}, {f"f{n}": b"" for n in range(volumes.MAX_FILES + 1)}])
def test_large_volumes_have_no_hash(tmp_path: Path, content: dict[str, bytes]) -> None:
    """Too many bytes or files: no hash, so that a snapshot stays quick."""
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(volumes.TooLarge):
        hashed(tmp_path)


def test_a_volume_that_is_not_there_has_no_hash() -> None:
    """A volume that has just gone, or another driver's, is no error."""
    assert volumes.fingerprint(os.getpid(), "no-such-volume") is None


@pytest.fixture
def echo() -> Iterator[tuple[str, int]]:
    """A server that sends back what it gets, and ends when its client has."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    near, _ = server.accept()
                except OSError:
                    return
                with near:
                    while data := near.recv(65536):
                        near.sendall(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_a_forward_passes_bytes_and_ends(echo: tuple[str, int]) -> None:
    """All bytes come back, and the end of one side's sending is passed on while the other still answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    forward = Forward(listener, echo)
    try:
        with socket.create_connection(listener.getsockname(), 5) as client:
            data = os.urandom(200_000)

            def send() -> None:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)

            sender = threading.Thread(target=send)
            sender.start()
            got = b""
            while part := client.recv(65536):
                got += part
            sender.join()
        assert got == data
    finally:
        forward.close()


def test_a_closed_forward_cuts_and_refuses(echo: tuple[str, int]) -> None:
    """Closing ends open connections and takes no new ones."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    forward = Forward(listener, echo)
    with socket.create_connection(address, 5) as client:
        client.sendall(b"x")
        assert client.recv(1) == b"x"
        forward.close()
        assert client.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, 5)


def test_a_target_that_is_away_ends_the_connection() -> None:
    """Nobody listens outside: the client inside sees its connection end at once."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        listener = socket.create_server(("127.0.0.1", 0))
        forward = Forward(listener, unused.getsockname())
        try:
            with socket.create_connection(listener.getsockname(), 5) as client:
                assert client.recv(1) == b""
        finally:
            forward.close()
