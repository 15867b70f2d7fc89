"""A resource record set as wire data, of any type (RFC 2181 section 5).

Owns the value that master files, snapshots and the name server share. Never interprets rdata.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from zonemodel.name import WireName

_MESSAGE_OCTETS: Final = 65535
_BESIDE_ANSWER_OCTETS: Final = 12 + 255 + 4 + 11
"""Header, longest question and OPT record."""
_RECORD_OCTETS: Final = 12
"""A record beside its data, its owner compressed."""

ANSWER_MAX_OCTETS: Final = _MESSAGE_OCTETS - _BESIDE_ANSWER_OCTETS
"""The longest set that an answer can hold whatever the question, even over TCP (RFC 1035 section 4.2.2)."""


@dataclass(frozen=True, slots=True)
class RRset:
    """One owner and type; `owner` is lowercase, `ttl_s` at most 2**31-1, every rdata uncompressed and the set free of duplicates."""

    owner: WireName
    rdtype: int
    ttl_s: int
    rdatas: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ZoneData:
    """A whole zone as wire data: `origin` lowercase, `rrsets` in no promised order, exactly one SOA and it is at the origin.

    `warnings` say what a reader put right, `left_out` how many record sets it left out; they are no part of the zone's value.
    """

    origin: WireName
    rrsets: tuple[RRset, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
    left_out: int = field(default=0, compare=False)


def answer_octets(rdatas: Iterable[bytes]) -> int:
    """Return how many octets a set of these rdatas takes in an answer."""
    return sum(len(rdata) + _RECORD_OCTETS for rdata in rdatas)
