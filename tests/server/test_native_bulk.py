"""A zone that native code reads from its master file is the one that Python reads, or is left to Python."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kube.object import ObjectKey
from server.hosted.content import Content, Head, PageLines, rrset_of
from server.hosted.serving import Serving
from server.plane.choice import has_native
from server.transfer.record import soa_record, zone_records
from server.transfer.secondary.version import whole_zone
from server.zone.compile import Zone, compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.judge import UnservableError, judge_zone
from server.zone.recompile import recompile
from server.zone_files import read_zone
from tests.server import zone_strategy
from tests.server.conftest import ZONES
from zonemodel.canonical import encode_canonical
from zonemodel.hosted_zone import SOA, NameServer, Transfer
from zonemodel.name import Fqdn, from_labels, to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import ZoneFileError, parse_zone_text, read_zone_file, write_zone_file

if not has_native():
    pytest.skip("the native data plane is not built", allow_module_level=True)

from server.config import ZoneFile
from server.plane.bulk import bulk_of, collect_bulk, gather_bulk, read_bulk
from server.plane.catalog import NativeCatalog
from server.zone.persistent import Layered

Key = TypeVar("Key")

HEAD = "$ORIGIN z.test.\n$TTL 1h\n@ IN SOA ns host 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n"
WORDS = st.sampled_from(
    [
        *("@", "a", "b.a", "c.b.a", "*", "*.w", "x.*.w", "cut", "glue.cut", "WwW", "z.test.", "other.", ".", "a..b"),
        *("IN", "in", "CH", "60", "1h30m", "007", "0", "4294967296", "1h3"),
        *("A", "aaaa", "TXT", "MX", "NS", "CNAME", "SRV", "PTR", "SOA", "CAA", "DNAME", "TYPE65280", "RRSIG", "FOO"),
        *("192.0.2.1", "192.0.02.1", "1.2.3", "2001:db8::1", "::ffff:1.2.3.4", "::g", "10", "65536"),
        *(
            '"a b"',
            '"a;b"',
            '""',
            '"a\\"b"',
            "a\\046b",
            "(",
            ")",
            ";",
            "; c",
            '"',
            "\\",
            "\u00e9",
            "$TTL",
            "$ORIGIN",
            "$INCLUDE",
        ),
    ]
)
LINES = st.lists(
    st.builds(
        lambda blank, words, gap: blank + gap.join(words),
        st.sampled_from(["", "", " ", "\t"]),
        st.lists(WORDS, max_size=7),
        st.sampled_from([" ", " ", "  ", "\t"]),
    ),
    max_size=6,
)
RECORDS = st.lists(
    st.builds(
        lambda owner, ttl, rest: f"{owner} {ttl} IN {rest}",
        st.sampled_from(["@", "a", "A", "b.a", "d.c.b.a", "*", "*.w", "w", "cut", "g.cut", "*.cut", "alias", "q"]),
        st.sampled_from(["60", "1m", ""]),
        st.sampled_from(
            [
                *(
                    "A 192.0.2.1",
                    "A 192.0.2.2",
                    "AAAA 2001:db8::1",
                    "TXT hello",
                    'TXT "a b" c',
                    "MX 10 mail",
                    "MX 10 MAIL",
                ),
                *(
                    "NS ns.cut",
                    "NS ns",
                    "CNAME a",
                    "CNAME other.test.",
                    "SRV 1 2 3 a",
                    "SRV 1 2 3 A",
                    "PTR a",
                    'CAA 0 issue "x"',
                ),
                *(
                    "TXT ( a\n b )",
                    "A ( 192.0.2.9 ; c\n )",
                    "TXT a\\046b",
                    "HTTPS 1 . alpn=h2",
                    "DS 1 8 2 " + "ab" * 32,
                ),
            ]
        ),
    ),
    max_size=14,
)


def in_python(path: Path) -> Zone | None:
    """Return the zone as Python reads it, None when it says anything about it."""
    try:
        data = read_zone_file(path, None)
        return None if data.warnings else compile_zone(judge_zone(data))
    except (ZoneFileError, UnservableError, ValueError):
        return None


def same(found: Mapping[Key, object], expected: Mapping[Key, object]) -> None:
    assert dict(found) == dict(expected)
    assert len(found) == len(expected)
    assert all(key in found and found[key] == value for key, value in expected.items())


def hold(path: Path) -> bool:
    """Assert that native code reads what Python reads, or leaves it; says whether it reads it."""
    expected = in_python(path)
    found = read_bulk(path, None)
    if found is None:
        return False
    assert expected is not None
    same_zone(found, expected)
    return True


def same_zone(zone: Zone, expected: Zone) -> None:
    assert zone.index.origin == expected.index.origin
    same(zone.index.sets, expected.index.sets)
    same(zone.index.children, expected.index.children)
    same(zone.index.barriers, expected.index.barriers)
    same(zone.table.answers, expected.table.answers)
    same(zone.table.nodes, expected.table.nodes)
    assert zone.table.soa == expected.table.soa


@pytest.mark.parametrize("path", sorted(Path(ZONES).glob("*.zone")), ids=lambda path: path.stem)
def test_every_zone_of_the_suite(path: Path) -> None:
    hold(path)


def test_ordinary_zones_are_read_natively(tmp_path: Path) -> None:
    read = [hold(path) for path in sorted(Path(ZONES).glob("*.zone"))]
    assert any(read)
    path = tmp_path / "zone"
    path.write_text(HEAD + 'www 60 A 192.0.2.2\n  AAAA 2001:db8::2 ; why\n*.x TXT "a;b"\nmail MX 10 www\n')
    assert hold(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(zone_strategy.zones)
def test_random_zones(tmp_path: Path, zone: ZoneData) -> None:
    path = tmp_path / "zone"
    path.write_text(write_zone_file(zone))
    hold(path)


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(RECORDS)
def test_random_records(tmp_path: Path, records: list[str]) -> None:
    path = tmp_path / "zone"
    path.write_text(HEAD + "".join(f"{record}\n" for record in records))
    hold(path)


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(LINES, st.booleans())
def test_random_text(tmp_path: Path, lines: list[str], ends: bool) -> None:
    path = tmp_path / "zone"
    path.write_text(HEAD + "\n".join(lines) + ("\n" if ends else ""))
    hold(path)


def test_a_file_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    records = "".join(f"host-{number} 60 TXT {number}-{'x' * 200}\n" for number in range(6_000))
    path = tmp_path / "zone"
    path.write_text(HEAD + records + "last TXT ( a\n b )\n")
    assert path.stat().st_size > 1 << 20
    assert hold(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(zone_strategy.zones, st.lists(zone_strategy.rrsets(), min_size=1, max_size=4))
def test_edits_of_a_zone_that_was_read_natively(tmp_path: Path, zone: ZoneData, edits: list[RRset]) -> None:
    path = tmp_path / "zone"
    path.write_text(write_zone_file(zone))
    native = read_bulk(path, None)
    if native is None:
        return
    zone = parse_zone_text(path.read_text(), None, "zone")
    python = compile_zone(ZoneIndex.of(zone))
    for edit in edits:
        later = zone_strategy.edited(zone, edit)
        if later is None:
            continue
        changes = zone_strategy.changes_between(zone, later)
        native = recompile(native, native.index.with_changes(changes), changes)
        python = recompile(python, python.index.with_changes(changes), changes)
        zone = later
        assert native.index == python.index
        assert (native.table.answers, native.table.nodes) == (python.table.answers, python.table.nodes)


OWNERS = st.sampled_from(
    ["@", "a", "b.a", "d.c.b.a", "*", "*.w", "w", "cut", "g.cut", "A", "a..b", "x_y", "\u00e9", "a\\046b"]
)
SETS = st.lists(
    st.builds(
        lambda owner, ttl, body: {"name": owner, "ttl": ttl, **body},
        OWNERS,
        st.sampled_from([0, 60, 300, 2**31 - 1]),
        st.sampled_from(
            [
                {"type": "A", "a": {"addresses": ["192.0.2.1"]}},
                {"type": "A", "a": {"addresses": ["192.0.2.9", "192.0.2.1", "192.0.2.9"]}},
                {"type": "A", "a": {"addresses": ["192.0.2.01"]}},
                {"type": "AAAA", "aaaa": {"addresses": ["2001:db8::1", "::ffff:192.0.2.1"]}},
                {"type": "AAAA", "aaaa": {"addresses": ["2001:DB8::1"]}},
                {"type": "AAAA", "a": {"addresses": ["192.0.2.1"]}},
                {"type": "TXT", "txt": {"values": ["hello", 'a "b"']}},
                {"type": "CNAME", "cname": {"target": "a.z.test"}},
                {"type": "CNAME", "cname": {"target": "A.z.test"}},
                {"type": "TXT", "txt": {"values": ["", "\u00e9" * 200, "x" * 600]}},
                {"type": "MX", "mx": {"records": [{"preference": 10, "exchange": "mail.z.test"}]}},
                {"type": "MX", "mx": {"records": [{"preference": 0, "exchange": "."}]}},
                {
                    "type": "MX",
                    "mx": {
                        "records": [
                            {"preference": 20, "exchange": "a.z.test"},
                            {"preference": 5, "exchange": "b.a.z.test"},
                        ]
                    },
                },
                {"type": "NS", "ns": {"nameServers": ["g.cut.z.test"]}},
                {"type": "CAA", "caa": {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]}},
                {"type": "MX", "mx": {"records": [{"preference": 10, "exchange": "Mail.z.test"}]}},
                {"type": "NS", "ns": {"nameServers": ["g.cut.z.test", "ns.other.test"]}},
                {"type": "NS", "ns": {"nameServers": ["NS.other.test", "a.other.test"]}},
            ]
        ),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=200)
@given(SETS)
def test_random_snapshots(record_sets: list[dict[str, object]]) -> None:
    servers = (
        NameServer(name="ns.z.test", addresses=("192.0.2.1",)),
        NameServer(name="a.z.test", addresses=("192.0.2.2",)),
    )
    head = Head(Fqdn("z.test"), 1, SOA(mname="ns.z.test", rname="host.z.test"), servers, Transfer())
    lines = tuple(sorted(encode_canonical(each) for each in record_sets))
    content = Content(head, "", {"one": PageLines.of(lines[::2]), "two": PageLines.of(lines[1::2])})
    try:
        expected = compile_zone(judge_zone(content.zone_data()))
    except ValueError:
        expected = None
    try:
        found = gather_bulk(
            to_wire(head.domain),
            head.rrsets().values(),
            (page.text for page in content.pages.values()),
            lambda line: rrset_of(line, head.domain),
        )
    except ValueError:
        assert expected is None
        return
    if found is not None:
        assert expected is not None
        same_zone(found, expected)


def content_of(serial: int, sets: list[dict[str, object]]) -> Content:
    head = Head(
        Fqdn("z.test"), serial, SOA(mname="ns.o.test", rname="host.z.test"), (NameServer(name="ns.o.test"),), Transfer()
    )
    page = PageLines.of(sorted(map(encode_canonical, sets)))
    return Content(head, page.digest, {page.digest: page})


def host(name: str, address: str = "192.0.2.1") -> dict[str, object]:
    return {"name": name, "ttl": 60, "type": "A", "a": {"addresses": [address]}}


def alias_content(serial: int, target: str, aliases: int) -> Content:
    sets: list[dict[str, object]] = [
        {"name": f"a{number}", "ttl": 60, "type": "CNAME", "cname": {"target": "big.z.test"}}
        for number in range(aliases)
    ]
    return content_of(serial, [*sets, host("big", target)])


@pytest.fixture
def on_threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the versions that are made from the one before come from a thread."""
    seen: list[bool] = []

    def noted(*args: object) -> Zone:
        seen.append(threading.current_thread() is not threading.main_thread())
        return recompile(*args)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr("server.hosted.serving.recompile", noted)
    return seen


@pytest.mark.parametrize(("aliases", "is_whole"), [(10, False), (2000, True)])
async def test_an_edit_that_reaches_many_aliases_is_finished_natively_and_off_the_loop(
    aliases: int, is_whole: bool, on_threads: list[bool]
) -> None:
    catalog, key = NativeCatalog(1232, 1), ObjectKey("n", "z")
    catalog.complete = True
    serving = Serving(catalog, lambda _: None)
    await serving.replace(key, alias_content(1, "192.0.2.1", aliases))
    (first,) = serving
    edited = alias_content(2, "192.0.2.2", aliases)
    await serving.replace(key, edited)
    (second,) = serving
    assert on_threads == ([] if is_whole else [False])
    same_zone(second.zone, compile_zone(judge_zone(edited.zone_data())))
    step = second.zone.step
    assert step is not None
    assert step.since is first.zone.index.at(zone_strategy.APEX)[6]
    assert step.owners == {zone_strategy.APEX, from_labels([b"big", *zone_strategy.APEX_LABELS])}
    packet = bytes.fromhex("000100000001000000000000") + from_labels([b"a7", *zone_strategy.APEX_LABELS]) + b"\0\1\0\1"
    reply = catalog.native.answer(packet, "192.0.2.1", False)
    assert reply is not None
    assert reply.endswith(bytes((192, 0, 2, 2)))


async def test_names_are_looked_through_for_a_cut_over_what_stays_alone_and_off_the_loop(
    on_threads: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.hosted.serving._INLINE_LINES", 3)
    serving, key = Serving(NativeCatalog(1232, 1), lambda _: None), ObjectKey("n", "z")
    hosts = [host(f"h{number}") for number in range(600)]
    glue = host("ns.sub")
    cut: dict[str, object] = {"name": "sub", "ttl": 60, "type": "NS", "ns": {"nameServers": ["ns.sub.z.test"]}}
    await serving.replace(key, content_of(1, hosts))
    for serial, more, is_long in (
        (2, [glue, cut], False),
        (3, [], False),
        (4, [glue], False),
        (5, [glue, cut], True),
        (6, [glue], True),
    ):
        content = content_of(serial, hosts + more)
        await serving.replace(key, content)
        assert on_threads.pop() is is_long, serial
        (served,) = serving
        same_zone(served.zone, compile_zone(judge_zone(content.zone_data())))


def test_the_catalog_serves_plain_names_and_others(tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(HEAD + "www 60 A 192.0.2.2\nalias CNAME www\n*.w TXT any\n")
    catalog = NativeCatalog(1232, 1)
    zone = catalog.read(path, None)
    assert zone is not None
    assert isinstance(zone.index.sets, Layered)
    catalog.prepare(zone)
    catalog.replace(zone)
    whole = NativeCatalog(1232, 1)
    whole.replace(read_zone(ZoneFile(path)))
    for labels, qtype in (
        ([b"www"], 1),
        ([b"www"], 28),
        ([b"alias"], 1),
        ([b"x", b"w"], 16),
        ([b"no"], 1),
        ([b"w"], 1),
    ):
        packet = b"\0\1\0\0\0\1\0\0\0\0\0\0" + from_labels([*labels, b"z", b"test"]) + bytes((0, qtype, 0, 1))
        reply = catalog.native.answer(packet, "192.0.2.1", False)
        assert reply is not None
        assert reply == whole.native.answer(packet, "192.0.2.1", False)


def common(zone: ZoneData) -> ZoneData:
    """The zone without what only Python reads."""
    sets = (
        rrset
        for rrset in zone.rrsets
        if rrset.rdtype not in {zone_strategy.DNAME, 65280} and b"\x01*" not in rrset.owner[1:]
    )
    return ZoneData(zone.origin, tuple(sets))


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(zone_strategy.zones.map(common), st.lists(zone_strategy.rrsets(), max_size=4))
def test_cuts_aliases_and_wildcards_are_finished_as_python_does(
    tmp_path: Path, zone: ZoneData, edits: list[RRset]
) -> None:
    path = tmp_path / "zone"
    path.write_text(write_zone_file(zone))
    native = read_bulk(path, None)
    assert native is not None
    zone = parse_zone_text(path.read_text(), None, "zone")
    python = compile_zone(ZoneIndex.of(zone))
    same_zone(native, python)
    for edit in edits:
        later = zone_strategy.edited(zone, edit)
        if later is None:
            continue
        changes = zone_strategy.changes_between(zone, later)
        native = recompile(native, native.index.with_changes(changes), changes)
        zone = later
        same_zone(native, compile_zone(ZoneIndex.of(zone)))


def test_ordinary_names_of_all_kinds_are_finished_natively(tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(
        HEAD
        + "cut NS ns.cut\ncut NS ns.other.test.\ncut NS ns\nns.cut A 192.0.2.7\ncut DS 1 8 2 "
        + "ab" * 32
        + "\nwww A 192.0.2.2\nwww MX 10 mail.www\nalias CNAME www\nchain CNAME alias\nout CNAME www.other.test.\n"
        + "no CNAME missing\n*.w TXT any\nw A 192.0.2.3\n*.empty A 192.0.2.4\np PTR Www\n_sip._tcp SRV 1 2 3 www\nto-empty CNAME empty\n"
    )
    assert hold(path)
    zone = read_bulk(path, None) or pytest.fail("it is not read natively")
    bulk = bulk_of(zone.table.nodes) or pytest.fail("it rests on no native zone")
    assert {owner for owner, *_ in bulk.others()} == {zone.index.origin}
    assert not bulk.bare()


@settings(deadline=None, max_examples=200)
@given(zone_strategy.zones, st.randoms(use_true_random=False))
def test_zones_that_come_by_transfer(zone: ZoneData, order: Random) -> None:
    index = ZoneIndex.of(zone)
    records = [soa_record(index), *zone_records(index)]
    order.shuffle(records)
    found = collect_bulk(zone.origin, records)
    if found is None:
        assert len(common(zone).rrsets) < len(zone.rrsets)
    else:
        same_zone(found, whole_zone(zone.origin, records))


def test_records_that_only_python_understands_are_left_to_it() -> None:
    apex = to_wire("z.test")
    soa = zone_strategy.soa(1).rdatas[0]
    for odd in ((apex, 46, 300, bytes(30)), (to_wire("elsewhere.test"), 1, 300, bytes(4)), (apex, 6, 300, soa + b"x")):
        assert collect_bulk(apex, [(apex, 6, 300, soa), odd]) is None


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(zone_strategy.zones.map(common), st.lists(zone_strategy.rrsets(), max_size=4))
def test_what_was_finished_natively_is_answered_alike(tmp_path: Path, zone: ZoneData, edits: list[RRset]) -> None:
    """And so are later versions of it, where no earlier one is served that they could be made from."""
    path = tmp_path / "zone"
    path.write_text(write_zone_file(zone))
    native, whole = NativeCatalog(1232, 1), NativeCatalog(1232, 1)
    found = native.read(path, None)
    assert found is not None
    zone = parse_zone_text(path.read_text(), None, "zone")
    for edit in edits:
        if (later := zone_strategy.edited(zone, edit)) is not None:
            changes = zone_strategy.changes_between(zone, later)
            found, zone = recompile(found, found.index.with_changes(changes), changes), later
    native.replace(found)
    whole.replace(compile_zone(ZoneIndex.of(zone)))
    for name in zone_strategy.names_around(zone):
        if len(name) > 255:
            continue
        for qtype in (1, 2, 5, 15, 16, 28, 43):
            packet = b"\0\1\0\0\0\1\0\0\0\0\0\0" + name + bytes((0, qtype, 0, 1))
            reply = native.native.answer(packet, "192.0.2.1", False)
            assert reply == whole.native.answer(packet, "192.0.2.1", False)


def test_a_zone_that_was_withheld_is_served_again_without_a_look_at_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the event loop, and also where the version that is served next was made from the one before by an edit."""
    hosts = [
        RRset(from_labels([b"h%d" % number, *zone_strategy.APEX_LABELS]), 1, 60, (bytes(4),)) for number in range(50)
    ]
    index = ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns(), *hosts)))
    catalog = NativeCatalog(1232, 1)
    zone = catalog.collect(zone_strategy.APEX, [soa_record(index), *zone_records(index)])
    assert zone is not None
    changes = Changes((zone_strategy.soa(2),), ((hosts[0].owner, 1),))
    edited = recompile(zone, zone.index.with_changes(changes), changes)
    monkeypatch.setattr(Layered, "__iter__", None)
    for version in (zone, edited):
        catalog.withhold(zone_strategy.APEX)
        catalog.prepare(version)
        with monkeypatch.context() as on_the_loop:
            on_the_loop.setattr(NativeCatalog, "_read", None)
            catalog.replace(version)
        packet = b"\0\1\0\0\0\1\0\0\0\0\0\0" + hosts[0].owner + b"\0\1\0\1"
        reply = catalog.native.answer(packet, "192.0.2.1", False)
        assert reply is not None
        assert reply[3] == (0 if version is zone else 3)


def test_what_an_edit_reaches_is_handed_over_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = NativeCatalog(1232, 1)
    big = from_labels([b"big", *zone_strategy.APEX_LABELS])
    aliases = [from_labels([b"a%d" % number, *zone_strategy.APEX_LABELS]) for number in range(400)]
    sets = [zone_strategy.soa(1), zone_strategy.apex_ns(), RRset(big, 1, 60, (bytes(4),))]
    hosts = [from_labels([b"h%d" % number, *zone_strategy.APEX_LABELS]) for number in range(600)]
    sets += [RRset(each, 1, 60, (bytes(4),)) for each in hosts]
    index = ZoneIndex.of(ZoneData(zone_strategy.APEX, (*sets, *(RRset(each, 5, 60, (big,)) for each in aliases))))
    zone = catalog.collect(zone_strategy.APEX, [soa_record(index), *zone_records(index)])
    assert zone is not None
    catalog.replace(zone)
    changes = Changes((zone_strategy.soa(2), RRset(big, 1, 60, (b"\7\7\7\7",))))
    edited = recompile(zone, zone.index.with_changes(changes), changes)
    catalog.prepare(edited)
    with monkeypatch.context() as on_the_loop:
        on_the_loop.setattr(NativeCatalog, "_read", None)
        on_the_loop.setattr(NativeCatalog, "_patch", None)
        catalog.replace(edited)
    packet = b"\0\1\0\0\0\1\0\0\0\0\0\0" + aliases[7] + b"\0\1\0\1"
    assert (catalog.native.answer(packet, "192.0.2.1", False) or b"").endswith(b"\7\7\7\7")
    catalog.prepare(edited)
    sets = [RRset(big, each.rdtype, 60, each.rdatas) for each in (zone_strategy.soa(1), zone_strategy.apex_ns())]
    catalog.replace(compile_zone(ZoneIndex.of(ZoneData(big, tuple(sets)))))
    assert catalog.native.answer(packet, "192.0.2.1", False) is None  # an alias into another zone is left to Python


def test_versions_are_kept_for_a_moment_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forestalled(dict[int, Any]):
        """Another thread always lets go of a version first."""

        def pop(self, version: int, *default: object) -> object:
            super().pop(version, None)
            return super().pop(version, *default)

    catalog = NativeCatalog(1232, 1)
    monkeypatch.setattr(catalog, "_prepared", Forestalled())
    for _ in range(9):
        catalog.prepare(
            compile_zone(ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns()))))
        )
    assert len(catalog._prepared) == 4


def test_a_fault_in_native_code_leaves_the_zone_to_python() -> None:
    index = ZoneIndex.of(ZoneData(zone_strategy.APEX, (zone_strategy.soa(1), zone_strategy.apex_ns())))
    owner = from_labels([b"mail", *zone_strategy.APEX_LABELS])
    broken = (owner, zone_strategy.MX, 60, b"\0")  # what nobody who checks record data lets through
    assert collect_bulk(zone_strategy.APEX, [soa_record(index), *zone_records(index), broken]) is None
