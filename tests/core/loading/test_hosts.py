"""Hosts as a spec names them, and the addresses they may lead to."""

from __future__ import annotations

import pytest

from pytest_skilleval.core.hosts import Host, authority, names, parse, refused_address


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("deb.debian.org", Host("deb.debian.org")),
        ("DEB.Debian.org:8443", Host("deb.debian.org", 8443)),
        ("localhost:5000", Host("localhost", 5000)),
        ("10.0.0.7", Host("10.0.0.7")),
        ("[0:0::1]:80", Host("::1", 80)),
        ("xn--bcher-kva.example", Host("xn--bcher-kva.example")),
    ],
)
def test_plain_names_and_addresses_are_hosts(text: str, host: Host) -> None:
    """Names and single addresses are taken, with or without a port; what is read is written again the same."""
    assert parse(text) == host
    assert parse(str(host)) == host


@pytest.mark.parametrize(
    "text",
    [
        "http://deb.debian.org", "deb.debian.org/debian", "10.0.0.0/8", "*.debian.org", "user@deb.debian.org", "deb.debian.org:", "a:0",
        "a:65536", "a:b",
        "-a.org", "a..org", ".org", "a.org.", "büc.example", "127.1", "2130706433", "0x7f.0x1", "::1", "[::1", "[fe80::1%eth0]",
        "a b", "a\n", "x" * 64, ".".join(["x" * 60] * 5), "256.1.1.1",
    ],
)  # fmt: skip
def test_everything_else_is_none(text: str) -> None:
    """Schemes, paths, masks, wildcards, zones, and numbers that a resolver would take for an address are refused with a mend."""
    with pytest.raises(ValueError, match=r"name each host|write a plain name like deb\.debian\.org, or name:port"):
        parse(text)


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ("deb.debian.org:443", True),
        ("deb.debian.org:80", True),
        ("Deb.Debian.Org.:443", True),
        ("deb.debian.org:22", False),
        ("evil.deb.debian.org:443", False),
        ("deb.debian.org.evil.example:443", False),
        ("debian.org:443", False),
        ("mirror.example:8080", True),
        ("mirror.example:443", False),
        ("127.0.0.1:443", False),
    ],
)
def test_only_what_is_named_is_asked(wanted: str, named: bool) -> None:
    """A name stands for itself at the usual ports, or at the one port that it is named with: no neighbours, parents or children."""
    assert names([parse("deb.debian.org"), parse("mirror.example:8080")], authority(wanted)) is named


INSIDE = (
    "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1",
    "64:ff9b::10.0.0.1", "2002:a00:1::", "2001:0:1:2:3:4:f5ff:fffe",
)  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_a_public_name_leads_to_no_address_inside(address: str) -> None:
    """Whatever a name's owner says, it reaches neither this machine nor the networks around it, however the address is wrapped."""
    assert refused_address("deb.debian.org", address) == f"deb.debian.org leads to {address}, inside; an address there must be named itself"


@pytest.mark.parametrize("address", ["151.101.2.132", "2a04:4e42::644", "::ffff:151.101.2.132", "64:ff9b::151.101.2.132"])
def test_addresses_of_the_open_network_are_reached(address: str) -> None:
    """A public address is no reason to refuse."""
    assert refused_address("deb.debian.org", address) is None


def test_what_is_inside_is_reached_where_it_is_named_itself() -> None:
    """An address by its own name, and this machine as `localhost`: but `localhost` is nothing else."""
    assert refused_address("10.1.2.3", "10.1.2.3") is None
    assert refused_address("localhost", "127.0.0.1") is None
    assert refused_address("localhost", "::1") is None
    assert refused_address("localhost", "10.1.2.3")


@pytest.mark.parametrize("text", ["", ":443", "a", "a:", "a:b:1", "u@a:1", "[::1]", "a:99999", "a:-1", "a:\N{ARABIC-INDIC DIGIT ONE}"])
def test_a_tunnel_needs_host_and_port(text: str) -> None:
    """What is no host and port can't be asked for."""
    with pytest.raises(ValueError, match="is no host and port"):
        authority(text)
