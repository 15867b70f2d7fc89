"""RFC 6891: EDNS(0)."""

from __future__ import annotations

import struct

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from tests.server.question import Target

GOOD = b"\x05short\x03ent\x04test\x00\x00\x01\x00\x01"


def opt(
    *, payload: int = 1232, version: int = 0, flags: int = 0, options: bytes = b"", owner: bytes = b"\x00"
) -> bytes:
    return owner + struct.pack("!HHBBHH", 41, payload, 0, version, flags, len(options)) + options


def option(code: int, data: bytes = b"") -> bytes:
    return struct.pack("!HH", code, len(data)) + data


def packet(*additional: bytes, counts: tuple[int, int, int, int] | None = None) -> bytes:
    return struct.pack("!6H", 0x1234, 0, *(counts or (1, 0, 0, len(additional)))) + GOOD + b"".join(additional)


def ask(target: Target, octets: bytes) -> dns.message.Message:
    reply = target.exchange(octets)
    assert reply is not None
    return dns.message.from_wire(reply)


def test_without_opt_there_is_none_in_the_reply(target: Target) -> None:
    assert target.ask("short.ent.test.", "A").edns == -1
    assert target.ask("no.ent.test.", "A").edns == -1
    assert target.ask("nobody.invalid.", "A").edns == -1


@pytest.mark.parametrize(
    "name", ["short.ent.test.", "no.ent.test.", "x.inside.cut.test.", "nobody.invalid.", "x.old.redirect.test."]
)
def test_opt_is_answered_with_opt(name: str, target: Target) -> None:
    """RFC 6891 section 6.1.1: also where the answer is a refusal."""
    reply = target.ask(name, "A", use_edns=0)
    assert reply.edns == 0
    assert reply.payload == 1232
    assert all(each.otype == dns.edns.OptionType.EDE for each in reply.options)
    assert not reply.ednsflags & dns.flags.DO


@pytest.mark.parametrize(("flags", "rcode"), [(0, dns.rcode.FORMERR), (2 << 11, dns.rcode.NOTIMP)])
def test_opt_is_answered_with_opt_where_there_is_no_question(
    flags: int, rcode: dns.rcode.Rcode, target: Target
) -> None:
    reply = ask(target, struct.pack("!6H", 0x1234, flags, 0, 0, 0, 1) + opt(flags=0x8000))
    assert (reply.rcode(), reply.edns, reply.payload, reply.ednsflags) == (rcode, 0, 1232, dns.flags.DO)


def test_do_is_copied(target: Target) -> None:
    assert target.ask("short.ent.test.", "A", want_dnssec=True).ednsflags == dns.flags.DO


def test_other_edns_flags_are_not_copied(target: Target) -> None:
    assert ask(target, packet(opt(flags=0x7FFF))).ednsflags == 0
    assert ask(target, packet(opt(flags=0xFFFF))).ednsflags == dns.flags.DO


@pytest.mark.parametrize("version", [1, 2, 100, 255])
@pytest.mark.parametrize("options", [b"", option(65001, b"data")])
def test_another_version_is_badvers(version: int, options: bytes, target: Target) -> None:
    """RFC 6891 section 6.1.3: extended RCODE 16 in two parts, our own version, nothing but the question."""
    reply = target.exchange(packet(opt(version=version, options=options)))
    assert reply is not None
    assert reply[3] & 0xF == 0
    assert reply[6:10] == bytes(4)
    assert reply[12 : 12 + len(GOOD)] == GOOD
    parsed = dns.message.from_wire(reply)
    assert parsed.rcode() == dns.rcode.BADVERS
    assert parsed.edns == 0
    assert not parsed.answer


@pytest.mark.parametrize(
    "options", [option(65001, b"data"), option(0xFFFE), option(10, bytes(8)) + option(8, b"\x00\x01\x00\x00")]
)
def test_options_that_are_not_known_are_ignored(options: bytes, target: Target) -> None:
    reply = ask(target, packet(opt(options=options)))
    assert reply.rcode() == dns.rcode.NOERROR
    assert reply.answer
    assert not any(each.otype == 65001 for each in reply.options)


FAULTS = {
    "two": packet(opt(), opt()),
    "an option cut short": packet(opt(options=b"\x00\x0a\x00\x08abc")),
    "half an option": packet(opt(options=b"\x00\x0a\x00")),
    "an owner": packet(opt(owner=b"\x01x\x00")),
    "in the answer section": packet(opt(), counts=(1, 1, 0, 0)),
    "in the authority section": packet(opt(), counts=(1, 0, 1, 0)),
    "octets behind it": packet(opt() + b"x", counts=(1, 0, 0, 1)),
    "longer than the packet": packet(opt(options=option(1, b"x"))[:-1]),
}


@pytest.mark.parametrize("octets", FAULTS.values(), ids=FAULTS.keys())
def test_a_faulty_opt_is_formerr(octets: bytes, target: Target) -> None:
    reply = target.exchange(octets)
    assert reply is not None
    assert reply[3] & 0xF == dns.rcode.FORMERR
    assert target.ask("short.ent.test.", "A").answer


def test_opt_may_stand_behind_other_additional_records(target: Target) -> None:
    other = b"\x01x\x00" + struct.pack("!HHIH", 1, 1, 0, 4) + bytes(4)
    reply = ask(target, packet(other, opt()))
    assert reply.rcode() == dns.rcode.NOERROR
    assert reply.edns == 0


@pytest.mark.parametrize("payload", [0, 100, 511, 512])
def test_a_small_payload_counts_as_512(payload: int, target: Target) -> None:
    """RFC 6891 section 6.2.3."""
    reply = target.exchange(packet(opt(payload=payload)))
    assert reply is not None
    assert dns.message.from_wire(reply).answer
    large = target.ask("middle.large.test.", "A", use_edns=0, payload=payload)
    assert large.flags & dns.flags.TC
