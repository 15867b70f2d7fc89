"""Single resource records, as transfers carry them and as files keep them.

Owns the order of a zone's records and their uncompressed octet form. Never compresses names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct, error
from typing import Final, NamedTuple

from server import rdtype
from server.zone.index import Sets, ZoneIndex
from zonemodel.name import WireName

_FIXED: Final = Struct("!HIH")
"""Type, TTL and length of the data: the class is always IN."""


class Record(NamedTuple):
    """One record of class IN; `owner` lowercase, `rdata` uncompressed."""

    owner: WireName
    rdtype: int
    ttl_s: int
    rdata: bytes


def records_of(sets: Sets) -> Iterator[Record]:
    """Yield the records of one owner. A signature has the TTL of the set that it covers (RFC 4034 section 3)."""
    for rrset in sets.values():
        if rrset.rdtype != rdtype.RRSIG:
            for rdata in rrset.rdatas:
                yield Record(rrset.owner, rrset.rdtype, rrset.ttl_s, rdata)
            continue
        for rdata in rrset.rdatas:
            covered = sets.get(int.from_bytes(rdata[:2], "big"))
            yield Record(rrset.owner, rrset.rdtype, (covered or rrset).ttl_s, rdata)


def zone_records(index: ZoneIndex) -> Iterator[Record]:
    """Yield a whole zone but for its SOA: the apex first, then the other owners in no promised order."""
    apex = index.origin
    yield from (record for record in records_of(index.at(apex)) if record.rdtype != rdtype.SOA)
    for owner, sets in index.sets.items():
        if owner != apex:
            yield from records_of(sets)


def soa_record(index: ZoneIndex) -> Record:
    rrset = index.at(index.origin)[rdtype.SOA]
    return Record(rrset.owner, rdtype.SOA, rrset.ttl_s, rrset.rdatas[0])


def encode_record(record: Record) -> bytes:
    """Return the form that `decode_records` reads."""
    owner, number, ttl_s, rdata = record
    return owner + _FIXED.pack(number, ttl_s, len(rdata)) + rdata


def encode_records(records: Iterable[Record]) -> bytes:
    return b"".join(map(encode_record, records))


def decode_records(octets: bytes) -> Iterator[Record]:
    """Yield the records that `encode_records` wrote; raises ValueError where they are cut short."""
    position, most = 0, len(octets)
    try:
        while position < most:
            end = position
            while length := octets[end]:
                end += length + 1
            owner = WireName(octets[position : end + 1])
            number, ttl_s, size = _FIXED.unpack_from(octets, end + 1)
            data_at = end + 1 + _FIXED.size
            position = data_at + size
            if position > most:
                raise ValueError("the data of a record are cut short")
            yield Record(owner, number, ttl_s, octets[data_at:position])
    except (IndexError, error) as cut:
        raise ValueError("a record is cut short") from cut
