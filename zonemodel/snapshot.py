"""A hosted zone's complete content as one immutable value: its digests, its pages and its record sets on the wire.

Owns what a digest covers and how record sets are spread over pages. Never reads or writes HostedZone objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from zonemodel.canonical import encode_canonical
from zonemodel.hosted_zone import SOA, HostedRecordSet, HostedZoneSpec, NameServer, Page, Transfer
from zonemodel.name import Fqdn, OwnerName, owner_fqdn, relative_to, to_wire
from zonemodel.record import RecordType, bodies_present, encode_bodies
from zonemodel.rrset import RRset

SOA_CODE: Final = 6
INLINE_LIMIT_BYTES: Final = 64 * 1024
PAGE_TARGET_BYTES: Final = 256 * 1024


class SnapshotError(ValueError):
    """A manifest or page that cannot be served; the message says what is wrong with which object."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a name server needs to answer for one zone. `pages` maps each page's digest to its record sets."""

    domain_name: Fqdn
    serial: int
    soa: SOA
    name_servers: tuple[NameServer, ...]
    transfer: Transfer
    digest: str
    pages: Mapping[str, tuple[HostedRecordSet, ...]]

    @property
    def record_sets(self) -> Iterator[HostedRecordSet]:
        return (record_set for page in self.pages.values() for record_set in page)


@dataclass(frozen=True, slots=True)
class MissingPages:
    """The pages that a manifest counts in and that have not been seen yet."""

    names: tuple[str, ...]


def record_sets_digest(record_sets: Iterable[HostedRecordSet]) -> str:
    """Return the digest of a page's record sets; their order does not matter."""
    lines = sorted(encode_canonical(each.dump()) for each in record_sets)
    return _sha256(b"\n".join(lines))


def snapshot_digest(
    domain_name: Fqdn, soa: SOA, name_servers: Sequence[NameServer], transfer: Transfer, page_digests: Iterable[str]
) -> str:
    """Return the digest that names a snapshot: its head and the digests of its pages, whatever their order."""
    head = {
        "domainName": domain_name,
        "soa": soa.dump(),
        "nameServers": sorted((server.dump() for server in name_servers), key=lambda server: str(server["name"])),
        "transfer": transfer.dump(),
        "pages": sorted(page_digests),
    }
    return _sha256(encode_canonical(head))


def spread(record_sets: Iterable[HostedRecordSet], page_count: int) -> list[tuple[HostedRecordSet, ...]]:
    """Spread record sets over `page_count` pages by a stable hash of the owner name; empty pages are left out.

    An edit of one owner touches one page as long as the count stays.
    """
    pages: dict[int, list[HostedRecordSet]] = {}
    for each in record_sets:
        pages.setdefault(_bucket(each.name, page_count), []).append(each)
    return [tuple(sorted(pages[index], key=lambda each: (each.name, each.type))) for index in sorted(pages)]


def page_count_for(size_bytes: int, current: int) -> int:
    """Return how many pages hold `size_bytes` of JSON: 0 for inline, else a power of two.

    `current` is the count in use (0 for inline): it is kept until pages would be twice too large or a quarter of the
    target, so that a zone at a boundary is not spread anew at each edit.
    """
    if size_bytes <= (INLINE_LIMIT_BYTES if not current else INLINE_LIMIT_BYTES // 2):
        return 0
    if (
        current
        and size_bytes // current <= 2 * PAGE_TARGET_BYTES
        and (current == 1 or size_bytes // current >= PAGE_TARGET_BYTES // 4)
    ):
        return current
    count = 1
    while size_bytes // count > PAGE_TARGET_BYTES:
        count *= 2
    return count


def assemble(manifest: HostedZoneSpec, pages: Mapping[str, Page]) -> Snapshot | MissingPages:
    """Put a manifest and its pages (by object name) together, checking every digest.

    Raises SnapshotError when the manifest lacks a field, a page holds something else than its digest says, or the whole
    does not have the digest that the manifest names.
    """
    domain_name, soa, serial, digest = manifest.domain_name, manifest.soa, manifest.serial, manifest.digest
    if domain_name is None or soa is None or serial is None or digest is None:
        raise SnapshotError("a manifest needs spec.domainName, spec.soa, spec.serial and spec.digest")
    missing = tuple(ref.name for ref in manifest.pages if ref.name not in pages)
    if missing:
        return MissingPages(missing)
    found: dict[str, tuple[HostedRecordSet, ...]] = {}
    for ref in manifest.pages:
        if (actual := record_sets_digest(pages[ref.name].record_sets)) != ref.digest:
            raise SnapshotError(f"page {ref.name} has the digest {actual}, the manifest names {ref.digest}")
        found[ref.digest] = pages[ref.name].record_sets
    if manifest.record_sets:
        found[record_sets_digest(manifest.record_sets)] = manifest.record_sets
    transfer = manifest.transfer or Transfer()
    actual = snapshot_digest(Fqdn(domain_name), soa, manifest.name_servers, transfer, found)
    if actual != digest:
        raise SnapshotError(f"the snapshot has the digest {actual}, the manifest names {digest}")
    return Snapshot(Fqdn(domain_name), serial, soa, manifest.name_servers, transfer, digest, found)


def rrsets(snapshot: Snapshot) -> Iterator[RRset]:
    """Yield the snapshot's record sets as wire data, the SOA, the apex NS set and name server addresses included.

    A record set of the zone takes the place of a synthesised address set of the same owner and type.
    Raises ValueError when a value has no wire form.
    """
    yield apex_soa(snapshot)
    if snapshot.name_servers:
        names = tuple(sorted(to_wire(server.name) for server in snapshot.name_servers))
        yield RRset(to_wire(snapshot.domain_name), RecordType.NS.code, snapshot.soa.ttl, names)
    synthesised = name_server_addresses(snapshot)
    for each in snapshot.record_sets:
        synthesised.pop((each.name, each.type), None)
        yield record_set_rrset(each, snapshot.domain_name)
    yield from synthesised.values()


def record_set_rrset(record_set: HostedRecordSet, domain: Fqdn) -> RRset:
    """Return one record set of a zone as wire data.

    Raises ValueError when a value has no wire form or the body is not the one that the type names.
    """
    if (present := bodies_present(record_set)) != (record_set.type,):
        found = ", ".join(each.field for each in present) or "none"
        raise ValueError(
            f"{record_set.name} {record_set.type} has the bodies {found}, allowed is {record_set.type.field} alone"
        )
    owner = to_wire(owner_fqdn(OwnerName(record_set.name), domain))
    return RRset(owner, record_set.type.code, record_set.ttl, encode_bodies(record_set))


def apex_soa(snapshot: Snapshot) -> RRset:
    """Return the SOA set (RFC 1035 section 3.3.13)."""
    soa = snapshot.soa
    numbers = (snapshot.serial, soa.refresh, soa.retry, soa.expire, soa.minimum)
    rdata = to_wire(soa.mname) + to_wire(soa.rname) + b"".join(number.to_bytes(4, "big") for number in numbers)
    return RRset(to_wire(snapshot.domain_name), SOA_CODE, soa.ttl, (rdata,))


def name_server_addresses(snapshot: Snapshot) -> dict[tuple[str, RecordType], RRset]:
    """Return the address sets of name servers inside the zone, by (owner name, type)."""
    found: dict[tuple[str, RecordType], RRset] = {}
    for server in snapshot.name_servers:
        owner = relative_to(Fqdn(server.name), snapshot.domain_name)
        if owner is None:
            continue
        packed = [ip_address(text) for text in server.addresses]
        for rtype, version in ((RecordType.A, 4), (RecordType.AAAA, 6)):
            rdatas = tuple(sorted(address.packed for address in packed if address.version == version))
            if rdatas:
                found[owner, rtype] = RRset(to_wire(server.name), rtype.code, snapshot.soa.ttl, rdatas)
    return found


def next_serial(previous: int | None, now_s: int) -> int:
    """Return the serial after `previous`: the time where that moves forward by RFC 1982, else one more."""
    if previous is None:
        return now_s % 2**32
    distance = (now_s - previous) % 2**32
    return now_s % 2**32 if 0 < distance < 2**31 else (previous + 1) % 2**32


def page_name(zone: str, digest: str) -> str:
    """Return the object name of a page: the manifest's name and the first 16 hex digits of the page's digest."""
    return f"{zone}.{digest.removeprefix('sha256:')[:16]}"


def _bucket(owner: str, count: int) -> int:
    return 0 if count <= 1 else int.from_bytes(hashlib.sha256(owner.encode()).digest()[:4], "big") % count


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
