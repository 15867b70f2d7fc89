"""What differs between two versions of a zone: the unit of IXFR (RFC 1995 section 4) and of the journal.

Owns finding, joining and storing differences. Pure; never looks at a serial's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct, error
from typing import Final

from server import rdtype
from server.transfer.record import Record, decode_records, encode_record, encode_records, records_of, soa_record
from server.transfer.serial import read_soa
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

_LENGTHS: Final = Struct("!III")


@dataclass(frozen=True, slots=True)
class Difference:
    """From the version of one SOA to that of another; the SOA records are not among `removed` and `added`."""

    old_soa: Record
    new_soa: Record
    removed: tuple[Record, ...]
    added: tuple[Record, ...]

    @property
    def since(self) -> int:
        """The serial that it starts from."""
        return read_soa(self.old_soa.rdata).serial

    @property
    def until(self) -> int:
        """The serial that it leads to."""
        return read_soa(self.new_soa.rdata).serial

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs, not even the SOA."""
        return self.old_soa == self.new_soa and not self.removed and not self.added

    def as_records(self) -> list[Record]:
        """Return what stands for it in an IXFR reply."""
        return [self.old_soa, *self.removed, self.new_soa, *self.added]


def difference_between(before: ZoneIndex, after: ZoneIndex, owners: Iterable[WireName] | None = None) -> Difference:
    """Compare two versions of one zone; `owners` are the only ones that can differ, None when any can."""
    removed: list[Record] = []
    added: list[Record] = []
    for owner in sorted(_differing(before, after) if owners is None else owners):
        old, new = dict.fromkeys(records_of(before.at(owner))), dict.fromkeys(records_of(after.at(owner)))
        removed += (record for record in old if record not in new and record.rdtype != rdtype.SOA)
        added += (record for record in new if record not in old and record.rdtype != rdtype.SOA)
    return Difference(soa_record(before), soa_record(after), tuple(removed), tuple(added))


def _differing(before: ZoneIndex, after: ZoneIndex) -> set[WireName]:
    old, new = before.sets, after.sets
    found = {owner for owner, sets in new.items() if (was := old.get(owner)) is not sets and was != sets}
    found.update(owner for owner in old if owner not in new)
    return found


def condense(differences: Sequence[Difference]) -> Difference:
    """Join differences that follow one another into one without steps between (RFC 1995 section 5)."""
    removed: dict[Record, None] = {}
    added: dict[Record, None] = {}
    for each in differences:
        _cancel(each.removed, added, removed)
        _cancel(each.added, removed, added)
    return Difference(differences[0].old_soa, differences[-1].new_soa, tuple(removed), tuple(added))


def _cancel(records: Iterable[Record], opposite: dict[Record, None], same: dict[Record, None]) -> None:
    for record in records:
        if record in opposite:
            del opposite[record]
        else:
            same[record] = None


def encode_difference(difference: Difference) -> bytes:
    """Return the form that `decode_difference` reads."""
    parts = (encode_record(difference.old_soa), encode_record(difference.new_soa), encode_records(difference.removed))
    return b"".join((_LENGTHS.pack(*map(len, parts)), *parts, encode_records(difference.added)))


def decode_difference(octets: bytes) -> Difference:
    """Raises ValueError for octets that `encode_difference` did not write."""
    try:
        lengths = _LENGTHS.unpack_from(octets)
    except error as cut:
        raise ValueError("a difference is cut short") from cut
    parts, position = [], _LENGTHS.size
    for length in lengths:
        parts.append(tuple(decode_records(octets[position : position + length])))
        position += length
    (old_soa,), (new_soa,), removed = parts
    return Difference(old_soa, new_soa, removed, tuple(decode_records(octets[position:])))
