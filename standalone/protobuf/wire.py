"""The protocol buffer wire format: a message as a sequence of numbered fields.

Owns varints, lengths and field keys. Never knows what a field means.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum


class WireType(IntEnum):
    """How a field's value is laid out; the two group types are obsolete and refused."""

    VARINT = 0
    FIXED64 = 1
    LENGTH = 2
    FIXED32 = 5


_MAX_VARINT_BYTES = 10
_FIXED_BYTES = {WireType.FIXED64: 8, WireType.FIXED32: 4}


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order: number, and a raw varint as int or anything else as bytes.

    Raises ValueError when the message ends inside a field or uses a wire type that nobody sends.
    """
    position, end = 0, len(message)
    while position < end:
        key, position = _varint(message, position)
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise ValueError(f"field number 0 at byte {position}")
        if wire_type == WireType.VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if wire_type == WireType.LENGTH:
            size, position = _varint(message, position)
        elif wire_type in _FIXED_BYTES:
            size = _FIXED_BYTES[WireType(wire_type)]
        else:
            raise ValueError(f"field {number}: wire type {wire_type} is not supported")
        if position + size > end:
            raise ValueError(f"field {number}: {size} bytes announced, {end - position} left")
        yield number, message[position : position + size]
        position += size


def signed(value: int) -> int:
    """A varint as the two's complement 64-bit number that int32 and int64 fields hold."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = 0
    for count in range(_MAX_VARINT_BYTES):
        if position + count >= len(message):
            raise ValueError("the message ends inside a number")
        byte = message[position + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & ((1 << 64) - 1), position + count + 1
    raise ValueError(f"the number at byte {position} is longer than {_MAX_VARINT_BYTES} bytes")
