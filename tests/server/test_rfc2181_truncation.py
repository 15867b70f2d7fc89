"""RFC 2181 section 9, RFC 9471, RFC 1035 section 4.2.1: replies that do not fit."""

from __future__ import annotations

import dns.flags
import dns.message
import dns.rcode
import pytest

from tests.server.question import Target, records


def size(message: dns.message.Message) -> int:
    return len(message.wire or b"")


def test_a_reply_without_edns_is_at_most_512_octets(target: Target) -> None:
    reply = target.ask("middle.large.test.", "A")
    assert reply.flags & dns.flags.TC
    assert size(reply) <= 512


def test_edns_makes_room_for_the_whole_answer(target: Target) -> None:
    reply = target.ask("middle.large.test.", "A", use_edns=0, payload=1232)
    assert not reply.flags & dns.flags.TC
    assert len(records(reply.answer)) == 40


@pytest.mark.parametrize("payload", [1232, 4096, 65535])
def test_no_reply_over_udp_is_past_1232_octets(payload: int, target: Target) -> None:
    reply = target.ask("huge.large.test.", "TXT", use_edns=0, payload=payload)
    assert reply.flags & dns.flags.TC
    assert size(reply) <= 1232


def test_what_is_truncated_is_authoritative_and_holds_no_part_of_a_set(target: Target) -> None:
    reply = target.ask("huge.large.test.", "TXT", use_edns=0)
    assert reply.rcode() == dns.rcode.NOERROR
    assert reply.flags & dns.flags.AA
    assert not reply.answer
    assert reply.edns == 0


def test_tcp_gives_the_whole_answer(target: Target) -> None:
    reply = target.ask("huge.large.test.", "TXT", tcp=True)
    assert not reply.flags & dns.flags.TC
    assert len(records(reply.answer)) == 8


def test_a_referral_that_lacks_room_for_glue_of_the_child_is_truncated(target: Target) -> None:
    """RFC 9471 section 3.1: without the child's own addresses the referral is of no use."""
    reply = target.ask("x.child.large.test.", "A")
    assert reply.flags & dns.flags.TC
    assert size(reply) <= 512


def test_addresses_beside_the_child_are_left_out_in_whole_sets(target: Target) -> None:
    """RFC 9471 section 3.2: glue of a sibling helps, and is no reason to truncate."""
    reply = target.ask("x.sibling.large.test.", "A", use_edns=0, payload=900)
    assert not reply.flags & dns.flags.TC
    assert size(reply) <= 900
    assert len(records(reply.authority)) == 13
    assert 0 < len(reply.additional) < 13
    assert all(len(rrset) == 3 for rrset in reply.additional)


def test_the_limit_is_met_exactly(target: Target) -> None:
    """From the payload that just fits down to one octet less."""
    whole = size(target.ask("middle.large.test.", "A", use_edns=0, payload=1232))
    assert not target.ask("middle.large.test.", "A", use_edns=0, payload=whole).flags & dns.flags.TC
    assert target.ask("middle.large.test.", "A", use_edns=0, payload=whole - 1).flags & dns.flags.TC
