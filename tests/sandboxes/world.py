"""A small Docker world for sandbox tests: images made without a registry, containers of every kind."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pytest_skilleval.core.ports import Command, Sandbox

CREATED = "2026-03-02T09:30:00Z"
_APPLETS = """cat echo false find grep hostname httpd id kill ls mkdir mount nc nslookup ping ps rm sh
    sleep sync tee test touch true wget""".split()  # noqa: SIM905


def _tar(entries: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def entry(name: str, data: bytes | str | None = None, mode: int = 0o755) -> tuple[tarfile.TarInfo, bytes]:
    """A file (bytes), a symbolic link (str) or a folder (None)."""
    info = tarfile.TarInfo(name)
    info.mode = mode
    if data is None:
        info.type = tarfile.DIRTYPE
    elif isinstance(data, str):
        info.type, info.linkname = tarfile.SYMTYPE, data
    else:
        info.size = len(data)
        return info, data
    return info, b""


def files(**contents: bytes) -> bytes:
    """A tar archive of plain files; ``__`` in a name stands for a slash, ``_dot_`` for a dot."""
    return _tar(entry(name.replace("__", "/").replace("_dot_", "."), data, 0o644) for name, data in contents.items())


def _base(busybox: bytes) -> bytes:
    folders = [entry(name) for name in ("bin", "data", "dev", "etc", "proc", "sys", "tmp", "var")]
    passwd = entry("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n", 0o644)
    return _tar([*folders, passwd, entry("bin/busybox", busybox), *(entry(f"bin/{name}", "busybox") for name in _APPLETS)])


def images(busybox: bytes, wanted: Iterable[tuple[str | None, Mapping[str, Any]]]) -> bytes:
    """What ``docker load`` takes: one image for each (tag or None, config)."""
    base = _base(busybox)
    listing, parts = [], {"base.tar": base}
    for number, (tag, config) in enumerate(wanted):
        layer = _tar([entry("etc/build", f"{tag} {number}".encode(), 0o644)])
        name = f"layer{number}.tar"
        parts[name] = layer
        ids = [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in (base, layer)]
        record = {
            "architecture": "amd64",
            "os": "linux",
            "created": CREATED,
            "config": {"Env": ["PATH=/bin"], "Cmd": ["sh"], **config},
            "rootfs": {"type": "layers", "diff_ids": ids},
            "history": [{"created": CREATED, "created_by": "COPY . /"} for _ in ids],
        }
        raw = json.dumps(record, sort_keys=True).encode()
        parts[f"{hashlib.sha256(raw).hexdigest()}.json"] = raw
        listing.append({"Config": [*parts][-1], "RepoTags": [tag] if tag else None, "Layers": ["base.tar", name]})
    parts["manifest.json"] = json.dumps(listing).encode()
    return _tar(entry(name, data, 0o644) for name, data in parts.items())


@cache
def archive(busybox: bytes) -> bytes:
    """Four tagged images and three without a tag."""
    tagged: list[tuple[str | None, Mapping[str, Any]]] = [
        ("shop-web:1.4", {}),
        ("shop-db:15", {"Volumes": {"/data": {}}}),
        ("worker:7", {}),
        ("tools:1", {}),
    ]
    return images(busybox, [*tagged, *((None, {"Labels": {"build": str(number)}}) for number in range(3))])


SCRIPT = """
set -e
docker network create shop_default --label com.docker.compose.project=shop >/dev/null
docker volume create shop_pgdata --label com.docker.compose.project=shop >/dev/null
docker volume create backup_2023 >/dev/null
docker volume create cache >/dev/null
docker run -d --name shop-db-1 --network shop_default --network-alias db -v shop_pgdata:/data shop-db:15 \
    sh -c 'echo rows > /data/table; trap "exit 0" TERM; while :; do sleep 0.2; done' >/dev/null
docker run -d --name shop-web-1 --network shop_default -p 8080:80 --restart unless-stopped shop-web:1.4 \
    sh -c 'mkdir -p /www && echo welcome > /www/index.html && exec httpd -f -p 80 -h /www' >/dev/null
docker run -d --name stubborn worker:7 sh -c 'trap "" TERM; while :; do sleep 1; done' >/dev/null
docker run --name report-monday tools:1 true
docker run --name import-failed tools:1 sh -c 'exit 3' || true
docker run --name scratchpad -v /data tools:1 sh -c 'echo x > /data/x'
docker create --name standby worker:7 sleep 1000 >/dev/null
rm -f /tmp/images.tar
"""


def busybox(sandbox: Sandbox) -> bytes:
    """The static busybox that every sandbox has."""
    with tarfile.open(fileobj=io.BytesIO(sandbox.get("/usr/bin/busybox"))) as packed:
        file = packed.extractfile("busybox")
        assert file is not None
        return file.read()


def load(sandbox: Sandbox) -> None:
    """Only the images."""
    sandbox.put(files(images_dot_tar=archive(busybox(sandbox))), into="/tmp")
    done = sandbox.exec(Command(argv=("docker", "load", "-q", "-i", "/tmp/images.tar")), timeout=60)
    assert done.exit_code == 0, done.stderr.decode()


def make(sandbox: Sandbox) -> None:
    """Seven containers (three running), seven images, four volumes, one network."""
    load(sandbox)
    done = sandbox.exec(Command(argv=("sh", "-c", SCRIPT)), timeout=120)
    assert done.exit_code == 0, done.stderr.decode()
