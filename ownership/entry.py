"""One entry of a snapshot: a marker's name and its text, kept as they are.

Owns what makes an entry valid. Never rewrites a marker that somebody else wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ownership.error import FormatError
from ownership.marker import Marker, parse_marker, write_marker
from ownership.member import Member, MemberType, members_of
from ownership.naming import MARKER_LABEL, OwnerID, marked_name, marker_name, quoted
from zonemodel.name import Fqdn
from zonemodel.record import RecordBodies

NAME_MAX_CHARS: Final = 300
"""Longer than any marker name; what is longer is refused before it is looked at."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A claim: `name` is a marker name, `value` a marker that tells its record. Sorted by both, as pages are."""

    name: str
    value: str
    marker: Marker = field(compare=False, repr=False)

    @property
    def fqdn(self) -> Fqdn:
        """The name of the record set that the claim is about."""
        return Fqdn(self.name.removeprefix(f"{MARKER_LABEL}."))

    @property
    def owner(self) -> OwnerID:
        return self.marker.owner

    @property
    def type(self) -> MemberType:
        return self.marker.member.type


def read_entry(name: str, value: str) -> Entry:
    """Return an entry; raises FormatError for a name that is not normalized and for a marker that tells no record."""
    if len(name) > NAME_MAX_CHARS:
        raise FormatError(f"found a name of {len(name)} characters, allowed are {NAME_MAX_CHARS}")
    marked_name(name)
    marker = parse_marker(value)
    if marker is None:
        raise FormatError(f"{quoted(name)}: found the value {quoted(value)}, allowed is a marker")
    if not isinstance(marker, Marker):
        raise FormatError(f"{quoted(name)}: found a marker that does not tell which record is claimed: {marker.reason}")
    return Entry(name, value, marker)


def claim(owner: OwnerID, fqdn: Fqdn, member: Member, metadata: Mapping[str, str] | None = None) -> Entry:
    """Return the entry of a claim to one record; raises FormatError for what the format cannot carry."""
    marker = Marker(owner, member, tuple(sorted((metadata or {}).items())))
    return read_entry(marker_name(fqdn), write_marker(marker))


def claims(owner: OwnerID, fqdn: Fqdn, bodies: RecordBodies) -> tuple[Entry, ...]:
    """Return the claims to all records of a record set, sorted."""
    return sorted_entries(claim(owner, fqdn, member) for member in members_of(bodies))


def sorted_entries(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return entries as snapshots have them: each once, by name and then by value."""
    return tuple(sorted(set(entries)))
