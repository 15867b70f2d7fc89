"""Transfers that native code packs are those that Python packs, octet for octet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.plane.choice import has_native
from server.transfer.message import Packing, pack
from server.transfer.message_reader import read_message
from server.transfer.record import Record, zone_records
from server.zone.compile import compile_zone
from server.zone.index import Changes, ZoneIndex
from server.zone.judge import judge_zone
from server.zone.recompile import recompile
from tests.server.zone_strategy import APEX, zones
from zonemodel.name import WireName, to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import read_zone_file

if not has_native():
    pytest.skip("the native data plane is not built", allow_module_level=True)

from server.plane.bulk import bulk_of, read_bulk
from server.plane.packing import NativePacking

HEAD = b"\x12\x34\x84\x00"
QUESTION = APEX + b"\0\xfc\0\x01"
OPT = b"\0\0\x29\x04\xd0\0\0\0\0\0\0"
NATIVE = NativePacking()

labels = st.sampled_from([b"a", b"A", b"b", b"mail", b"MAIL", b"x" * 62])
names = st.lists(labels, max_size=4).map(lambda found: WireName(b"".join(bytes([len(x)]) + x for x in found) + b"\0"))
record_lists = st.lists(
    st.one_of(
        st.builds(
            Record, names.map(lambda name: WireName(name.lower())), st.sampled_from([2, 5, 12, 39]), st.just(60), names
        ),
        st.builds(lambda owner, mail: Record(WireName(owner.lower()), 15, 300, b"\0\x0a" + mail), names, names),
        st.builds(lambda one, two: Record(WireName(one.lower()), 6, 300, one + two + bytes(20)), names, names),
        st.builds(lambda owner, data: Record(WireName(owner.lower()), 16, 9, data * 60), names, st.binary(max_size=50)),
    ),
    max_size=40,
)


def read(messages: Iterable[bytes]) -> list[Record]:
    return [record for message in messages for record in read_message(message).answer]


@given(record_lists, st.sampled_from([b"", QUESTION, QUESTION.upper()]), st.sampled_from([b"", OPT]))
def test_records(records: Sequence[Record], question: bytes, opt: bytes) -> None:
    assert list(NATIVE.records(records, HEAD, question, opt)) == list(pack(records, HEAD, question, opt))


@given(zones)
def test_zones(zone: ZoneData) -> None:
    index = ZoneIndex.of(zone)
    expected = list(Packing().zone(index, HEAD, QUESTION, OPT))
    found = list(NATIVE.zone(index, HEAD, QUESTION, OPT))
    assert sorted(read(found)) == sorted(read(expected))
    assert read(found)[0] == read(found)[-1] == read(expected)[0]


def write(path: Path, hosts: int) -> Path:
    """A zone of plain names and of some that are not."""
    lines = ["$ORIGIN edit.test.", "$TTL 300", "@ SOA ns host 1 3600 1 86400 60", "@ NS ns", "ns A 192.0.2.1"]
    for number in range(hosts):
        host = f"h{number}"
        lines += (
            f"{host} A 192.0.2.{number % 256}",
            f"{host} AAAA 2001:db8::{number:x}",
            f"{host} TXT text{number} more",
        )
        lines += (f"deep.{host}.tree SRV 1 2 {number} {host}", f"mail{number % 50}.x 60 MX {number} Mail.{host}")
        lines += (
            f"alias{number} CNAME {host}",
            f"cut{number % 9} NS ns.cut{number % 9}",
            f"*.w{number % 9} A 192.0.2.{number % 256}",
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def test_plain_names_go_from_native_code_to_the_message(tmp_path: Path) -> None:
    path = write(tmp_path / "zone", 1000)
    found = read_bulk(path, None)
    assert found is not None
    index, expected = found.index, judge_zone(read_zone_file(path, None))
    assert bulk_of(index.sets) is not None
    messages = list(NATIVE.zone(index, HEAD, b"", OPT))
    assert len(messages) > 5
    records = read(messages)
    assert records[0] == records[-1]
    assert sorted(records[1:-1]) == sorted(zone_records(expected))
    again = list(pack(records, HEAD, b"", OPT))
    assert messages == again


def test_names_that_changed_are_sent_as_they_are_now(tmp_path: Path) -> None:
    before = read_bulk(write(tmp_path / "zone", 100), None)
    assert before is not None
    gone, changed, new = to_wire("h1.edit.test"), to_wire("h2.edit.test"), to_wire("new.edit.test")
    changes = Changes(
        (RRset(changed, 1, 77, (b"\x01\x02\x03\x04",)), RRset(new, 1, 78, (b"\x01\x02\x03\x05",))),
        tuple((gone, type_) for type_ in before.index.sets[gone]),
    )
    after = recompile(before, before.index.with_changes(changes), changes)
    records = read(NATIVE.zone(after.index, HEAD, b"", b""))
    assert sorted(records[1:-1]) == sorted(zone_records(after.index))
    assert {record.ttl_s for record in records if record.owner in {new, changed} and record.rdtype == 1} == {77, 78}
    assert gone not in {record.owner for record in records}
    was = read(NATIVE.zone(before.index, HEAD, b"", b""))
    assert (
        sorted(was[1:-1])
        == sorted(zone_records(before.index))
        == sorted(zone_records(compile_zone(before.index).index))
    )
