"""RFC 1035 section 4.1, RFC 8906, RFC 9619: what is no proper query, and that the server lives on after it."""

from __future__ import annotations

import struct

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import pytest

from tests.server.question import Target

GOOD = b"\x05short\x03ent\x04test\x00\x00\x01\x00\x01"


def packet(question: bytes = GOOD, *, flags: int = 0, counts: tuple[int, int, int, int] = (1, 0, 0, 0)) -> bytes:
    return struct.pack("!6H", 0x1234, flags, *counts) + question


def answers(target: Target) -> bool:
    return bool(target.ask("short.ent.test.", "A").answer)


def rcode(reply: bytes) -> int:
    return reply[3] & 0xF


@pytest.mark.parametrize("octets", [b"", b"\x00", packet()[:11], packet(flags=0x8000), packet(flags=0x8180)])
def test_what_is_no_query_gets_no_reply(octets: bytes, target: Target) -> None:
    assert target.exchange(octets) is None
    assert answers(target)


MALFORMED = {
    "a header that promises a question": packet(b""),
    "a name that points to itself": packet(b"\xc0\x0c\x00\x01\x00\x01"),
    "a name that points past the end": packet(b"\xc0\xff\x00\x01\x00\x01"),
    "a label type of RFC 2673": packet(b"\x41a\x00\x00\x01\x00\x01"),
    "a reserved label type": packet(b"\x80a\x00\x00\x01\x00\x01"),
    "a name of 257 octets": packet(b"\x3f" + b"a" * 63 + (b"\x3f" + b"a" * 63) * 3 + b"\x00\x00\x01\x00\x01"),
    "a name without its end": packet(b"\x05short\x03ent"),
    "a question without its class": packet(GOOD[:-2]),
    "octets after the question": packet(GOOD + b"x"),
    "a record that is cut short": packet(GOOD + b"\x00\x00\x29\x04", counts=(1, 0, 0, 1)),
    "a record that is not there": packet(GOOD, counts=(1, 0, 0, 1)),
    "record data that are cut short": packet(
        GOOD + b"\x00\x00\x01\x00\x01" + bytes(4) + b"\x00\x09x", counts=(1, 1, 0, 0)
    ),
    "two questions": packet(GOOD + GOOD, counts=(2, 0, 0, 0)),
    "no question": packet(b"", counts=(0, 0, 0, 0)),
    "a notice without a question": packet(b"", flags=4 << 11, counts=(0, 0, 0, 0)),
}


@pytest.mark.parametrize("octets", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_query_is_told_so(octets: bytes, target: Target) -> None:
    reply = target.exchange(octets)
    assert reply is None or (reply[:2] == octets[:2] and rcode(reply) == dns.rcode.FORMERR and reply[2] & 0x80)
    assert answers(target)


def test_a_malformed_query_is_answered_with_formerr_not_silence(target: Target) -> None:
    reply = target.exchange(packet(GOOD + b"x"))
    assert reply is not None
    assert rcode(reply) == dns.rcode.FORMERR
    assert not reply[2] & 0x04


@pytest.mark.parametrize("opcode", [1, 2, 3, 5, 6, 7, 15])
def test_another_opcode_is_not_implemented_and_comes_back(opcode: int, target: Target) -> None:
    reply = target.exchange(packet(flags=opcode << 11))
    assert reply is not None
    assert rcode(reply) == dns.rcode.NOTIMP
    assert reply[2] >> 3 & 0xF == opcode
    assert answers(target)


def test_another_opcode_needs_no_question(target: Target) -> None:
    reply = target.exchange(packet(b"", flags=15 << 11, counts=(0, 0, 0, 0)))
    assert reply is not None
    assert rcode(reply) == dns.rcode.NOTIMP
    assert reply[2:4] == struct.pack("!H", 0x8000 | 15 << 11 | dns.rcode.NOTIMP)
    assert reply[4:] == bytes(8)


@pytest.mark.parametrize("question", [b"", GOOD])
def test_flags_mean_nothing_to_another_opcode(question: bytes, target: Target) -> None:
    """RFC 8906: RD, too, is defined for queries only."""
    reply = target.exchange(packet(question, flags=15 << 11 | 0x07F0, counts=(1 if question else 0, 0, 0, 0)))
    assert reply is not None
    assert reply[2:4] == struct.pack("!H", 0x8000 | 15 << 11 | dns.rcode.NOTIMP)
    assert reply[6:12] == bytes(6)


def test_a_notify_from_a_stranger_is_refused(target: Target) -> None:
    query = dns.message.make_query("ent.test.", "SOA", flags=0)
    query.set_opcode(dns.opcode.NOTIFY)
    reply = target.send(query)
    assert reply.rcode() == dns.rcode.REFUSED
    assert reply.opcode() == dns.opcode.NOTIFY


@pytest.mark.parametrize("qclass", [3, 4, 255, 254, 77])
def test_another_class_is_refused(qclass: int, target: Target) -> None:
    reply = target.exchange(packet(GOOD[:-2] + struct.pack("!H", qclass)))
    assert reply is not None
    assert rcode(reply) == dns.rcode.REFUSED
    assert reply[12 : 12 + len(GOOD) - 2] == GOOD[:-2]


@pytest.mark.parametrize("flags", [0x0000, 0x0100, 0x0400, 0x0200, 0x0080, 0x0040, 0x0020, 0x0010, 0x000F, 0x07FF])
def test_flags_of_a_query_mean_nothing_and_only_rd_comes_back(flags: int, target: Target) -> None:
    reply = target.exchange(packet(flags=flags))
    assert reply is not None
    (back,) = struct.unpack("!H", reply[2:4])
    assert back == 0x8400 | flags & 0x0100


@pytest.mark.parametrize("rdtype", ["AXFR", "IXFR"])
def test_a_transfer_is_refused_over_udp(rdtype: str, target: Target) -> None:
    assert target.ask("ent.test.", rdtype).rcode() == dns.rcode.REFUSED


@pytest.mark.parametrize("rdtype", ["MAILA", "MAILB"])
def test_obsolete_question_types_are_not_implemented(rdtype: str, target: Target) -> None:
    assert target.ask("ent.test.", rdtype).rcode() == dns.rcode.NOTIMP


@pytest.mark.parametrize("rdtype", ["OPT", "TSIG", "TKEY", "TYPE128"])
def test_types_that_only_messages_hold_cannot_be_asked_for(rdtype: str, target: Target) -> None:
    assert target.ask("ent.test.", rdtype).rcode() == dns.rcode.FORMERR


@pytest.mark.parametrize("rdtype", ["TYPE65400", "TYPE64", "TYPE200", "TYPE32768"])
def test_an_unknown_type_is_a_type_that_is_missing(rdtype: str, target: Target) -> None:
    reply = target.ask("ent.test.", rdtype)
    assert reply.rcode() == dns.rcode.NOERROR
    assert [rrset.name for rrset in reply.authority] == [dns.name.from_text("ent.test.")]


@pytest.mark.parametrize(
    "name", ["sHoRt.EnT.tEsT.", "SHORT.ENT.TEST.", "ABSENT.sTAR.test.", "No.ent.TEST.", "x.INSIDE.cut.test."]
)
def test_the_question_comes_back_octet_for_octet(name: str, target: Target) -> None:
    """RFC 4343 section 4.1; resolvers that vary the case rely on it."""
    wire = dns.name.from_text(name).to_wire()
    assert wire is not None
    question = wire + b"\x00\x10\x00\x01"
    reply = target.exchange(packet(question))
    assert reply is not None
    assert reply[12 : 12 + len(question)] == question
    lowered = target.exchange(packet(wire.lower() + b"\x00\x10\x00\x01"))
    assert lowered is not None
    assert rcode(lowered) == rcode(reply)
    assert lowered[6:12] == reply[6:12]


def test_type_65_is_not_taken_for_a_letter(target: Target) -> None:
    """The type HTTPS is 65, as is the letter A: folding the whole question would ask for type 97."""
    assert target.ask("https.kinds.test.", "HTTPS").answer


def test_recursion_is_neither_offered_nor_done(target: Target) -> None:
    reply = target.ask("www.elsewhere.example.", "A", flags=dns.flags.RD)
    assert reply.rcode() == dns.rcode.REFUSED
    assert reply.flags & dns.flags.RD
    assert not reply.flags & dns.flags.RA
