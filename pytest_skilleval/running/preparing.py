"""A sandbox with the seed's Docker state in it, checked: made once, kept, and opened anew for every run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_skilleval import seeding
from pytest_skilleval.core.arms import digest
from pytest_skilleval.core.errors import SeedError
from pytest_skilleval.core.ports import Command, ExecResult, Sandbox, SandboxFile, SandboxRequest
from pytest_skilleval.core.snapshot import DockerState
from pytest_skilleval.gateway.values import proxy_environment
from pytest_skilleval.running.steps import Put, put, take

if TYPE_CHECKING:
    from pytest_skilleval.core.spec import Makes, Seed, Spec
    from pytest_skilleval.running.job import Job

SEEDING_FOLDER = "/run/setup"
"""Where seed and helper lie inside while seeding; gone before the baseline snapshot."""
LOG_BYTES = 64 * 1024
"""How much of the log of each seeded container is searched for give-away words."""
_READ_LOGS = f"""names=$(docker ps -a --format '{{{{.Names}}}}') || exit
for name in $names; do
  printf '\\000%s\\n' "$name"
  docker logs "$name" 2>&1 | head -c {LOG_BYTES} | tr -d '\\000'
done"""
UNITS = {"m": 1024**2, "g": 1024**3}


def open_seeded(job: Job) -> Sandbox:
    """A sandbox whose Docker state is the seed's; `verify` holds the baseline against it.

    Raises
    ------
    SandboxError
        The sandbox can't be made.
    SeedError
        The seed program failed, or did not make what the spec says; the text holds the seed's output.
    """
    seed = job.seed
    if seed is None:
        return job.backend.open(request(job, restore=None))
    if not job.backend.can_restore:
        return _seed_in_place(job, seed)
    key = prepared_key(job)
    if not job.backend.has(key):
        _prepare(job, seed, key)
    return job.backend.open(request(job, restore=key))


def request(job: Job, *, restore: str | None, purpose: str = "") -> SandboxRequest:
    """What this run asks of the backend."""
    disk = job.case.sandbox.disk
    return SandboxRequest(
        name=digest(f"{job.archive.folder}/{job.row.run_id}/{purpose}/{os.getpid()}".encode())[:12],
        restore=restore,
        disk=int(disk[:-1]) * UNITS[disk[-1]] if disk else None,
        read_only=job.agent.host_program(),
        engine_env=proxy_environment() if hosts_of(job) else {},
    )


def hosts_of(job: Job) -> tuple[str, ...]:
    """What the run may reach besides its model: where the spec names hosts, and there is a gateway to lead to them."""
    return job.case.sandbox.hosts if job.gateway and not job.agent.simulated else ()


def prepared_key(job: Job) -> str:
    """Names the prepared state: seed, helper, skin, limits and the words it may not show; the backend adds its own engine and tree."""
    from pytest_skilleval.core.loading import seed_hash

    seed = job.seed
    assert seed is not None
    helper = {name: digest(content) for name, content in seeding.helper_files().items()}
    spec = job.loaded.spec
    words = (spec.skill, spec.judge.strip, sorted(spec.allow_words))
    facts = (seed_hash(job.loaded, seed, job.skin), helper, job.case.sandbox.disk, job.skin.age_days, words)
    return digest(repr(facts).encode())[:32]


def _prepare(job: Job, seed: Seed, key: str) -> None:
    """Seed one sandbox and keep its state; the workers of a session do this one after the other."""
    with _alone(job.archive.folder):
        job.cancellation.check()
        if job.backend.has(key):
            return
        sandbox = job.backend.open(request(job, restore=None, purpose=key))
        job.cancellation.attach(sandbox)
        try:
            run_seed(sandbox, job, seed)
            verify(sandbox.state(), seed.makes, job.loaded.spec)
            refuse_telling_logs(sandbox, job.loaded.spec)
            sandbox.save(key, age_days=job.skin.age_days)
        finally:
            job.cancellation.detach(sandbox)
            sandbox.close()


def _seed_in_place(job: Job, seed: Seed) -> Sandbox:
    """For backends that can't keep a state: seed this very sandbox."""
    sandbox = job.backend.open(request(job, restore=None))
    try:
        run_seed(sandbox, job, seed)
        refuse_telling_logs(sandbox, job.loaded.spec)
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def run_seed(sandbox: Sandbox, job: Job, seed: Seed) -> ExecResult:
    """Run the seed program inside, its helper at hand, and leave no trace of either.

    Raises SeedError with the program's output when it fails, or says a give-away word.
    """
    from pytest_skilleval.core.loading import giveaways

    files, program, clean_up = seed_steps(job, seed)
    take(sandbox, files)
    result = sandbox.exec(program, timeout=seeding.SEED_TIMEOUT)
    take(sandbox, clean_up)
    job.cancellation.check()
    if result.exit_code != 0:
        why = f"took more than {seeding.SEED_TIMEOUT:.0f} s" if result.timed_out else f"ended with exit code {result.exit_code}"
        raise SeedError(f"the seed {seed.run} {why}: {tail(result)}")
    if told := giveaways((result.stdout + result.stderr).decode("utf-8", "replace"), job.loaded.spec):
        raise SeedError(f"the seed {seed.run} prints what would tell an agent that it is being measured: {', '.join(told)}")
    return result


def seed_steps(job: Job, seed: Seed) -> tuple[Put, Command, Command]:
    """Seed folder and helper go in, the program runs, all of it is removed; SeedError when the program is not there."""
    helper = [SandboxFile(path=name, content=content, mode=0o755) for name, content in seeding.helper_files().items()]
    return (
        put([*seeding.seed_files(job.loaded.folder, seed.run), *helper], into=SEEDING_FOLDER),
        seeding.seed_command(SEEDING_FOLDER, seed.run, job.skin.names),
        Command(argv=("rm", "-rf", SEEDING_FOLDER), user="root", cwd="/"),
    )


def verify(state: DockerState, makes: Makes, spec: Spec) -> None:
    """SeedError when the Docker state lacks anything that the spec says the seed makes, or a name or label in it is a give-away word."""
    from pytest_skilleval.core.loading import giveaways

    told = [f"{text} ({', '.join(words)})" for text in _readable(state) if (words := giveaways(text, spec))]
    if told:
        raise SeedError("the seed made what would tell an agent that it is being measured: " + "; ".join(told))
    missing = list(_missing(state, makes))
    if missing:
        raise SeedError("the seed did not make what the spec's `makes` says: " + "; ".join(missing))


def refuse_telling_logs(sandbox: Sandbox, spec: Spec) -> None:
    """SeedError when ``docker logs`` of a container, read as far as `LOG_BYTES`, shows a give-away word."""
    from pytest_skilleval.core.loading import giveaways

    result = sandbox.exec(Command(argv=("sh", "-c", _READ_LOGS), cwd="/"), timeout=seeding.SEED_TIMEOUT)
    if result.exit_code != 0:
        raise SeedError(f"the logs of the seeded containers can't be read: {tail(result)}")
    logs = (log.partition("\n") for log in result.stdout.decode("utf-8", "replace").split("\0")[1:])
    told = [f"{name} ({', '.join(words)})" for name, _, text in logs if (words := giveaways(text, spec))]
    if told:
        raise SeedError(f"the logs of seeded containers tell an agent that it is being measured; log other words: {'; '.join(told)}")


def _readable(state: DockerState) -> Iterator[str]:
    """All names and labels that listings show."""
    for container in state.containers:
        yield from (container.name, *_labels(container.labels))
    for image in state.images:
        yield from image.tags
    for volume in state.volumes:
        yield from (volume.name, *_labels(volume.labels))
    for network in state.networks:
        yield from (network.name, *_labels(network.labels))


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    return (f"{key}={value}" for key, value in labels.items())


def _missing(state: DockerState, makes: Makes) -> Iterator[str]:
    containers = {container.name: container.state for container in state.containers}
    for name, wanted in makes.containers.items():
        if containers.get(name) != wanted:
            yield f"container {name} should be {wanted} and is {containers.get(name, 'absent')}"
    for kind, wanted_names, found in (
        ("volume", makes.volumes, {volume.name for volume in state.volumes}),
        ("image", makes.images, {tag for image in state.images for tag in image.tags}),
        ("network", makes.networks, {network.name for network in state.networks}),
    ):
        for name in wanted_names:
            if name not in found:
                yield f"{kind} {name} is absent"
    dangling = sum(image.dangling for image in state.images)
    if dangling < makes.dangling_images:
        yield f"{makes.dangling_images} dangling images should be there and {dangling} are"
    if makes.build_cache and not state.build_cache_records:
        yield "the build cache is empty"


def tail(result: ExecResult, characters: int = 1500) -> str:
    """The end of what a program printed, for an error text."""
    text = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace").strip()
    return text[-characters:] or "(no output)"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the session's folder: one process at a time, released by the kernel when the process dies."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
