"""Other name servers: where they are and which key is shared with them, in the spelling ADDRESS[:PORT][#KEY].

Owns the spelling. Never resolves a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from server.address import Address
from server.text import name_text
from server.transfer.key import key_name
from zonemodel.name import WireName

DNS_PORT: Final = 53
ALLOWED: Final = "ADDRESS[:PORT][#KEY], such as 192.0.2.1, [2001:db8::1]:5300 or 192.0.2.1:5300#transfer.example"

_WITH_PORT: Final = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<v4>[0-9.]+)):(?P<port>[0-9]{1,5})\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """A name server; `key` is the name of the key that messages to it are signed with, None for none."""

    address: Address
    key: WireName | None = None

    @property
    def host(self) -> str:
        return self.address.host

    def __str__(self) -> str:
        return str(self.address) + (f"#{name_text(self.key)}" if self.key is not None else "")


def parse_target(text: str) -> Target:
    """Return what a text means; raises ValueError, which names it and what is allowed."""
    place, mark, key = text.partition("#")
    try:
        return Target(_address(place), key_name(key) if mark else None)
    except ValueError as error:
        raise ValueError(f"found {text!r} ({error}), allowed is {ALLOWED}") from error


def _address(text: str) -> Address:
    found = _WITH_PORT.match(text)
    if found is None:
        bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        ip_address(bare.partition("%")[0])
        return Address(bare, DNS_PORT)
    host, port = found["v6"] or found["v4"], int(found["port"])
    if not 1 <= port <= 65535:
        raise ValueError(f"the port {port} is none")
    version = ip_address(host.partition("%")[0]).version
    if (found["v6"] is not None) != (version == 6):
        raise ValueError("brackets stand around IPv6 addresses alone")
    return Address(host, port)
