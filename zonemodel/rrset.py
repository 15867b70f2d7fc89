"""A resource record set as wire data, of any type (RFC 2181 section 5).

Owns the value that master files, snapshots and the name server share. Never interprets rdata.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from zonemodel.name import WireName


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

    `warnings` say what a reader put right; they are no part of the zone's value.
    """

    origin: WireName
    rrsets: tuple[RRset, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
