"""Compose projects, read from the labels of what Compose made."""

from __future__ import annotations

from evidence_made import SEEDED, but, case, container, event, network, said, scored, seen, took, volume, without

from pytest_skilleval.core.snapshot import ComposeProject, DockerState

SHOP = {"com.docker.compose.project": "shop", "com.docker.compose.service": "db"}
BLOG = {"com.docker.compose.project": "blog"}
MANY = but(
    SEEDED,
    containers=(container("blog-web-1", labels=BLOG), container("shop-db-1", labels=SHOP), container("plain")),
    volumes=(volume("backup", labels={"owner": "me"}), volume("shop_data", labels=SHOP)),
    networks=(network("bridge", builtin=True), network("blog_default", labels=BLOG), network("shop_default", labels=SHOP)),
)


def test_a_state_tells_its_projects_and_what_belongs_to_each() -> None:
    """By label alone, in the order of their names; what no label gives to a project belongs to none."""
    assert MANY.compose_projects == (
        ComposeProject(name="blog", containers=("blog-web-1",), networks=("blog_default",)),
        ComposeProject(name="shop", containers=("shop-db-1",), volumes=("shop_data",), networks=("shop_default",)),
    )
    assert DockerState().compose_projects == ()


def test_a_project_of_which_only_a_volume_is_left_is_still_there() -> None:
    """`docker compose down` leaves volumes behind."""
    assert without(MANY, "shop-db-1", "shop_default").compose_projects[1] == ComposeProject(name="shop", volumes=("shop_data",))


def test_what_was_removed_altered_or_added_names_its_project() -> None:
    """So that a report can tell whose project it was."""
    stopped = container("blog-web-1", "exited", labels=BLOG)
    after = but(without(MANY, "shop_data", "backup"), containers=(stopped, *MANY.containers[1:], container("shop-web-1", labels=SHOP)))
    told = scored(case(), seen(took(said("docker ps"), after), baseline=MANY, events=(event("container", "stop", "c-blog-web-1"),)))
    assert [(one.name, one.project) for one in told.removed] == [("backup", None), ("shop_data", "shop")]
    assert [(one.name, one.project) for one in told.altered] == [("blog-web-1", "blog")]
    assert [(one.name, one.project) for one in told.added] == [("shop-web-1", "shop")]
