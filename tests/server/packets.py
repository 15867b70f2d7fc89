"""Packets that are nearly queries: what other programs send by mistake or on purpose."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

NAMES = [
    b"\x05short\x03ent\x04test\x00",
    b"\x03mid\x03top\x03ent\x04test\x00",
    b"\x01x\x04star\x04test\x00",
    b"\x03www\x03old\x08redirect\x04test\x00",
    b"\x01x\x06inside\x03cut\x04test\x00",
    b"\x04huge\x05large\x04test\x00",
    b"\x06loop-a\x05alias\x04test\x00",
    b"\x04nsec\x06signed\x04test\x00",
    b"\x01x\x05nsec3\x06signed\x04test\x00",
    b"\x07version\x04bind\x00",
    b"\x06nobody\x07invalid\x00",
    b"\x3f" + b"a" * 63 + b"\x3f" + b"b" * 63 + b"\x3f" + b"c" * 63 + b"\x04test\x00",
    b"\x00",
]
TYPES = [
    0,
    1,
    2,
    5,
    6,
    12,
    15,
    16,
    28,
    33,
    39,
    41,
    43,
    46,
    47,
    48,
    50,
    64,
    65,
    128,
    249,
    250,
    251,
    252,
    253,
    254,
    255,
    257,
    65280,
]
OPTIONS = [
    b"\x00\x03\x00\x00",
    b"\x00\x0a\x00\x08abcdefgh",
    b"\x00\x0a\x00\x18abcdefgh\x01\x00\x00\x00\x5c\xf7\x9f\x11zyxwvuts",
    b"\x00\x0b\x00\x00",
    b"\x00\x0c\x00\x10" + bytes(16),
    b"\x00\x08\x00\x07\x00\x01\x18\x00\xc0\x00\x02",
    b"\xfd\xe9\x00\x04data",
]
TSIG = (
    b"\x03key\x00\x00\xfa\x00\xff\x00\x00\x00\x00\x00\x1b\x0bhmac-sha256\x00"
    b"\x00\x00\x5c\xf7\x9f\x11\x01\x2c\x00\x00\x00\x00\x00\x00\x00\x00"
)


def query(rng: random.Random) -> bytes:
    """A query that is well-formed, of any kind that the server tells apart."""
    flags = rng.choice([0, 0, 0, 0x0100, 0x0110, 0x2000, 0x2800, 0x7800])
    question = rng.choice(NAMES) + struct.pack("!HH", rng.choice(TYPES), rng.choice([1, 1, 1, 1, 3, 254, 255]))
    extra, count = b"", 0
    if rng.random() < 0.6:
        options = b"".join(rng.sample(OPTIONS, rng.randrange(3)))
        payload, version, do = rng.choice([0, 512, 1232, 4096]), rng.choice([0, 0, 0, 1]), rng.choice([0, 0x8000])
        extra = struct.pack("!BHHBBHH", 0, 41, payload, 0, version, do, len(options))
        extra += options
        count = 1
    if rng.random() < 0.05:
        extra, count = extra + TSIG, count + 1
    return struct.pack("!6H", 0, flags, 1, 0, 0, count) + question + extra


def _set(packet: bytearray, rng: random.Random) -> None:
    packet[rng.randrange(len(packet))] = rng.choice([0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xC0, 0xFF, rng.randrange(256)])


def _flip(packet: bytearray, rng: random.Random) -> None:
    packet[rng.randrange(len(packet))] ^= 1 << rng.randrange(8)


def _cut(packet: bytearray, rng: random.Random) -> None:
    del packet[rng.randrange(len(packet)) :]


def _drop(packet: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(packet))
    del packet[at : at + rng.randrange(1, 8)]


def _repeat(packet: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(packet))
    packet[at:at] = packet[at : at + rng.randrange(1, 64)] * rng.choice([1, 1, 2, 8])


def _append(packet: bytearray, rng: random.Random) -> None:
    packet += rng.randbytes(rng.randrange(1, 64))


def _count(packet: bytearray, rng: random.Random) -> None:
    if len(packet) >= 12:
        at = 4 + 2 * rng.randrange(4)
        packet[at : at + 2] = rng.choice([0, 1, 2, 3, 255, 65535]).to_bytes(2, "big")


def _point(packet: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(packet))
    packet[at : at + 2] = (0xC000 | rng.randrange(len(packet) + 2)).to_bytes(2, "big")


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    _set,
    _flip,
    _cut,
    _drop,
    _repeat,
    _append,
    _count,
    _point,
]


def mutated(rng: random.Random) -> bytes:
    """A query after one or a few accidents, now and then something that never was one."""
    if rng.random() < 0.02:
        return rng.randbytes(rng.randrange(600))
    packet = bytearray(query(rng))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        if packet:
            rng.choice(MUTATIONS)(packet, rng)
    return bytes(packet)
