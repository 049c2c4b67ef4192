"""The helper that seeds use, and the interface by which the runner calls a seed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval import seeding
from pytest_skilleval.core.errors import SeedError
from pytest_skilleval.seeding import seedkit

RECIPE = """
# two of one kind
image shop/web:1.4 shop/web:latest
  created 2025-05-06T14:12:33Z
  file /etc/release 1.4
  pad /srv/bundle 3k
  env MODE=production
  cmd /usr/sbin/webd --port 8080
  port 8080/tcp
  volume /data
  label part=web
  step COPY dist/ /srv # buildkit
  step CMD ["/usr/sbin/webd"]
image -
  created 2025-05-06T13:31:10Z
  pad /srv/bundle 2k
"""


@pytest.fixture
def busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for a static busybox with two applets."""
    path = tmp_path / "busybox"
    path.write_text("#!/bin/sh\nprintf 'busybox\\nls\\nsh\\n'\n")
    path.chmod(0o755)
    monkeypatch.setenv("SEEDKIT_BUSYBOX", str(path))
    return path


def script(path: Path, text: str) -> None:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def members(archive: bytes) -> dict[str, bytes]:
    """Name -> content of the files of a tar archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {one.name: opened.extractfile(one).read() for one in opened if one.isfile()}  # type: ignore[union-attr]


def test_equal_recipes_give_equal_bytes(busybox: Path) -> None:
    """A recipe gives the same archive every time, so that images keep their ids."""
    assert seedkit.archive(seedkit.parsed(RECIPE)) == seedkit.archive(seedkit.parsed(RECIPE))


def test_an_archive_is_what_docker_load_takes(busybox: Path) -> None:
    """Manifest, configs and layers refer to each other by their own hashes, and an untagged image has null tags."""
    files = members(seedkit.archive(seedkit.parsed(RECIPE)))
    manifest = json.loads(files["manifest.json"])
    assert [one["RepoTags"] for one in manifest] == [["shop/web:1.4", "shop/web:latest"], None]
    for one in manifest:
        config = json.loads(files[one["Config"]])
        assert one["Config"] == hashlib.sha256(files[one["Config"]]).hexdigest() + ".json"
        hashes = ["sha256:" + hashlib.sha256(files[layer]).hexdigest() for layer in one["Layers"]]
        assert config["rootfs"]["diff_ids"] == hashes
        assert sum(not step.get("empty_layer") for step in config["history"]) == len(hashes)


def test_a_recipe_reaches_the_image_config(busybox: Path) -> None:
    """Every word of a recipe that Docker knows is in the image's config."""
    files = members(seedkit.archive(seedkit.parsed(RECIPE)))
    config = json.loads(files[json.loads(files["manifest.json"])[0]["Config"]])
    assert config["created"] == "2025-05-06T14:12:33Z"
    assert config["config"]["Cmd"] == ["/usr/sbin/webd", "--port", "8080"]
    assert "MODE=production" in config["config"]["Env"]
    assert (config["config"]["Volumes"], config["config"]["ExposedPorts"]) == ({"/data": {}}, {"8080/tcp": {}})
    assert config["config"]["Labels"] == {"part": "web"}


def test_the_base_layer_has_every_applet(busybox: Path) -> None:
    """The base layer holds busybox and a link for each applet that it lists."""
    with tarfile.open(fileobj=io.BytesIO(seedkit.base_layer())) as layer:
        assert layer.getmember("bin/ls").linkname == layer.getmember("bin/sh").linkname == "busybox"
        assert layer.extractfile("bin/busybox").read() == busybox.read_bytes()  # type: ignore[union-attr]
        assert layer.getmember("tmp").mode == 0o1777


_NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=99)


@given(st.dictionaries(_NAMES, st.binary(max_size=1500), max_size=6))
def test_tar_round_trips(content: dict[str, bytes]) -> None:
    """Whatever files go into an archive, Python's own reader takes the same ones out."""
    assert members(seedkit.tar((name, b"0", data, 0o644) for name, data in content.items())) == content


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("", "no image"),
        ("cmd sh", "line 1: 'cmd' before the first image"),
        ("image a:1\ncolour red", "unknown word 'colour'"),
        ("image a:1\npad /x 3", "not a size"),
    ],
)
def test_a_wrong_recipe_is_named(recipe: str, message: str) -> None:
    """A recipe that can't be carried out ends the seed with a message that says why."""
    with pytest.raises(SystemExit, match=message):
        seedkit.parsed(recipe)


def test_a_dynamic_busybox_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busybox that needs a loader would not start in an empty image, and is not taken."""
    dynamic = tmp_path / "busybox"
    dynamic.write_bytes(b"\x7fELF" + b"\0" * 500 + b"/lib64/ld-linux-x86-64.so.2\0")
    monkeypatch.setenv("SEEDKIT_BUSYBOX", str(dynamic))
    monkeypatch.setattr(seedkit, "BUSYBOX", ())
    with pytest.raises(SystemExit, match="no static busybox"):
        seedkit.busybox()


def test_names_survive_the_shell(tmp_path: Path) -> None:
    """Names of a skin reach a shell seed unchanged, whatever characters they hold."""
    skin = {"db": "shop-db-1", "odd": "it's $HOME; `id`"}
    helper = tmp_path / "seedkit"
    helper.write_bytes(seeding.helper_files()["bin/seedkit"])
    line = f'eval "$({sys.executable} {helper} names)"; printf "%s|%s" "$db" "$odd"'
    environment = {**os.environ, **seeding.seed_environment(skin)}
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "shop-db-1|it's $HOME; `id`"


def test_rows_are_always_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Data made for a seed has the wanted number of lines and never changes."""
    seedkit.rows("500")
    first = capsys.readouterr().out
    seedkit.rows("500")
    assert (first.count("\n"), capsys.readouterr().out) == (500, first)


def test_expecting_a_state_that_does_not_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container in another state than wanted ends the seed with both states in the message."""
    script(tmp_path / "docker", "echo exited:1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(seedkit, "PATIENCE", 0.0)
    seedkit.expect("container", "job", "exited:1")
    with pytest.raises(SystemExit, match=r"job: wanted exited:0, found exited:1"):
        seedkit.expect("container", "job", "exited:0")


def test_expecting_objects_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing volume, and a wrong number of untagged images, end the seed with a message."""
    script(tmp_path / "docker", '[ "$1" = images ] && echo sha256:1 || exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SystemExit, match="volume: not all of these are there: data"):
        seedkit.expect("volume", "data")
    with pytest.raises(SystemExit, match="wanted 2, found 1"):
        seedkit.expect("dangling", "2")


def test_a_failed_load_says_what_docker_said(busybox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the engine refuses the images, its own words are the message."""
    script(tmp_path / "docker", "cat >/dev/null; echo 'no space left on device' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("sys.stdin", io.StringIO(RECIPE))
    with pytest.raises(SystemExit, match="docker load: no space left on device"):
        seedkit.load()


def test_a_seed_takes_its_folder_along(tmp_path: Path) -> None:
    """The runner puts the seed's whole folder, with executable bits, and nothing of the spec beside it."""
    (tmp_path / "seed" / "parts").mkdir(parents=True)
    script(tmp_path / "seed" / "world.sh", "exit 0")
    (tmp_path / "seed" / "parts" / "data.csv").write_text("1,2\n")
    (tmp_path / "spec.yaml").write_text("skill: x\n")
    files = seeding.seed_files(tmp_path, "seed/world.sh")
    assert {(file.path, file.mode) for file in files} == {("seed/world.sh", 0o755), ("seed/parts/data.csv", 0o644)}


def test_a_missing_seed_is_reported_with_what_to_do(tmp_path: Path) -> None:
    """A seed that is not there is the seed's failure, and the text names the key to correct."""
    with pytest.raises(SeedError, match=r"is not in .*: correct `seed: run:`"):
        seeding.seed_files(tmp_path, "gone/seed.sh")


def test_a_seed_beside_the_spec_takes_nothing_else_along(tmp_path: Path) -> None:
    """The spec is never carried into a sandbox."""
    (tmp_path / "spec.yaml").write_text("skill: x")
    (tmp_path / "seed.sh").write_text("#!/bin/sh\n")

    assert [file.path for file in seeding.seed_files(tmp_path, "seed.sh")] == ["seed/seed.sh"]


def test_the_command_of_a_seed() -> None:
    """A seed is run as the agent's user with the helper first on PATH and the skin in SEED_SKIN."""
    command = seeding.seed_command("/run/setup", "seed/world.sh", {"db": "shop-db-1"})
    assert command.argv == ("/run/setup/seed/world.sh",)
    assert command.env["PATH"].split(":")[0] == "/run/setup/bin"
    assert json.loads(command.env["SEED_SKIN"]) == {"db": "shop-db-1"}
    assert command.user == "agent"


def test_the_seeds_of_our_specs_are_executable() -> None:
    """Every seed program in this repository can be started as it is."""
    programs = list((Path(__file__).parents[2] / "specs").glob("*/seed/*.sh"))
    started = [path for path in programs if path.name in {"world.sh", "full-disk.sh", "stacks.sh"}]
    assert len(started) == 3
    assert all(path.stat().st_mode & stat.S_IXUSR for path in started)
