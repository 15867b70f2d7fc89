"""IP addresses, networks and URLs as rules see them.

Owns what parses and what its parts are, in Go's sense where Python's differs. All of them are passed around as text.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from standalone.schema.gotext import quote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface
"""An address with a prefix length: rules keep the address of `10.0.0.5/8` until they ask for the masked one."""


def parse_address(text: str) -> Address:
    """Return the address; raise ValueError for anything else, zones and IPv4-mapped addresses included."""
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError as fault:
        raise ValueError(f"IP Address {quote(text)} parse error during conversion from string: {fault}") from fault
    if isinstance(parsed, ipaddress.IPv6Address) and (parsed.scope_id or parsed.ipv4_mapped):
        raise ValueError(f"IP Address {quote(text)} must not have a zone or be an IPv4-mapped IPv6 address")
    return parsed


def parse_network(text: str) -> Network:
    """Return address and prefix; raise ValueError when either is missing or wrong."""
    if "/" not in text:
        raise ValueError(f"network address parse error during conversion from string: {quote(text)} has no prefix")
    return ipaddress.ip_interface(text)


def parse_url(text: str) -> SplitResult:
    """Return the parts of an absolute URL or an absolute path; raise ValueError for anything else."""
    parts = urlsplit(text)
    if not parts.scheme and not text.startswith("/"):
        raise ValueError(f"URL parse error during conversion from string: {quote(text)} has neither scheme nor root")
    _ = parts.port  # reading it is what finds a port that is no number
    return parts


def parses(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    """Return the predicate that says whether `parse` takes a text."""

    def accepted(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return accepted


def contains_address(outer: str, inner: str) -> bool:
    return parse_address(inner) in parse_network(outer).network


def contains_network(outer: str, inner: str) -> bool:
    wide, narrow = parse_network(outer).network, parse_network(inner).network
    return wide.version == narrow.version and narrow.prefixlen >= wide.prefixlen and narrow.network_address in wide


def is_link_local_multicast(text: str) -> bool:
    parsed = parse_address(text)
    return parsed in ipaddress.ip_network("224.0.0.0/24" if parsed.version == 4 else "ff02::/16")


def is_global_unicast(text: str) -> bool:
    """Go's meaning: every unicast address but the unspecified, loopback, link-local and broadcast ones."""
    parsed = parse_address(text)
    broadcast = parsed == ipaddress.ip_address("255.255.255.255")
    return not (parsed.is_unspecified or parsed.is_loopback or parsed.is_multicast or parsed.is_link_local or broadcast)


def url_host(text: str) -> str:
    """Return host and port as written, without user information."""
    return parse_url(text).netloc.rpartition("@")[2]


def url_port(text: str) -> str:
    port = parse_url(text).port
    return "" if port is None else str(port)


def url_query(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in filter(None, parse_url(text).query.split("&")):
        name, _, value = pair.partition("=")
        found.setdefault(name, []).append(value)
    return found
