"""Hosts that a spec asks for: how they are written, and which addresses they may lead to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

USUAL_PORTS = (80, 443)
"""What a host without a port stands for."""

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_LONGEST_NAME = 253
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that stand for the IPv4 address in their last four bytes, behind a translator."""


class Host(NamedTuple):
    """A name or an address (IPv6 without brackets), and a port; None: the usual ones."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        shown = f"[{self.name}]" if ":" in self.name else self.name
        return shown if self.port is None else f"{shown}:{self.port}"


def parse(text: str) -> Host:
    """A host as a spec names it: ``name``, ``name:port``, or an address in their place; ValueError with the mend."""
    mend = "write a plain name like deb.debian.org, or name:port"
    if "://" in text or "/" in text:
        raise ValueError(f"`{text}` is no host name; leave out scheme, path and mask: {mend}")
    if "*" in text:
        raise ValueError(f"`{text}`: there are no wildcards; name each host")
    host = _split(text.lower())
    if host is None or not (_is_address(host.name) or _is_name(host.name)):
        raise ValueError(f"`{text}` is no host name; {mend}")
    return host


def authority(text: str) -> Host:
    """Host and port of a request; ValueError when the port is missing or the host is none."""
    host = _split(text.lower())
    if host is None or host.port is None or not host.name:
        raise ValueError(f"{text[:300]!r} is no host and port")
    return Host(host.name.rstrip("."), host.port)


def names(hosts: Iterable[Host], wanted: Host) -> bool:
    """Whether `hosts` hold this very host, its port included."""
    return any(
        host.name == wanted.name and (wanted.port in USUAL_PORTS if host.port is None else host.port == wanted.port) for host in hosts
    )


def refused_address(name: str, address: str) -> str | None:
    """Why an address that `name` leads to is not to be reached; None: it may be.

    Whoever owns a name can let it lead anywhere, also into the networks around this machine. So an address there must be named itself.
    """
    found = _inner(ipaddress.ip_address(address.partition("%")[0]))
    if _is_address(name) or (name == "localhost" and found.is_loopback):
        return None
    if found.is_global and not found.is_multicast and not found.is_reserved:
        return None
    return f"{name} leads to {address}, inside; an address there must be named itself"


def _split(text: str) -> Host | None:
    """Name and port, as far as the form goes; None: it has none."""
    found = re.fullmatch(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[^:\[\]@]+))(?::(?P<port>[0-9]{1,5}))?", text, re.ASCII)
    if found is None or (found["six"] and not _is_address(found["six"])):
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port < 1 << 16:
        return None
    name = found["six"] or found["name"]
    return Host(str(ipaddress.ip_address(name)) if _is_address(name) else name, port)


def _is_name(name: str) -> bool:
    """A plain DNS name; what ends in a number would be read as an address in one of its old spellings."""
    labels = name.split(".")
    return len(name) <= _LONGEST_NAME and all(map(_LABEL.fullmatch, labels)) and not re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return "%" not in name


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The address that is reached in the end, where an IPv6 one only wraps it."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address
