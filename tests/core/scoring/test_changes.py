"""What changed between two Docker states."""

from __future__ import annotations

import msgspec
from evidence_made import HEX, SEEDED, but, container, event, image, network, volume, without
from hypothesis import given
from hypothesis import strategies as st

from pytest_skilleval.core.changes import TagMove, changes
from pytest_skilleval.core.snapshot import DockerState


def names(found: object) -> list[str]:
    """Type and name of each thing."""
    return [f"{thing.type} {thing.name}" for thing in found]  # type: ignore[attr-defined]


def test_equal_states_have_no_difference() -> None:
    """A read-only command changes nothing, however much later the second look is."""
    later = but(SEEDED, taken_at="2030-01-01T00:00:00Z", containers=tuple(reversed(SEEDED.containers)))
    assert changes(SEEDED, later).nothing


def test_every_type_of_object_is_seen_to_go_and_come() -> None:
    """Objects that are gone are removed, new ones are added, each under its own name."""
    less = without(SEEDED, "shop-web", "shop-db-data", "shop/web:1.4", "sha256:dangling-1", "shop_default")
    expected = ["container shop-web", "volume shop-db-data", "image dangling-1", "image shop/web:1.4", "network shop_default"]
    assert names(changes(SEEDED, less).removed) == expected
    assert names(changes(less, SEEDED).added) == expected


def test_the_same_name_under_another_identity_is_replaced() -> None:
    """A container, volume or network made anew is replaced, neither removed nor added."""
    anew = but(
        SEEDED,
        containers=(*without(SEEDED, "shop-db").containers, container("shop-db", id="c-other")),
        volumes=(volume("shop-db-data", created="2026-11-30T00:00:00Z"),),
        networks=(network("shop_default", id="n-other"),),
    )
    found = changes(SEEDED, anew)
    assert names(found.replaced) == ["container shop-db", "volume shop-db-data", "network shop_default"]
    assert found.destroyed == found.replaced
    assert not found.removed
    assert not found.added


def test_the_build_cache_is_removed_as_soon_as_a_record_is_gone() -> None:
    """It is one object; what a build adds to it is no change, and a recording without its records tells nothing."""
    full, half, more = (but(SEEDED, build_cache=records) for records in (("a", "b"), ("b", "c"), ("a", "b", "c")))
    assert names(changes(full, half).removed) == names(changes(full, SEEDED).touched) == ["build cache build cache"]
    assert changes(full, more).nothing
    assert changes(SEEDED, full).nothing


def test_builtin_networks_do_not_count() -> None:
    """The engine's own networks are never removed or added."""
    assert changes(SEEDED, but(SEEDED, networks=(network("shop_default"),))).nothing


def test_events_show_a_volume_that_was_put_back_within_the_same_second() -> None:
    """A destroyed volume that looks the same afterwards is replaced."""
    found = changes(SEEDED, SEEDED, [event("volume", "destroy", "shop-db-data")])
    assert names(found.replaced) == ["volume shop-db-data"]


def test_a_creation_time_that_drifts_is_no_replacement_where_events_are_known() -> None:
    """Old engines tell the time of the last change of content: without an event that makes the volume it is the same one."""
    drifted = but(SEEDED, volumes=(volume("shop-db-data", created="2026-11-30T00:00:00Z"),))
    assert changes(SEEDED, drifted, []).nothing
    assert changes(SEEDED, drifted, [event("volume", "mount", "shop-db-data"), event("volume", "create", "other")]).nothing
    assert names(changes(SEEDED, drifted, [event("volume", "create", "shop-db-data")]).replaced) == ["volume shop-db-data"]
    assert names(changes(SEEDED, drifted).replaced) == ["volume shop-db-data"]


def test_a_mere_untag_reported_as_delete_is_no_loss() -> None:
    """An image that is still there counts as destroyed only where an event tells that it was made again."""
    gone, pulled = event("image", "delete", "sha256:shop/web:1.4", 1.0), event("image", "pull", "shop/web:1.4", 2.0)
    assert changes(SEEDED, SEEDED, [gone]).nothing
    assert changes(SEEDED, SEEDED, [gone, event("image", "pull", "other:1", 2.0)]).nothing
    assert changes(SEEDED, SEEDED, [gone, event("image", "pull", "shop/web:1.4", 0.5)]).nothing
    assert names(changes(SEEDED, SEEDED, [gone, pulled]).replaced) == ["image shop/web:1.4"]


def test_an_untagged_image_is_changed_and_its_tag_moved() -> None:
    """An image lives by its id: losing its tag makes it dangling, not gone; the tag's way is told."""
    old, new = image("app:1", key="old"), image(key="old")
    other = image("app:1", key="new")
    found = changes(DockerState(images=(old,)), DockerState(images=(new, other)))
    assert names(found.changed) == ["image app:1"]
    assert not found.removed
    assert found.tag_moves == (TagMove(tag="app:1", before="sha256:old", after="sha256:new"),)
    gone = changes(DockerState(images=(old,)), DockerState(images=(new,)))
    assert gone.tag_moves == (TagMove(tag="app:1", before="sha256:old", after=None),)


def test_a_stopped_container_is_changed() -> None:
    """Another state, restart policy or network is a change; the object is still the same."""
    for other in (container("a", "exited"), container("a", restart_policy="always"), container("a", networks=("x",))):
        found = changes(DockerState(containers=(container("a"),)), DockerState(containers=(other,)))
        assert names(found.changed) == ["container a"]


def test_another_bind_mount_is_a_change() -> None:
    """Also where only the read-only flag is another one; made anew with it, the container is replaced."""
    old, other = (container("a", binds=binds) for binds in (("/srv:/www",), ("/srv:/www:ro",)))
    assert names(changes(DockerState(containers=(old,)), DockerState(containers=(other,))).changed) == ["container a"]
    anew = container("a", id="c-other", binds=other.binds)
    assert names(changes(DockerState(containers=(old,)), DockerState(containers=(anew,))).replaced) == ["container a"]


def test_a_snapshot_from_before_bind_mounts_were_told_still_loads() -> None:
    """It has none, and nothing else about the container is another."""
    raw = msgspec.json.decode(msgspec.json.encode(DockerState(containers=(container("a", mounts=("v",)),))))
    del raw["containers"][0]["binds"]
    old = msgspec.convert(raw, DockerState)
    assert (old.containers[0].binds, old.containers[0].mounts) == ((), ("v",))
    assert changes(old, old).nothing


def test_a_restart_counts_only_where_the_engine_does_not_do_it_by_itself() -> None:
    """Another start time is a change, except under a restart policy."""
    for policy, expected in (("no", ["container a"]), ("always", [])):
        old, new = (container("a", started=at, restart_policy=policy) for at in ("1", "2"))
        assert names(changes(DockerState(containers=(old,)), DockerState(containers=(new,))).changed) == expected


def test_health_and_clock_readings_are_no_change() -> None:
    """What moves by itself is not blamed on anybody."""
    old = container("a", health="starting", finished="1")
    new = container("a", health="healthy", finished="2")
    assert changes(DockerState(containers=(old,)), DockerState(containers=(new,))).nothing


def test_an_anonymous_volume_goes_under_the_name_of_its_only_container() -> None:
    """It is shown by its short id, and answers to its owner's name unless it is shared."""
    anonymous = volume(HEX, anonymous=True)
    alone = DockerState(containers=(container("a", mounts=(HEX,)),), volumes=(anonymous,))
    shared = but(alone, containers=(*alone.containers, container("b", mounts=(HEX,))))
    (thing,) = [one for one in changes(alone, DockerState()).removed if one.type == "volume"]
    assert thing.name == HEX[:12]
    assert "a" in thing.names
    (thing,) = [one for one in changes(shared, DockerState()).removed if one.type == "volume"]
    assert thing.names == {HEX}


def test_a_container_and_its_anonymous_volume_know_their_compose_service() -> None:
    """Compose's commands call them by it; a named volume has none."""
    labels = {"com.docker.compose.project": "shop", "com.docker.compose.service": "database"}
    ours = container("shop-db", mounts=(HEX, "data"), labels=labels)
    state = DockerState(containers=(ours,), volumes=(volume(HEX, anonymous=True), volume("data")))
    services = {thing.name: thing.service for thing in changes(state, DockerState()).removed}
    assert services == {"shop-db": "database", HEX[:12]: "database", "data": None}


objects = st.sets(st.sampled_from(["a", "b", "c", "d"]))


@given(objects, objects)
def test_removed_and_added_mirror_each_other(before: set[str], after: set[str]) -> None:
    """Looking backwards turns removed into added, and every object is in at most one class."""
    old, new = (DockerState(containers=tuple(map(container, sorted(some)))) for some in (before, after))
    forth, back = changes(old, new), changes(new, old)
    assert forth.removed == back.added
    assert {thing.name for thing in forth.removed} == before - after
    assert not forth.replaced
