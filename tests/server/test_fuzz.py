"""No packet makes the matcher raise, answer a response, or say more than the transport takes."""

from __future__ import annotations

import struct
from datetime import timedelta
from pathlib import Path

import dns.exception
import dns.message
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.answer.compose import TCP_LIMIT_BYTES
from server.answer.matcher import Matcher
from server.answer.responder import COMPUTED_TYPES
from server.catalog import Catalog
from server.transport import Transport
from server.zone.compile import compile_zone
from server.zone.index import ZoneIndex
from tests.server.conftest import ZONES
from zonemodel.zonefile import read_zone_file

LONGEST = timedelta(seconds=2)
"""For any one packet, on a machine that has other things to do."""

NAMES = [
    b"\x05short\x03ent\x04test\x00",
    b"\x01x\x04star\x04test\x00",
    b"\x03www\x03old\x08redirect\x04test\x00",
    b"\x01x\x06inside\x03cut\x04test\x00",
    b"\x04huge\x05large\x04test\x00",
    b"\x06loop-a\x05alias\x04test\x00",
    b"\x00",
]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    catalog = Catalog()
    catalog.complete = True
    for path in sorted(Path(ZONES).glob("*.zone")):
        catalog.replace(compile_zone(ZoneIndex.of(read_zone_file(path, None))))
    return Matcher(catalog)


@st.composite
def queries(draw: st.DrawFn) -> bytes:
    """Nearly well-formed: any header bits, a name that is served or odd, EDNS of any kind, then mutations."""
    counts = draw(st.sampled_from([(1, 0, 0, 0), (1, 0, 0, 1), (1, 0, 0, 2), (0, 0, 0, 0), (2, 0, 0, 0), (1, 1, 0, 0)]))
    header = struct.pack("!6H", draw(st.integers(0, 65535)), draw(st.integers(0, 65535)), *counts)
    qtype = draw(st.one_of(st.sampled_from([1, 2, 5, 6, 16, 28, 39, 43, *COMPUTED_TYPES]), st.integers(0, 65535)))
    name = draw(st.one_of(st.sampled_from(NAMES), st.binary(max_size=270)))
    qclass = draw(st.sampled_from([1, 1, 1, 3, 255]))
    opt = struct.pack(
        "!BHHBBH", 0, 41, draw(st.integers(0, 65535)), 0, draw(st.sampled_from([0, 0, 1])), draw(st.integers(0, 65535))
    )
    options = draw(st.one_of(st.just(b""), st.binary(max_size=40)))
    tail = draw(st.sampled_from([b"", opt + struct.pack("!H", len(options)) + options, opt]))
    packet = bytearray(header + name + struct.pack("!HH", qtype, qclass) + tail)
    for _ in range(draw(st.integers(0, 3))):
        if packet:
            packet[draw(st.integers(0, len(packet) - 1))] = draw(st.integers(0, 255))
    return bytes(packet[: draw(st.integers(0, len(packet)))]) if draw(st.booleans()) else bytes(packet)


@given(packet=st.one_of(queries(), st.binary(max_size=600)), over_tcp=st.booleans())
@settings(max_examples=1000, deadline=LONGEST)
def test_any_packet(matcher: Matcher, packet: bytes, over_tcp: bool) -> None:
    hold(matcher, packet, over_tcp)


@pytest.mark.slow
@given(packet=st.one_of(queries(), st.binary(max_size=600)), over_tcp=st.booleans())
@settings(max_examples=50_000, deadline=LONGEST)
@pytest.mark.timeout(1200)
def test_many_packets(matcher: Matcher, packet: bytes, over_tcp: bool) -> None:
    hold(matcher, packet, over_tcp)


def hold(matcher: Matcher, packet: bytes, over_tcp: bool) -> None:
    reply = matcher.answer(packet, "192.0.2.1", Transport.TCP if over_tcp else Transport.UDP)
    if len(packet) < 12 or packet[2] & 0x80:
        assert reply is None
        return
    assert isinstance(reply, bytes)
    assert reply[:2] == packet[:2]
    assert reply[2] & 0xF8 == packet[2] & 0x78 | 0x80
    assert len(reply) <= (TCP_LIMIT_BYTES if over_tcp else 1232)
    if packet[2] & 0x78:
        return  # another opcode: what comes back need not be one of its messages
    try:
        dns.message.from_wire(reply)
    except dns.exception.DNSException as error:
        raise AssertionError(f"the reply to {packet.hex()} cannot be read: {error}") from error
