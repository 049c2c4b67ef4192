"""``skilleval seed --from-host``: a seed that looks like a real host and tells nothing of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from commands_project import Skilleval
from hypothesis import given, settings
from hypothesis import strategies as st
from seed_stage import play

from pytest_skilleval.archive import encode
from pytest_skilleval.core.inventory.anonymous import anonymous
from pytest_skilleval.core.inventory.disguise import Disguise
from pytest_skilleval.core.inventory.program import makes, seed_program
from pytest_skilleval.core.inventory.thinning import MOST, thinned
from pytest_skilleval.core.loading import load_spec
from pytest_skilleval.core.snapshot import Container, DockerState, Image, Network, Volume

COMPOSE = "com.docker.compose."
UNNAMED = "f" * 64


def container(name: str, state: str = "running", code: int | None = None, **more: object) -> Container:
    """A container of the host below."""
    fields = {
        "id": name,
        "image": "ghcr.io/acme/billing:v1.12",
        "image_id": "sha256:1",
        "created": "2025-10-01T08:00:00.123456789Z",
        **more,
    }
    return Container(name=name, state=state, exit_code=code, **fields)  # type: ignore[arg-type]


HOST = DockerState(
    taken_at="2025-11-30T10:00:00+00:00",
    containers=(
        container(
            "acme-billing-1",
            labels={f"{COMPOSE}project": "acme", f"{COMPOSE}service": "billing", "com.acme.owner": "Zoe", "token": "hunter2"},
            mounts=("acme_ledger", UNNAMED),
            networks=("acme_default", "acme_back"),
            restart_policy="always",
        ),
        container("nightly-20251103", "exited", 3, created="2025-11-20T08:00:00Z"),
        container("quirky_hopper", "dead", 137, image="gone:1", image_id="sha256:9", networks=("host",)),
        container("stalled", "paused"),
        container("zoe-draft", "created"),
        container("flapping", "restarting", health="unhealthy"),
    ),
    images=(
        Image(
            id="sha256:1",
            tags=("ghcr.io/acme/billing:latest", "ghcr.io/acme/billing:v1.12"),
            created="2025-09-30T12:00:00Z",
            size=900_000_000,
        ),
        Image(id="sha256:2", created="2025-09-01T12:00:00Z", size=100_000),
        Image(id="sha256:3", tags=("postgres:16.2-bookworm",), created="garbage", size=400_000_000),
    ),
    volumes=(
        Volume(name="acme_ledger", labels={"owner": "Zoe"}),
        Volume(name=UNNAMED, anonymous=True),
        Volume(name="e" * 64, anonymous=True),
    ),
    networks=(Network(id="1", name="acme_back"), Network(id="2", name="acme_default"), Network(id="3", name="bridge", builtin=True)),
    build_cache_records=12,
)
SECRETS = (
    "acme",
    "billing",
    "ledger",
    "zoe",
    "hunter2",
    "nightly",
    "20251103",
    "quirky",
    "hopper",
    "postgres",
    "bookworm",
    "ghcr",
    "token",
    UNNAMED,
)


def test_the_seed_makes_the_inventory(tmp_path: Path) -> None:
    """The seed runs on the seed helper and makes what it says: as many objects as the host has, in the states it has them."""
    inventory = anonymous(HOST)
    (tmp_path / "spec/host").mkdir(parents=True)
    program = tmp_path / "spec/host/world.sh"
    program.write_text(seed_program(inventory))
    program.chmod(0o755)

    made, said = play(tmp_path / "spec", "host/world.sh", tmp_path / "stage"), makes(inventory)

    states = made["container"]
    assert {name: state.partition(":")[0] for name, state in states.items()} == said["containers"]  # type: ignore[attr-defined]
    assert Counter(states.values()) == {"running": 2, "exited:3": 1, "exited:137": 1, "paused": 1, "created": 1}  # type: ignore[attr-defined]
    assert tuple(made["images"]) == said["images"]  # type: ignore[arg-type]
    assert (len(said["images"]), made["dangling"], len(made["network"])) == (3, 1, 2)  # type: ignore[arg-type]
    assert Counter(made["volume"]) == {said["volumes"][0]: 2, "anonymous": 1}  # type: ignore[call-overload]


def test_nothing_real_is_in_it() -> None:
    """No part of a name, label, value or image of the host stands in the seed or in what it says to make."""
    inventory = anonymous(HOST)
    written = f"{seed_program(inventory)}{makes(inventory)}".lower()
    assert [secret for secret in SECRETS if secret in written] == []


def test_shapes_stay() -> None:
    """Projects stay projects: equal parts of names are equal again, separators, small numbers and version shapes stay."""
    inventory = anonymous(HOST)
    first = inventory.containers[0]
    labels = dict(first.labels)
    project, service, number = first.name.split("-")
    assert (labels[f"{COMPOSE}project"], labels[f"{COMPOSE}service"], number) == (project, service, "1")
    assert inventory.volumes[0].name.startswith(f"{project}_")
    assert re.fullmatch(r"registry\.example\.com/[a-z]+/[a-z]+:v1\.12", first.image.replace("latest", "v1.12"))
    assert re.fullmatch(r"[a-z]+:16\.2-[a-z]+", inventory.images[2].tags[0])
    assert re.fullmatch(r"[a-z]+-[0-9]{8}", inventory.containers[1].name)
    assert sum(key.startswith("org.example.") for key in labels) == 1
    assert inventory.ages == (10, 60, 60, 60, 60, 60)
    assert inventory.age_days == 60


def test_what_is_left_out_is_told() -> None:
    """What a seed can't make is named with its count."""
    notes = anonymous(HOST).notes
    assert "12 records of build cache" in notes
    assert "1 restart policies (a seed may have none)" in notes
    assert "1 restarting containers (they run)" in notes


def test_a_crowded_host_is_thinned_out() -> None:
    """A host with more than a seed can make in time keeps an even part, what its containers use first."""
    crowd = DockerState(
        containers=tuple(container(f"job-{number:03}", image_id=f"sha256:{number}", mounts=(f"v{number}",)) for number in range(240)),
        images=tuple(Image(id=f"sha256:{number}", tags=(f"job:{number}",)) for number in range(300)),
        volumes=tuple(Volume(name=f"v{number}") for number in range(400)),
    )
    kept, notes = thinned(crowd)
    assert [one.name for one in kept.containers][:3] == ["job-000", "job-004", "job-008"]
    assert {one.image_id for one in kept.containers} <= {one.id for one in kept.images}
    assert {name for one in kept.containers for name in one.mounts} <= {one.name for one in kept.volumes}
    assert (len(kept.containers), len(kept.images), len(kept.volumes)) == (MOST["containers"], MOST["images"], MOST["volumes"])
    assert "180 of 240 containers, evenly" in notes


def test_the_command_writes_a_folder_that_a_spec_can_use(skilleval: Skilleval, project: Path) -> None:
    """Standard output is the `seed` block: put into a spec beside the folder it validates, and nothing is overwritten."""
    (project / "baseline.json").write_bytes(encode(HOST))
    skilleval("new", "tidy-up")
    path = project / "specs/tidy-up/spec.yaml"

    code, block, told = skilleval("seed", "--from-host", "specs/tidy-up/host", "--from-state", "baseline.json")

    text = path.read_text()
    cases = yaml.safe_dump({"cases": [{"id": "a", "kind": "trigger", "prompt": "hello", "should_load": False}]})
    path.write_text(text[: text.index("# The Docker state")] + block + cases)
    loaded = load_spec(path)
    assert code == 0
    assert loaded.skins[0].age_days == 60
    assert loaded.spec.seed
    assert len(loaded.spec.seed.makes.containers) == 6
    assert "not in it: 12 records of build cache" in told
    assert skilleval("seed", "--from-host", "specs/tidy-up/host", "--from-state", "baseline.json")[0] == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give SPEC and CASE"),
        (["spec.yaml"], "give SPEC and CASE"),
        (["spec.yaml", "case", "--from-host", "x"], "give SPEC and CASE"),
        (["spec.yaml", "case", "--from-state", "x"], "give SPEC and CASE"),
        (["--from-host", "x", "--from-state", "gone.json"], "gone.json: can't be read"),
        (["--from-host", "x"], "no Docker Engine answers here"),
    ],
)
def test_what_can_not_be_done_is_told(skilleval: Skilleval, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str) -> None:
    """Arguments that don't fit together, a missing file and a silent engine lead to exit code 4 with what to do."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    code, _, error = skilleval("seed", *arguments)
    assert code == 4
    assert said in error


OFTEN = st.sampled_from(["Harbour", "market", "oak", "web-1", "wEb-1", "WEb-1", "1-2", "oakoak", "2024"])
WORDS = OFTEN | st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,20}", fullmatch=True)
TAGS = st.from_regex(r"([a-z0-9]+\.[a-z]{2,3}/)?[a-z0-9]+([._-][a-z0-9]+)?(/[a-z0-9]+)?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}", fullmatch=True)


@given(st.lists(WORDS | TAGS, min_size=1, max_size=12, unique=True))
@settings(deadline=None)
def test_a_disguise_is_another_name_that_docker_takes(names: list[str]) -> None:
    """For any names: the others are valid, differ where the real ones do, are stable, and share no word with any real one."""
    disguise = Disguise(names)
    plain = [name for name in names if ":" not in name and "/" not in name]
    others = [disguise.name(name) for name in plain]
    images = [disguise.tag(name) for name in names if name not in plain]

    words = {word.lower() for name in names for word in re.findall(r"[A-Za-z]{2,}", name)} - {"latest", "registry", "example", "com"}
    assert others == [disguise.name(name) for name in plain]
    assert len(set(others)) == len(plain)
    assert len(set(images)) == len(images)
    assert all(re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*", other) for other in others)
    assert all(re.fullmatch(r"[a-z0-9]+(?:[._/:-]+[A-Za-z0-9]+)*", image) for image in images)
    assert not words & {word.lower() for other in (*others, *images) for word in re.findall(r"[A-Za-z]+", other)}
