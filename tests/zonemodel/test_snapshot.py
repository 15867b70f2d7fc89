"""Snapshots: digests, pages, serials (RFC 1982) and the wire data that a server answers from."""

from __future__ import annotations

import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonemodel.hosted_zone import SOA, HostedRecordSet, HostedZoneSpec, NameServer, Page, PageRef, Transfer
from zonemodel.name import Fqdn, WireName, to_wire
from zonemodel.record import AAAABody, ABody, CNAMEBody, RecordType, TXTBody
from zonemodel.rrset import RRset
from zonemodel.snapshot import (
    INLINE_LIMIT_BYTES,
    PAGE_TARGET_BYTES,
    SOA_CODE,
    MissingPages,
    Snapshot,
    SnapshotError,
    assemble,
    next_serial,
    page_count_for,
    page_name,
    record_set_rrset,
    record_sets_digest,
    rrsets,
    snapshot_digest,
    spread,
)

DOMAIN = Fqdn("example.com")
SOA_VALUES = SOA(mname="ns1.example.com", rname="hostmaster.example.com")
SERVERS = (
    NameServer(name="ns1.example.com", addresses=("192.0.2.53", "2001:db8::53")),
    NameServer(name="ns2.example.net"),
)


def a(name: str, *addresses: str, ttl: int = 300) -> HostedRecordSet:
    return HostedRecordSet(name=name, type=RecordType.A, ttl=ttl, a=ABody(addresses=addresses or ("192.0.2.1",)))


def many(count: int) -> list[HostedRecordSet]:
    return [a(f"h{index}", f"10.0.{index // 256}.{index % 256}") for index in range(count)]


def paged(record_sets: list[HostedRecordSet], page_count: int) -> tuple[HostedZoneSpec, dict[str, Page]]:
    """Return the manifest of a zone and its pages by object name."""
    pages = {}
    for share in spread(record_sets, page_count):
        digest = record_sets_digest(share)
        pages[page_name("zone", digest)] = Page(zone="zone", digest=digest, record_sets=share)
    digests = [page.digest for page in pages.values()]
    manifest = HostedZoneSpec(
        domain_name=DOMAIN,
        serial=1,
        soa=SOA_VALUES,
        name_servers=SERVERS,
        digest=snapshot_digest(DOMAIN, SOA_VALUES, SERVERS, Transfer(), digests),
        pages=tuple(PageRef(name=name, digest=page.digest) for name, page in pages.items()),
    )
    return manifest, pages


def inline(*record_sets: HostedRecordSet, servers: tuple[NameServer, ...] = SERVERS) -> Snapshot:
    digests = [record_sets_digest(record_sets)] if record_sets else []
    manifest = HostedZoneSpec(
        domain_name=DOMAIN,
        serial=7,
        soa=SOA_VALUES,
        name_servers=servers,
        digest=snapshot_digest(DOMAIN, SOA_VALUES, servers, Transfer(), digests),
        record_sets=record_sets,
    )
    snapshot = assemble(manifest, {})
    assert isinstance(snapshot, Snapshot)
    return snapshot


def by_key(snapshot: Snapshot) -> dict[tuple[WireName, int], RRset]:
    found = list(rrsets(snapshot))
    keyed = {(each.owner, each.rdtype): each for each in found}
    assert len(keyed) == len(found), "a set appears once"
    return keyed


@given(st.randoms(use_true_random=False))
def test_digest_of_record_sets_does_not_depend_on_their_order(rng: random.Random) -> None:
    record_sets = many(20)
    shuffled = rng.sample(record_sets, len(record_sets))
    assert record_sets_digest(shuffled) == record_sets_digest(record_sets)


def test_digest_of_record_sets_covers_name_type_ttl_and_value() -> None:
    variants = [
        a("www"),
        a("web"),
        a("www", ttl=301),
        a("www", "192.0.2.2"),
        HostedRecordSet(name="www", type=RecordType.TXT, ttl=300, txt=TXTBody(values=("x",))),
    ]
    assert len({record_sets_digest([each]) for each in variants}) == len(variants)


def test_digest_of_a_snapshot_covers_its_head_and_not_the_order_of_lists() -> None:
    base = snapshot_digest(DOMAIN, SOA_VALUES, SERVERS, Transfer(), ["a", "b"])
    assert base == snapshot_digest(DOMAIN, SOA_VALUES, SERVERS[::-1], Transfer(), ["b", "a"])
    others = {
        snapshot_digest(Fqdn("example.org"), SOA_VALUES, SERVERS, Transfer(), ["a", "b"]),
        snapshot_digest(DOMAIN, SOA_VALUES.model_copy(update={"minimum": 1}), SERVERS, Transfer(), ["a", "b"]),
        snapshot_digest(DOMAIN, SOA_VALUES, SERVERS[:1], Transfer(), ["a", "b"]),
        snapshot_digest(DOMAIN, SOA_VALUES, SERVERS, Transfer(allow=("192.0.2.0/24",)), ["a", "b"]),
        snapshot_digest(DOMAIN, SOA_VALUES, SERVERS, Transfer(), ["a"]),
    }
    assert len(others) == 5
    assert base not in others


def test_digest_survives_the_api() -> None:
    manifest, pages = paged(many(50), 2)
    sent = orjson.loads(orjson.dumps(manifest.dump()))
    received = {name: Page.model_validate(orjson.loads(orjson.dumps(page.dump()))) for name, page in pages.items()}
    snapshot = assemble(HostedZoneSpec.model_validate(sent), received)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.digest == manifest.digest


@given(st.integers(0, 400), st.sampled_from([1, 2, 4, 8]))
def test_spread_keeps_every_record_set_once(count: int, page_count: int) -> None:
    record_sets = many(count)
    pages = spread(record_sets, page_count)
    assert len(pages) <= page_count
    assert all(pages)
    assert sorted(each.name for page in pages for each in page) == sorted(each.name for each in record_sets)


def test_spread_keeps_the_types_of_an_owner_together() -> None:
    texts = [HostedRecordSet(name=f"h{i}", type=RecordType.TXT, ttl=1, txt=TXTBody(values=("x",))) for i in range(100)]
    owners = [{each.name for each in page} for page in spread(many(100) + texts, 8)]
    assert sum(map(len, owners)) == 100


def test_spread_is_even_and_an_edit_touches_one_page() -> None:
    record_sets = many(4000)
    before = spread(record_sets, 16)
    assert max(map(len, before)) < 2 * min(map(len, before))
    after = spread([*record_sets[:-1], a(record_sets[-1].name, "203.0.113.9")], 16)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


@given(st.integers(0, 10**9), st.sampled_from([0, 1, 2, 4, 8, 16, 1024]))
def test_page_count_is_a_power_of_two_and_keeps_pages_within_bounds(size: int, current: int) -> None:
    count = page_count_for(size, current)
    assert count == 0 or count & (count - 1) == 0
    assert size <= INLINE_LIMIT_BYTES if count == 0 else size // count <= 2 * PAGE_TARGET_BYTES
    assert page_count_for(size, count) == count, "the same size again changes nothing"


@pytest.mark.parametrize("count", [1, 2, 4, 8, 64])
def test_page_count_does_not_flutter_at_a_boundary(count: int) -> None:
    boundary = count * PAGE_TARGET_BYTES
    assert page_count_for(boundary + 1, count) == count
    assert page_count_for(boundary - 1, 2 * count) == 2 * count
    assert page_count_for(INLINE_LIMIT_BYTES + 1, 0) == page_count_for(INLINE_LIMIT_BYTES - 1, 1) == 1


def test_assemble_puts_inline_and_paged_zones_together_alike() -> None:
    record_sets = many(30)
    manifest, pages = paged(record_sets, 4)
    snapshot = assemble(manifest, pages)
    assert isinstance(snapshot, Snapshot)
    assert by_key(snapshot).keys() == by_key(inline(*record_sets)).keys()


def test_assemble_names_the_pages_that_are_missing() -> None:
    manifest, pages = paged(many(100), 4)
    absent = [ref.name for ref in manifest.pages[1:3]]
    assert assemble(manifest, {name: page for name, page in pages.items() if name not in absent}) == MissingPages(
        tuple(absent)
    )


def test_assemble_refuses_a_page_that_is_not_what_its_digest_says() -> None:
    manifest, pages = paged(many(100), 4)
    name = manifest.pages[0].name
    pages[name] = pages[name].model_copy(update={"record_sets": pages[name].record_sets[1:]})
    with pytest.raises(SnapshotError, match=f"page {name} has the digest sha256:.*, the manifest names sha256:"):
        assemble(manifest, pages)


@pytest.mark.parametrize(
    "change",
    [
        {"soa": SOA_VALUES.model_copy(update={"refresh": 1})},
        {"name_servers": SERVERS[:1]},
        {"domain_name": "example.org"},
        {"record_sets": (a("new"),)},
        {"digest": "sha256:" + "0" * 64},
        {"pages": ()},
    ],
)
def test_assemble_refuses_a_manifest_that_is_not_what_its_digest_says(change: dict[str, object]) -> None:
    manifest, pages = paged(many(10), 2)
    with pytest.raises(SnapshotError, match=r"the snapshot has the digest sha256:\w+, the manifest names sha256:"):
        assemble(manifest.model_copy(update=change), pages)


@pytest.mark.parametrize("field", ["domain_name", "soa", "serial", "digest"])
def test_assemble_refuses_a_manifest_that_lacks_a_field(field: str) -> None:
    manifest, pages = paged(many(10), 2)
    with pytest.raises(SnapshotError, match="a manifest needs"):
        assemble(manifest.model_copy(update={field: None}), pages)


def test_the_serial_is_no_part_of_the_digest() -> None:
    manifest, pages = paged(many(10), 2)
    snapshot = assemble(manifest.model_copy(update={"serial": 99}), pages)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.serial == 99


def test_apex_sets_are_made_from_the_head() -> None:
    found = by_key(inline())
    apex = to_wire(DOMAIN)
    soa = found[apex, SOA_CODE]
    numbers = b"".join(each.to_bytes(4, "big") for each in (7, 7200, 900, 1209600, 300))
    assert soa == RRset(
        apex, SOA_CODE, 3600, (to_wire("ns1.example.com") + to_wire("hostmaster.example.com") + numbers,)
    )
    assert set(found[apex, RecordType.NS.code].rdatas) == {to_wire("ns1.example.com"), to_wire("ns2.example.net")}


def test_name_servers_inside_the_zone_get_their_addresses() -> None:
    found = by_key(inline())
    assert found[to_wire("ns1.example.com"), RecordType.A.code].rdatas == (bytes([192, 0, 2, 53]),)
    assert (to_wire("ns1.example.com"), RecordType.AAAA.code) in found
    assert not any(owner == to_wire("ns2.example.net") for owner, _ in found)


def test_a_record_set_takes_the_place_of_a_synthesised_address_set() -> None:
    found = by_key(inline(a("ns1", "198.51.100.1", ttl=5)))
    assert found[to_wire("ns1.example.com"), RecordType.A.code] == RRset(
        to_wire("ns1.example.com"), RecordType.A.code, 5, (bytes([198, 51, 100, 1]),)
    )
    assert (to_wire("ns1.example.com"), RecordType.AAAA.code) in found


def test_a_name_server_at_the_apex_gets_its_addresses_there() -> None:
    found = by_key(inline(servers=(NameServer(name="example.com", addresses=("192.0.2.9",)),)))
    assert found[to_wire(DOMAIN), RecordType.A.code].rdatas == (bytes([192, 0, 2, 9]),)


def test_a_body_of_another_type_is_refused() -> None:
    wrong = HostedRecordSet(name="www", type=RecordType.A, ttl=1, txt=TXTBody(values=("x",)))
    with pytest.raises(ValueError, match="www A has the bodies txt, allowed is a alone"):
        record_set_rrset(wrong, DOMAIN)
    both = a("www").model_copy(update={"aaaa": AAAABody(addresses=("2001:db8::1",))})
    with pytest.raises(ValueError, match="www A has the bodies a, aaaa, allowed is a alone"):
        record_set_rrset(both, DOMAIN)
    with pytest.raises(ValueError, match="has the bodies none, allowed is cname alone"):
        record_set_rrset(HostedRecordSet(name="www", type=RecordType.CNAME, ttl=1), DOMAIN)


def test_wildcards_and_apex_owners_become_absolute() -> None:
    alias = HostedRecordSet(name="*.app", type=RecordType.CNAME, ttl=1, cname=CNAMEBody(target="lb.example.net"))
    assert record_set_rrset(alias, DOMAIN) == RRset(to_wire("*.app.example.com"), 5, 1, (to_wire("lb.example.net"),))
    assert record_set_rrset(a("@"), DOMAIN).owner == to_wire("example.com")


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**33))
def test_the_next_serial_is_always_newer(previous: int, now_s: int) -> None:
    following = next_serial(previous, now_s)
    assert 0 <= following < 2**32
    assert 0 < (following - previous) % 2**32 < 2**31, "newer by RFC 1982 section 3.2"


@pytest.mark.parametrize(
    ("previous", "now_s", "expected"),
    [
        (None, 1_700_000_000, 1_700_000_000),
        (None, 2**32 + 5, 5),
        (1_700_000_000, 1_700_000_001, 1_700_000_001),
        (1_700_000_000, 1_700_000_000, 1_700_000_001),
        (1_700_000_005, 1_700_000_000, 1_700_000_006),
        (2026112901, 1_700_000_000, 2026112902),
        (2**32 - 1, 2**32 - 1, 0),
        (2**32 - 1, 2**32 + 10, 10),
        (0, 2**31, 1),
    ],
)
def test_serials_follow_the_clock_and_never_go_back(previous: int | None, now_s: int, expected: int) -> None:
    assert next_serial(previous, now_s) == expected


def test_page_names_tell_zone_and_content() -> None:
    digest = record_sets_digest([a("www")])
    assert page_name("example-com", digest) == "example-com." + digest[7:23]
