"""TXT record data between its wire form and one joined value (RFC 1035 sections 3.3 and 3.3.14).

Owns splitting and joining only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

STRING_OCTETS: Final = 255


def split(value: bytes) -> tuple[bytes, ...]:
    """Return the character-strings of a value, as few as possible and at least one."""
    return tuple(value[at : at + STRING_OCTETS] for at in range(0, len(value), STRING_OCTETS)) or (b"",)


def encode(value: bytes) -> bytes:
    """Return the wire form of a value."""
    return b"".join(bytes((len(each),)) + each for each in split(value))


def join(rdata: bytes) -> bytes:
    """Return the value of a wire form, however it is split."""
    return b"".join(_strings(rdata))


def _strings(rdata: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(rdata):
        end = at + 1 + rdata[at]
        yield rdata[at + 1 : end]
        at = end
