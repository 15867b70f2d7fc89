"""The messages of transfers, written by us and read by us and by dnspython; and messages that nobody should have written."""

from __future__ import annotations

import dns.exception
import dns.message
import dns.name
import dns.rdatatype
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import rdtype
from server.transfer.message import TARGET_BYTES, pack
from server.transfer.message_reader import read_message
from server.transfer.name_reader import read_name
from server.transfer.record import Record, decode_records, encode_records, zone_records
from server.zone.index import ZoneIndex
from tests.server.zone_strategy import APEX, names_around, zones
from zonemodel.name import WireName, to_wire
from zonemodel.rrset import ZoneData

HEAD = b"\x12\x34\x84\x00"
QUESTION = APEX + b"\0\xfc\0\x01"
OPEN = {rdtype.SVCB, rdtype.HTTPS, *range(128, 256), 256, 260}
"""Types of which we take more than dnspython does; 256 is URI, 260 AMTRELAY, and those before them are none of data (RFC 6895)."""


def records_of(zone: ZoneData) -> list[Record]:
    return list(zone_records(ZoneIndex.of(zone)))


def texts(packet: bytes) -> list[tuple[str, int, str]]:
    """The records as dnspython reads them, names with their case."""
    message = dns.message.from_wire(packet, one_rr_per_rrset=True, question_only=False)
    return [(rrset.name.to_text(), rrset.ttl, rrset[0].to_wire().hex()) for rrset in message.answer]


@given(zones)
def test_records_come_back_from_messages(zone: ZoneData) -> None:
    records = records_of(zone)
    packets = list(pack(records, HEAD, QUESTION))
    messages = [read_message(packet) for packet in packets]
    assert [record for message in messages for record in message.answer] == records
    assert messages[0].question == (APEX, rdtype.AXFR, 1)
    theirs = [each for packet in packets for each in texts(packet)]
    assert theirs == [(_text(r.owner), r.ttl_s, r.rdata.hex()) for r in records]


@given(zones)
def test_records_come_back_from_storage(zone: ZoneData) -> None:
    records = records_of(zone)
    assert list(decode_records(encode_records(records))) == records


def test_the_case_of_data_survives_beside_the_same_name_in_another_case() -> None:
    names = [to_wire("Mail.Shop.example"), to_wire("mail.shop.example"), to_wire("MAIL.SHOP.EXAMPLE")]
    records = [Record(to_wire("shop.example"), rdtype.CNAME, 60, name) for name in names]
    (packet,) = pack(records, HEAD, to_wire("ShOp.ExAmPlE") + b"\0\xfc\0\x01")
    assert [record.rdata for record in read_message(packet).answer] == names
    assert {owner for owner, _, _ in texts(packet)} == {"shop.example."}


def test_a_large_zone_takes_messages_of_a_size_that_compresses_well() -> None:
    records = [Record(to_wire(f"host{number}.example"), rdtype.A, 60, bytes(4)) for number in range(10_000)]
    packets = list(pack(records, HEAD, to_wire("example") + b"\0\xfc\0\x01"))
    assert all(len(packet) <= TARGET_BYTES for packet in packets)
    assert sum(map(len, packets)) < 30 * len(records)
    assert [record for packet in packets for record in read_message(packet).answer] == records
    assert [read_message(packet).question is None for packet in packets] == [False] + [True] * (len(packets) - 1)


def test_the_largest_record_fits_a_message_of_its_own() -> None:
    huge = Record(WireName(b"\x3f" + b"x" * 63 + APEX), 65280, 60, bytes(65_241))
    small = Record(APEX, rdtype.A, 60, bytes(4))
    packets = list(pack([small, huge, small], HEAD, QUESTION))
    assert len(packets) == 3
    assert max(map(len, packets)) <= 65535
    assert [record for packet in packets for record in read_message(packet).answer] == [small, huge, small]


@given(zones, st.data())
def test_a_changed_message_is_read_or_refused(zone: ZoneData, data: st.DataObject) -> None:
    packet = bytearray(next(pack(records_of(zone), b"\0\0\0\0", QUESTION)))
    for _ in range(data.draw(st.integers(1, 4))):
        packet[data.draw(st.integers(0, len(packet) - 1))] = data.draw(st.integers(0, 255))
    octets = bytes(packet[: data.draw(st.integers(0, len(packet)))] if data.draw(st.booleans()) else packet)
    try:
        message = read_message(octets)
    except ValueError:
        return
    records = (*message.answer, *message.authority)
    if not any(octets[2:4] + octets[10:12]) and OPEN.isdisjoint(record.rdtype for record in records):
        try:
            dns.message.from_wire(octets)  # what we take of zone data, others take
        except dns.exception.FormError as error:
            assert isinstance(error.__cause__, ValueError), octets.hex()  # noqa: PT017 - a value has no sense, its form is right
    for record in message.answer:
        assert len(record.owner) <= 255
        assert read_name(record.owner, 0) == (record.owner, len(record.owner))


@given(st.binary(max_size=600))
def test_octets_at_random_are_refused_with_words(octets: bytes) -> None:
    try:
        read_message(octets)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - an empty message would tell nobody anything


@pytest.mark.parametrize(
    "octets",
    [
        b"\xc0\x00",
        b"\x01a\xc0\x00",
        b"\x01a\xc0\x02\x01b\xc0\x00",
        b"\x40a",
        b"\x80a",
        b"\x3fshort",
        b"\xc0",
        b"",
        (b"\x3f" + b"x" * 63) * 4 + b"\0",
    ],
)
def test_names_without_an_end_are_refused(octets: bytes) -> None:
    with pytest.raises(ValueError, match=r"name|label|pointer"):
        read_name(octets, 0)


def test_many_pointers_end_where_they_lead() -> None:
    chain = b"\x01a\0" + b"".join(b"\x01b" + (0xC000 + max(3 + 4 * (n - 1), 0)).to_bytes(2, "big") for n in range(60))
    name, end = read_name(chain, len(chain) - 4)
    assert (len(name), end) == (60 * 2 + 3, len(chain))


@given(zones)
def test_names_that_are_missing_stay_apart_from_those_that_exist(zone: ZoneData) -> None:
    for name in names_around(zone):
        assert read_name(name + b"rest", 0) == (name, len(name))


def _text(name: bytes) -> str:
    return dns.name.from_wire(name, 0)[0].to_text()


def reply_with(number: int, data: bytes) -> bytes:
    owner = to_wire("a.z.test")
    record = owner + number.to_bytes(2, "big") + b"\0\1" + bytes(4) + len(data).to_bytes(2, "big") + data
    return HEAD + b"\0\0\0\1\0\0\0\0" + record


@pytest.mark.parametrize(
    ("number", "data"),
    [
        (52, "030101ab"),  # TLSA, shorter than its hash
        (43, "00010d0200"),  # DS, the same
        (44, "0101ab"),  # SSHFP, the same
        (64, "000000" + "00010003026832"),  # SVCB of priority 0 with parameters
        (256, "00010001"),  # URI without a target
        (260, "0a09ff"),  # AMTRELAY of a kind that is to come
        (257, "000165"),
        (65280, ""),
    ],
)
def test_values_that_mean_nothing_to_us_are_taken_over(number: int, data: str) -> None:
    """RFC 3597 section 1: a secondary does not stand between a primary and those who ask."""
    (record,) = read_message(reply_with(number, bytes.fromhex(data))).answer
    assert record.rdata.hex() == data


@pytest.mark.parametrize(
    ("number", "data"),
    [
        (16, ""),
        (16, "0561"),
        (1, "c00002"),
        (64, "0001000001000302"),
        (64, "0000"),
        (50, "01"),
        (51, "0100"),
        (52, "03"),
    ],
)
def test_data_that_are_not_of_the_form_are_refused(number: int, data: str) -> None:
    with pytest.raises(ValueError, match=f"of type {number}"):
        read_message(reply_with(number, bytes.fromhex(data)))
