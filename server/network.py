"""Addresses of clients: sets of networks for allow lists, and the octets of one address.

Owns nothing else. Never resolves a name.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

_REMEMBERED: Final = 10_000
"""Addresses whose membership is remembered, so that a busy client is looked up once."""


class Networks:
    """A set of IPv4 and IPv6 networks; `host in networks` takes the numeric text that sockets give, a zone index included."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network] = ()) -> None:
        self._networks = tuple(networks)
        self._holds = lru_cache(_REMEMBERED)(self._search)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Networks:
        """Read addresses and networks such as 192.0.2.0/24; raises ValueError, which names the text that is neither."""
        return cls(_network(text) for text in texts)

    def __contains__(self, host: str) -> bool:
        return self._holds(host)

    def __iter__(self) -> Iterator[IPv4Network | IPv6Network]:
        return iter(self._networks)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __str__(self) -> str:
        return ", ".join(map(str, self._networks)) or "none"

    def _search(self, host: str) -> bool:
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            return False  # a peer without an address, such as one that is gone already
        return any(address in network for network in self._networks)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise ValueError(
            f"found {text!r} ({error}), allowed is an address or a network, such as 192.0.2.1 or 2001:db8::/32"
        ) from error


def address_octets(host: str) -> bytes:
    """Return the 4 or 16 octets of a numeric address; raises OSError for any other text."""
    if ":" not in host:
        return socket.inet_pton(socket.AF_INET, host)
    return socket.inet_pton(socket.AF_INET6, host.partition("%")[0])


LOOPBACK: Final = Networks.parse(("127.0.0.0/8", "::1"))
EVERYBODY: Final = Networks.parse(("0.0.0.0/0", "::/0"))
