"""TSIG records and their MACs (RFC 8945 sections 4 and 5.3).

Owns what is signed, in requests, replies and replies of many messages. Never decides what a fault is answered with.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from enum import IntEnum
from struct import Struct, error
from typing import Final

from server import rdtype
from server.transfer.key import Key
from server.transfer.name_reader import read_name
from zonemodel.name import WireName

FUDGE_S: Final = 300

_CLASS_ANY: Final = 255
_FIXED: Final = Struct("!HHIH")
_TIMES: Final = Struct("!HIH")
"""Time signed in 48 bits, and fudge."""
_LENGTH: Final = Struct("!H")
_TAIL: Final = Struct("!HHH")
"""Original ID, error and length of the other data."""


class TsigRcode(IntEnum):
    """The error field of a TSIG record (RFC 8945 section 3)."""

    NOERROR = 0
    BADSIG = 16
    BADKEY = 17
    BADTIME = 18
    BADTRUNC = 22


@dataclass(frozen=True, slots=True)
class Tsig:
    """The content of a TSIG record; names are lowercase."""

    key_name: WireName
    algorithm: WireName
    time_s: int
    fudge_s: int
    mac: bytes
    original_id: bytes
    error: int = TsigRcode.NOERROR
    other: bytes = b""

    @property
    def times(self) -> bytes:
        return _TIMES.pack(self.time_s >> 32, self.time_s & 0xFFFFFFFF, self.fudge_s)

    def with_mac(self, mac: bytes) -> Tsig:
        return replace(self, mac=mac)

    def variables(self) -> bytes:
        """Return what the MAC of a single message covers of the record (RFC 8945 section 4.3.3)."""
        head = self.key_name + _CLASS_ANY.to_bytes(2, "big") + bytes(4) + self.algorithm
        return head + self.times + self.error.to_bytes(2, "big") + _LENGTH.pack(len(self.other)) + self.other


def read_tsig(packet: bytes, position: int) -> Tsig:
    """Return the record that begins at `position` and ends the packet; raises ValueError for a wrong form."""
    key_name, position = read_name(packet, position)
    try:
        number, class_, ttl_s, size = _FIXED.unpack_from(packet, position)
        position += _FIXED.size
        if number != rdtype.TSIG or class_ != _CLASS_ANY or ttl_s or position + size != len(packet):
            raise ValueError("no TSIG record of class ANY and TTL 0 ends the message")
        algorithm, position = read_name(packet, position)
        high, low, fudge_s = _TIMES.unpack_from(packet, position)
        position += _TIMES.size
        (mac_bytes,) = _LENGTH.unpack_from(packet, position)
        position += _LENGTH.size
        mac = packet[position : position + mac_bytes]
        original_id, code, other_bytes = _TAIL.unpack_from(packet, position + mac_bytes)
    except error as cut:
        raise ValueError("a TSIG record is cut short") from cut
    other = packet[position + mac_bytes + _TAIL.size :]
    if len(other) != other_bytes:
        raise ValueError("the other data of a TSIG record have a wrong length")
    id_octets = original_id.to_bytes(2, "big")
    names = WireName(key_name.lower()), WireName(algorithm.lower())
    return Tsig(*names, high << 32 | low, fudge_s, mac, id_octets, code, other)


def append_tsig(message: bytes, tsig: Tsig) -> bytes:
    """Return the message with the record at its end and counted."""
    data = b"".join(
        (
            tsig.algorithm,
            tsig.times,
            _LENGTH.pack(len(tsig.mac)),
            tsig.mac,
            tsig.original_id,
            tsig.error.to_bytes(2, "big"),
            _LENGTH.pack(len(tsig.other)),
            tsig.other,
        )
    )
    additionals = int.from_bytes(message[10:12], "big") + 1
    record = tsig.key_name + _FIXED.pack(rdtype.TSIG, _CLASS_ANY, 0, len(data)) + data
    return message[:10] + additionals.to_bytes(2, "big") + message[12:] + record


def without_tsig(packet: bytes, tsig_at: int, original_id: bytes) -> bytes:
    """Return the message as it was before it was signed (RFC 8945 section 5.2)."""
    additionals = int.from_bytes(packet[10:12], "big") - 1
    return original_id + packet[2:10] + additionals.to_bytes(2, "big") + packet[12:tsig_at]


def tsig_bytes(key: Key) -> int:
    """Return how many octets a TSIG record of this key takes, without other data."""
    return (
        len(key.name) + _FIXED.size + len(key.algorithm.wire) + _TIMES.size + 2 + key.algorithm.mac_bytes + _TAIL.size
    )


class MacChain:
    """The MACs of the messages of one exchange, each covering the one before (RFC 8945 section 5.3.1).

    `prior` is the MAC of the request that is answered, empty for a request. A message may go without its own MAC: the next one
    covers it too.
    """

    def __init__(self, key: Key, prior: bytes = b"") -> None:
        self.key = key
        self._prior = prior
        self._unsigned = b""
        self._first = True

    def skip(self, message: bytes) -> None:
        """Count a message in that is not signed itself."""
        self._unsigned += message

    def mac(self, message: bytes, tsig: Tsig) -> bytes:
        """Return the whole MAC of the next message, whose TSIG record, all but the MAC, is given."""
        digest = hmac.new(self.key.secret, digestmod=getattr(hashlib, self.key.algorithm.hash_name))
        if self._prior:
            digest.update(_LENGTH.pack(len(self._prior)) + self._prior)
        if self._unsigned:
            digest.update(self._unsigned)
        digest.update(message)
        digest.update(tsig.variables() if self._first else tsig.times)
        return digest.digest()

    def advance(self, mac: bytes) -> None:
        """Go on to the message after the one that has this MAC."""
        self._prior, self._unsigned, self._first = mac, b"", False

    def sign(self, message: bytes, tsig: Tsig) -> bytes:
        """Return the next message with its record at the end."""
        mac = self.mac(message, tsig)
        self.advance(mac)
        return append_tsig(message, tsig.with_mac(mac))


def new_tsig(key: Key, message: bytes, time_s: float, fudge_s: int = FUDGE_S) -> Tsig:
    """Return the record that is to sign a message, without its MAC."""
    return Tsig(key.name, key.algorithm.wire, int(time_s), fudge_s, b"", message[:2])
