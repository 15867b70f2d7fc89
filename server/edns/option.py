"""EDNS options as octets (RFC 6891 section 6.1.2).

Owns their numbers and their framing. Never gives them a meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

NSID: Final = 3
COOKIE: Final = 10
KEEPALIVE: Final = 11
PADDING: Final = 12
EXTENDED_ERROR: Final = 15

HEADER_BYTES: Final = 4


def encode_option(code: int, data: bytes = b"") -> bytes:
    """Return one option."""
    return code.to_bytes(2, "big") + len(data).to_bytes(2, "big") + data


def decode_options(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield code and data of each option; raises ValueError when the last one is cut short."""
    position = 0
    while position < len(octets):
        data_at = position + HEADER_BYTES
        end = data_at + int.from_bytes(octets[position + 2 : data_at], "big")
        if data_at > len(octets) or end > len(octets):
            raise ValueError("an EDNS option is cut short")
        yield int.from_bytes(octets[position : position + 2], "big"), octets[data_at:end]
        position = end
