"""What a seed says it makes is looked for in the state that it left."""

from __future__ import annotations

import msgspec
import pytest

from pytest_skilleval.core.errors import SeedError
from pytest_skilleval.core.snapshot import Container, DockerState, Image, Network, Volume
from pytest_skilleval.core.spec import Makes, Spec
from pytest_skilleval.running.preparing import verify

SPEC = Spec.model_validate(
    {"skill": "tidy-up", "arms": {"with": {"role": "treatment"}}, "cases": [{"id": "a", "kind": "trigger"}]}, strict=False
)
STATE = DockerState(containers=(Container(id="c", name="db", image="db:1", state="exited"),), images=(Image(id="sha256:1"),))


@pytest.mark.parametrize(
    ("makes", "missing"),
    [
        (Makes(containers={"db": "running"}), "container db should be running and is exited"),
        (Makes(containers={"web": "running"}), "container web should be running and is absent"),
        (Makes(volumes=("data",)), "volume data is absent"),
        (Makes(images=("db:1",)), "image db:1 is absent"),
        (Makes(networks=("net",)), "network net is absent"),
        (Makes(dangling_images=2), "2 dangling images should be there and 1 are"),
        (Makes(build_cache=True), "the build cache is empty"),
    ],
)
def test_whatever_is_missing_is_an_error_of_the_seed(makes: Makes, missing: str) -> None:
    """Each kind of thing that `makes` names is told when it is not there as it says."""
    with pytest.raises(SeedError) as told:
        verify(STATE, makes, SPEC)
    assert str(told.value).endswith(f": {missing}")


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"containers": (Container(id="c", name="test-db", image="db:1"),)}, "test-db (test)"),
        ({"containers": (Container(id="c", name="db", image="db:1", labels={"purpose": "an eval"}),)}, "purpose=an eval (eval)"),
        ({"images": (Image(id="sha256:1", tags=("shop/fixture:1",)),)}, "shop/fixture:1 (fixture)"),
        ({"volumes": (Volume(name="tidy-up-data"),)}, "tidy-up-data (tidy up)"),
        ({"networks": (Network(id="n", name="net", labels={"sandbox": "yes"}),)}, "sandbox=yes (sandbox)"),
    ],
)
def test_names_and_labels_that_tell_are_an_error_of_the_seed(part: dict[str, tuple[object, ...]], told: str) -> None:
    """Also of things that `makes` does not name: whoever lists what is there would read them."""
    with pytest.raises(SeedError) as error:
        verify(msgspec.structs.replace(DockerState(), **part), Makes(), SPEC)
    assert str(error.value).endswith(f"being measured: {told}")


def test_what_is_there_is_no_error() -> None:
    """More than `makes` names does not matter."""
    full = DockerState(containers=STATE.containers, images=STATE.images, build_cache=("a",), build_cache_records=1)
    verify(full, Makes(containers={"db": "exited"}, dangling_images=1, build_cache=True), SPEC)
