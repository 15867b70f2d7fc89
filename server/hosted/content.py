"""The record sets of a snapshot as canonical lines of JSON: what digests cover, and what differs between two versions.

Owns the line form, which is small to keep, quick to compare, and read in full only where something changed. Never sees API objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server import rdtype
from server.text import name_text, type_text
from server.zone.index import Changes
from zonemodel.canonical import encode_canonical
from zonemodel.hosted_zone import SOA, HostedRecordSet, NameServer, Transfer
from zonemodel.name import Fqdn, WireName, to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.snapshot import Snapshot, record_set_rrset, rrsets, snapshot_digest

Line = bytes
SetKey = tuple[WireName, int]
"""Owner and type of an RRset."""


@dataclass(frozen=True, slots=True)
class PageLines(Collection[Line]):
    """The sorted lines of one page, as the one piece of `text` that digests cover: a zone keeps them as long as it is served."""

    text: bytes

    @classmethod
    def of(cls, lines: Iterable[Line]) -> PageLines:
        """Join sorted lines."""
        return cls(b"\n".join(lines))

    @property
    def digest(self) -> str:
        """The digest that `zonemodel.snapshot.record_sets_digest` gives for these record sets."""
        return "sha256:" + hashlib.sha256(self.text).hexdigest()

    def __iter__(self) -> Iterator[Line]:
        return iter(self.text.split(b"\n") if self.text else ())

    def __len__(self) -> int:
        return self.text.count(b"\n") + 1 if self.text else 0

    def __contains__(self, line: object) -> bool:
        return line in tuple(self)


@dataclass(frozen=True, slots=True)
class Lines:
    """One page's record sets and the digest of them all."""

    digest: str
    lines: PageLines


def read_lines(record_sets: Sequence[Mapping[str, Any]], is_expected: Callable[[str], bool]) -> Lines:
    """Return the lines of record sets as they stand in an API object; their order does not matter.

    Where `is_expected` does not know their digest, they are brought into the canonical form first, without fields that are null or
    that a server added; what digest comes out then is the caller's to judge. Raises ValueError for record sets that are none.
    """
    found = _lines(encode_canonical(each) for each in record_sets)
    if not is_expected(found.digest):
        parsed = (HostedRecordSet.model_validate(each) for each in record_sets)
        found = _lines(encode_canonical(each.dump()) for each in parsed)
    return found


def _lines(lines: Iterable[Line]) -> Lines:
    page = PageLines.of(sorted(lines))
    return Lines(page.digest, page)


@dataclass(frozen=True, slots=True)
class Head:
    """What a snapshot says about its zone beside the record sets."""

    domain: Fqdn
    serial: int
    soa: SOA
    name_servers: tuple[NameServer, ...]
    transfer: Transfer

    def digest_with(self, page_digests: Iterable[str]) -> str:
        """Return the digest that names the snapshot of this head and these pages."""
        return snapshot_digest(self.domain, self.soa, self.name_servers, self.transfer, page_digests)

    def rrsets(self) -> dict[SetKey, RRset]:
        """Return what the head itself makes: SOA, apex NS and the addresses of name servers inside the zone.

        Raises ValueError when a value has no wire form.
        """
        bare = Snapshot(self.domain, self.serial, self.soa, self.name_servers, self.transfer, "", {})
        return {(rrset.owner, rrset.rdtype): rrset for rrset in rrsets(bare)}


@dataclass(frozen=True, slots=True)
class Content:
    """One whole snapshot, every digest checked; `pages` are its lines by digest."""

    head: Head
    digest: str
    pages: Mapping[str, PageLines]

    def zone_data(self) -> ZoneData:
        """Return the whole zone as wire data; raises ValueError when a value has no wire form or a set stands twice."""
        sets: dict[SetKey, RRset] = {}
        for line in (line for lines in self.pages.values() for line in lines):
            _put_once(sets, rrset_of(line, self.head.domain))
        return ZoneData(to_wire(self.head.domain), tuple({**self.head.rrsets(), **sets}.values()))


@dataclass(frozen=True, slots=True)
class LineDifference:
    """The lines that only one of two versions has."""

    gone: frozenset[Line]
    new: frozenset[Line]

    def __len__(self) -> int:
        return len(self.gone) + len(self.new)


def line_difference(old: Content, new: Content) -> LineDifference:
    """Compare two versions; pages that both have are not looked into."""
    before = {line for digest, lines in old.pages.items() if digest not in new.pages for line in lines}
    after = {line for digest, lines in new.pages.items() if digest not in old.pages for line in lines}
    return LineDifference(frozenset(before - after), frozenset(after - before))


def made_alike(old: Head, new: Head) -> bool:
    """Say whether two heads of one domain make the same RRsets save for the SOA; raises ValueError as `Head.rrsets` does."""
    soa = (to_wire(new.domain), rdtype.SOA)
    made_old, made_new = old.rrsets(), new.rrsets()
    return {**made_old, soa: None} == {**made_new, soa: None}


def changes_between(head: Head, difference: LineDifference, present: Callable[[SetKey], RRset | None]) -> Changes:
    """Return what turns the RRsets of the old version, which `present` finds, into those of the new one, whose head is given.

    The heads of both must be `made_alike`. Raises ValueError when a value has no wire form or a set stands twice.
    """
    made = head.rrsets()
    soa = made.pop((to_wire(head.domain), rdtype.SOA))
    removed = {(rrset.owner, rrset.rdtype) for rrset in (rrset_of(line, head.domain) for line in difference.gone)}
    put: dict[SetKey, RRset] = {}
    for line in difference.new:
        rrset = rrset_of(line, head.domain)
        key = (rrset.owner, rrset.rdtype)
        if key not in removed and present(key) != made.get(key):
            raise _twice(rrset)
        _put_once(put, rrset)
    uncovered = {key: made[key] for key in removed - put.keys() if key in made}
    return Changes((soa, *put.values(), *uncovered.values()), tuple(removed - put.keys() - uncovered.keys()))


def _put_once(sets: dict[SetKey, RRset], rrset: RRset) -> None:
    if sets.setdefault((rrset.owner, rrset.rdtype), rrset) is not rrset:
        raise _twice(rrset)


def _twice(rrset: RRset) -> ValueError:
    return ValueError(f"the record set {name_text(rrset.owner)} {type_text(rrset.rdtype)} stands twice in the snapshot")


def rrset_of(line: Line, domain: Fqdn) -> RRset:
    """Return a line's record set as wire data; raises ValueError when a value has no wire form."""
    return record_set_rrset(HostedRecordSet.model_validate_json(line), domain)
