"""Domain names in messages that others wrote, compressed or not (RFC 1035 section 4.1.4).

Owns the bounds that keep a name finite: pointers lead strictly back, and no name takes more than 255 octets.
"""

from __future__ import annotations

from typing import Final

from zonemodel.name import MAX_LABEL_OCTETS, MAX_NAME_OCTETS, WireName

_POINTER: Final = 0xC0


def read_name(packet: bytes, position: int, known: dict[int, bytes] | None = None) -> tuple[WireName, int]:
    """Return the uncompressed name at `position`, its case as it stands, and where it ends.

    `known` remembers the names that pointers of one packet lead to. Raises ValueError.
    """
    start = position
    try:
        labels, position, target = _labels(packet, position, start)
        if target is None:
            name = labels + b"\0"
        else:
            rest = known.get(target) if known is not None else None
            if rest is None:
                rest = _follow(packet, target)
                if known is not None:
                    known[target] = rest
            name = labels + rest
    except IndexError as error:
        raise ValueError("a name is cut short") from error
    if len(name) > MAX_NAME_OCTETS:
        raise ValueError(f"a name takes more than {MAX_NAME_OCTETS} octets")
    return WireName(name), position


def _follow(packet: bytes, target: int) -> bytes:
    name = b""
    following: int | None = target
    while following is not None:
        more, _, following = _labels(packet, following, following)
        name += more
        if len(name) > MAX_NAME_OCTETS:
            raise ValueError(f"a name takes more than {MAX_NAME_OCTETS} octets")
    return name + b"\0"


def _labels(packet: bytes, position: int, start: int) -> tuple[bytes, int, int | None]:
    """Return the labels up to the root label or a pointer, the place behind it, and where the pointer leads."""
    begin = position
    while length := packet[position]:
        if length >= _POINTER:
            target = (length & 0x3F) << 8 | packet[position + 1]
            if target >= start:
                raise ValueError("a compression pointer does not lead back")
            return packet[begin:position], position + 2, target
        if length > MAX_LABEL_OCTETS:
            raise ValueError("a label type is unknown")
        position += length + 1
    return packet[begin:position], position + 1, None
