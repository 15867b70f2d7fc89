"""The PROXY protocol, version 2: whom a proxy speaks for.

Owns the header's form. Which peers may send one, and must, is decided by an allow list: nothing else tells it from a query.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Final

SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_FIXED_BYTES: Final = 16
_LONGEST_BYTES: Final = 4096
"""More than proxies send with all their extensions; a header that claims more is none."""

_LOCAL, _PROXY = 0, 1
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""What IPv4 addresses begin with where a proxy listens on one socket for both (RFC 4291 section 2.5.5.2)."""

_FAMILIES: Final = {1: (socket.AF_INET, 4), 2: (socket.AF_INET6, 16)}


class ProxyError(Exception):
    """Octets that are no header of version 2. Stays inside the listeners: the packet or connection is dropped."""


@dataclass(frozen=True, slots=True)
class ProxyHeader:
    """`size` octets that stand before the first of the client; `client` is None when the proxy speaks for itself."""

    size: int
    client: tuple[str, int] | None


def decode_proxy_header(octets: bytes) -> ProxyHeader | None:
    """Return the header that begins the octets, None when more of it is to come; raises ProxyError."""
    if not SIGNATURE.startswith(octets[: len(SIGNATURE)]):
        raise ProxyError("the signature is missing")
    if len(octets) < _FIXED_BYTES:
        return None
    version, command = octets[12] >> 4, octets[12] & 0xF
    if version != 2 or command not in {_LOCAL, _PROXY}:
        raise ProxyError("the version or command is unknown")
    size = _FIXED_BYTES + int.from_bytes(octets[14:16], "big")
    if size > _LONGEST_BYTES:
        raise ProxyError("the header is too long")
    if len(octets) < size:
        return None
    family = _FAMILIES.get(octets[13] >> 4)
    if command == _LOCAL or family is None:
        return ProxyHeader(size, None)
    kind, address_bytes = family
    ports_at = _FIXED_BYTES + 2 * address_bytes
    if size < ports_at + 4:
        raise ProxyError("the addresses are cut short")
    address = octets[_FIXED_BYTES : _FIXED_BYTES + address_bytes]
    if kind == socket.AF_INET6 and address.startswith(_MAPPED):
        kind, address = socket.AF_INET, address.removeprefix(_MAPPED)
    return ProxyHeader(size, (socket.inet_ntop(kind, address), int.from_bytes(octets[ports_at : ports_at + 2], "big")))
