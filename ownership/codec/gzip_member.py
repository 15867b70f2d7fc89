"""One gzip member (RFC 1952) that is the same wherever and whenever it is made.

Owns header and trailer, and the bound on what comes out. Never more than one member, never a name or a time.
"""

from __future__ import annotations

import zlib
from typing import Final

from ownership.error import FormatError

_LEVEL: Final = 9
_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""Deflate, no flags, no time, slowest compression, unknown system: nothing tells of the process."""
_TRAILER_BYTES: Final = 8

OVERHEAD_BYTES: Final = len(_HEADER) + _TRAILER_BYTES


def compress(content: bytes) -> bytes:
    """Return the member that holds `content`."""
    return _HEADER + deflate(content) + _trailer(content)


def deflate(content: bytes) -> bytes:
    """Return the compressed octets (RFC 1951) alone."""
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(content) + stream.flush()


def expand(member: bytes, limit_bytes: int, what: str) -> bytes:
    """Return the content, at most `limit_bytes` of it, stopping as soon as there is more; raises FormatError."""
    _check_header(member, what)
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(member[len(_HEADER) :], limit_bytes + 1)
    except zlib.error as error:
        raise FormatError(f"{what}: found no deflate stream ({error})") from error
    if len(content) > limit_bytes:
        raise FormatError(f"{what}: found more than {limit_bytes} octets in it, allowed are {limit_bytes}")
    if not stream.eof:
        raise FormatError(f"{what}: found a deflate stream that is cut short")
    trailer = stream.unused_data
    if len(trailer) > _TRAILER_BYTES:
        raise FormatError(
            f"{what}: found {len(trailer) - _TRAILER_BYTES} octets after the gzip member, allowed are none"
        )
    if trailer != _trailer(content):
        raise FormatError(f"{what}: found a gzip trailer that does not match the content")
    return content


def _check_header(member: bytes, what: str) -> None:
    if member[:3] != _HEADER[:3]:
        raise FormatError(f"{what}: found no gzip member (RFC 1952)")
    if len(member) < OVERHEAD_BYTES:
        raise FormatError(f"{what}: found a gzip member of {len(member)} octets, which is cut short")
    if member[3]:
        raise FormatError(f"{what}: found the gzip flags {member[3]:#04x}, allowed are none")
    if any(member[4:8]):
        raise FormatError(f"{what}: found a time in the gzip header, allowed is none")


def _trailer(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
