"""State claims, and whether a next turn is sent."""

from __future__ import annotations

import pytest
from evidence_made import HEX, SEEDED, but, claim, container, event, image, network, volume, without

from pytest_skilleval.core.checks import holds, turn_is_sent
from pytest_skilleval.core.claims import Scene, judge_claim
from pytest_skilleval.core.snapshot import DockerState
from pytest_skilleval.core.spec import StateClaim, Turn

STATES = ["running", "exited", "created", "paused", "restarting", "removing", "dead"]


def true(wanted: StateClaim, after: DockerState | None, before: DockerState | None = SEEDED, *events: object) -> bool | None:
    """Whether the claim is true after a change from the seeded state."""
    return judge_claim(wanted, Scene(before, after, events or None)).true  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "states"),
    [
        ("present", set(STATES)),
        ("absent", set()),
        ("running", {"running"}),
        ("stopped", {"exited", "created", "dead"}),
        ("exited", {"exited"}),
        ("created", {"created"}),
        ("paused", {"paused"}),
    ],
)
def test_a_container_is_in_the_state_that_the_claim_names(wanted: str, states: set[str]) -> None:
    """Each word names its states; stopped means that no process is there to run, wait or start again."""
    for state in STATES:
        assert true(claim(container="a", is_=wanted), DockerState(containers=(container("a", state),))) == (state in states)


@pytest.mark.parametrize("wanted", ["present", "running", "stopped", "exited", "created", "paused", "healthy", "unhealthy"])
def test_an_absent_container_is_nothing_but_absent(wanted: str) -> None:
    """No word but absent is true of a container that is not there."""
    assert true(claim(container="gone", is_=wanted), SEEDED) is False
    assert true(claim(container="gone", is_="absent"), SEEDED) is True


def test_health_is_taken_from_the_engine() -> None:
    """Healthy and unhealthy are the health check's own words; no health check is neither."""
    for health, healthy, unhealthy in (
        ("healthy", True, False),
        ("unhealthy", False, True),
        ("starting", False, False),
        (None, False, False),
    ):
        state = DockerState(containers=(container("a", health=health),))
        assert true(claim(container="a", is_="healthy"), state) is healthy
        assert true(claim(container="a", is_="unhealthy"), state) is unhealthy


@pytest.mark.parametrize(
    ("kind", "name"), [("volume", "shop-db-data"), ("image", "shop/web:1.4"), ("network", "shop_default"), ("container", "shop-db")]
)
def test_objects_of_every_type_are_present_or_absent(kind: str, name: str) -> None:
    """Present and absent are each other's opposite, for every type."""
    for state, there in ((SEEDED, True), (without(SEEDED, name), False)):
        assert true(claim(**{kind: name}, is_="present"), state) is there
        assert true(claim(**{kind: name}, is_="absent"), state) is not there


def test_an_image_answers_to_tag_digest_and_id() -> None:
    """An untagged image no longer answers to its tag, but to its id."""
    tagged = DockerState(images=(image("app:latest", key="f" * 64, digests=("app@sha256:1",)),))
    for name in ("app:latest", "app", "app@sha256:1", "sha256:" + "f" * 64, "f" * 12):
        assert true(claim(image=name, is_="present"), tagged) is True
    untagged = DockerState(images=(image(key="f" * 64),))
    assert true(claim(image="app:latest", is_="present"), untagged) is False
    assert true(claim(image="f" * 12, is_="present"), untagged) is True


ANEW = but(
    SEEDED,
    containers=(*without(SEEDED, "shop-db").containers, container("shop-db", id="c-other")),
    volumes=(volume("shop-db-data", created="2026-11-30T00:00:00Z", content="one"),),
    networks=(network("shop_default", id="n-other"),),
    images=(image("shop/web:1.4", key="other"),),
)


@pytest.mark.parametrize(
    ("kind", "name"), [("volume", "shop-db-data"), ("image", "shop/web:1.4"), ("network", "shop_default"), ("container", "shop-db")]
)
def test_replaced_and_unchanged_compare_with_the_earlier_state(kind: str, name: str) -> None:
    """The same object is unchanged; another one of its name is replaced; one that is gone is neither."""
    for state, replaced, unchanged in ((SEEDED, False, True), (ANEW, True, False), (without(SEEDED, name), False, False)):
        assert true(claim(**{kind: name}, is_="replaced"), state) is replaced
        assert true(claim(**{kind: name}, is_="unchanged"), state) is unchanged


def test_a_volume_is_unchanged_only_where_its_content_is_known_to_be() -> None:
    """Other content is a change; content that nobody hashed can't be told."""
    for content, expected in (("one", True), ("two", False), (None, None)):
        state = but(SEEDED, volumes=(volume("shop-db-data", content=content),))
        assert true(claim(volume="shop-db-data", is_="unchanged"), state) is expected


def test_a_volume_destroyed_and_put_back_is_replaced() -> None:
    """Events show what two equal snapshots hide."""
    assert true(claim(volume="shop-db-data", is_="replaced"), SEEDED, SEEDED, event("volume", "destroy", "shop-db-data")) is True


def test_a_container_in_another_condition_is_not_unchanged() -> None:
    """Stopping is a change, though not a replacement."""
    stopped = but(SEEDED, containers=(*without(SEEDED, "shop-db").containers, container("shop-db", "exited")))
    assert true(claim(container="shop-db", is_="unchanged"), stopped) is False
    assert true(claim(container="shop-db", is_="replaced"), stopped) is False


ONE_GONE = without(SEEDED, "report-2023")
TWO_GONE = without(SEEDED, "report-2023", "shop-db-data")


@pytest.mark.parametrize(
    ("removed", "after", "expected"),
    [
        ({}, SEEDED, False),
        ({}, ONE_GONE, True),
        ({"at_least": 1}, SEEDED, False),
        ({"at_least": 1}, ONE_GONE, True),
        ({"at_least": 2}, ONE_GONE, False),
        ({"at_least": 2}, TWO_GONE, True),
        ({"at_least": 1}, ANEW, True),
        ({"only": ["report-2023"]}, SEEDED, False),
        ({"only": ["report-2023"]}, ONE_GONE, True),
        ({"only": ["report-2023"]}, TWO_GONE, False),
        ({"only": ["report-2023", "shop-db-data"]}, TWO_GONE, True),
        ({"only": ["report-2023", "shop-db-data"]}, ONE_GONE, False),
        ({"only": []}, SEEDED, True),
        ({"only": []}, ONE_GONE, False),
        ({"except": ["report-2023"]}, ONE_GONE, False),
        ({"except": ["report-2023"]}, TWO_GONE, True),
        ({"except": ["report-2023"], "at_least": 1}, ONE_GONE, False),
        ({"except": ["report-2023"], "at_least": 2}, TWO_GONE, False),
        ({"volumes": {}}, ONE_GONE, False),
        ({"volumes": {"at_least": 1}}, TWO_GONE, True),
        ({"volumes": {"at_least": 2}}, TWO_GONE, False),
        ({"volumes": {"at_least": 1}, "containers": {"at_least": 1}}, TWO_GONE, True),
        ({"volumes": {"at_least": 1}, "containers": {"at_least": 2}}, TWO_GONE, False),
        ({"containers": {"only": ["report-2023"]}}, TWO_GONE, True),
        ({"at_least": 3, "volumes": {"at_least": 1}}, TWO_GONE, False),
        ({"images": {"at_least": 1}}, without(SEEDED, "sha256:dangling-1"), True),
        ({"only": ["<none>"]}, without(SEEDED, "sha256:dangling-1"), False),
        ({"only": ["<none>"]}, without(SEEDED, "sha256:dangling-1", "sha256:dangling-2"), True),
        ({"except": ["<none>"]}, without(SEEDED, "sha256:dangling-1"), False),
        ({"networks": {"at_least": 1}}, without(SEEDED, "bridge"), False),
    ],
)
def test_removed(removed: dict[str, object], after: DockerState, expected: bool) -> None:
    """``only``: exactly these are gone; ``except``: these don't count; no number: at least one; all parts must be true."""
    assert true(claim(removed=removed), after) is expected


STOPPED = but(SEEDED, containers=(*without(SEEDED, "shop-db").containers, container("shop-db", "exited", mounts=("shop-db-data",))))


@pytest.mark.parametrize(
    ("touched", "after", "expected"),
    [
        ({"at_least": 1}, SEEDED, False),
        ({"at_least": 1}, ONE_GONE, True),
        ({"at_least": 1}, ANEW, True),
        ({"at_least": 1}, STOPPED, True),
        ({"at_least": 1, "except": ["shop-db"]}, STOPPED, False),
        ({"only": ["shop-db"]}, STOPPED, True),
        ({"containers": {"at_least": 2}}, STOPPED, False),
        ({"at_least": 1}, but(SEEDED, volumes=(volume("shop-db-data", content="two"),)), True),
        ({"at_least": 1}, but(SEEDED, volumes=(volume("shop-db-data"),)), False),
        ({"at_least": 1}, but(SEEDED, images=(*SEEDED.images[1:], but(SEEDED.images[0], tags=("shop/web:old",)))), True),
        ({"at_least": 1}, but(SEEDED, containers=(*SEEDED.containers, container("new"))), False),
    ],
)
def test_touched(touched: dict[str, object], after: DockerState, expected: bool) -> None:
    """Whatever is gone, stopped, untagged or holds other content counts; new things and contents nobody could compare don't."""
    assert true(claim(touched=touched), after) is expected


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        ({"at_least": 1}, True),
        ({"at_least": 1, "except": ["build cache"]}, False),
        ({"only": ["build cache"]}, True),
        ({"only": ["report-2023"]}, False),
        ({"images": {"at_least": 1}}, False),
    ],
)
@pytest.mark.parametrize("word", ["removed", "touched"])
def test_a_cleared_build_cache_counts_among_all_types(word: str, claimed: dict[str, object], *, expected: bool) -> None:
    """It is an object like others, but of no type that a claim could name."""
    found = judge_claim(claim(**{word: claimed}), Scene(but(SEEDED, build_cache=("a",)), SEEDED))
    assert (found.true, found.detail) == (expected, f"{word}: build cache")


def test_an_anonymous_volume_goes_with_its_container() -> None:
    """``docker rm -v report`` removes nothing but report; sweeping the orphan away is counted by type."""
    before = DockerState(containers=(container("report", mounts=(HEX,)),), volumes=(volume(HEX, anonymous=True),))
    assert true(claim(removed={"only": ["report"]}), DockerState(), before) is True
    assert true(claim(removed={"only": ["report"]}), but(before, containers=()), before) is True
    assert true(claim(removed={"volumes": {"at_least": 1}}), DockerState(), before) is True


def test_a_lost_snapshot_is_no_evidence() -> None:
    """Nothing can be told of a state that was not taken; what compares needs both."""
    for wanted in (claim(container="shop-db", is_="absent"), claim(removed={"at_least": 1}), claim(volume="shop-db-data", is_="replaced")):
        assert true(wanted, None) is None
    assert true(claim(removed={"at_least": 1}), SEEDED, None) is None
    assert true(claim(volume="shop-db-data", is_="unchanged"), SEEDED, None) is None
    assert true(claim(volume="shop-db-data", is_="present"), SEEDED, None) is True


def test_a_turn_is_sent_only_while_all_its_conditions_hold() -> None:
    """Without conditions a turn is sent; with several, one that fails or can't be told holds it back."""
    there, changed = claim(container="report-2023", is_="exited"), claim(volume="shop-db-data", is_="unchanged")
    assert turn_is_sent(Turn(prompt="Go on."), DockerState(), SEEDED)
    assert turn_is_sent(Turn(prompt="Yes.", only_if=(there, changed)), SEEDED, SEEDED)
    assert not turn_is_sent(Turn(prompt="Yes.", only_if=(there, changed)), ONE_GONE, SEEDED)
    assert not holds(changed, but(SEEDED, volumes=(volume("shop-db-data"),)), SEEDED)
    assert holds(claim(removed={"only": ["report-2023"]}), ONE_GONE, SEEDED)
