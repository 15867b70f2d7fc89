"""RFC 5001 NSID, RFC 7828 edns-tcp-keepalive and RFC 8914 extended errors; options that are not known are ignored."""

from __future__ import annotations

import dns.edns
import dns.message
import dns.opcode
import dns.rcode
import pytest

from server.config import Limits
from tests.server.beside import beside, config
from tests.server.edns import EDE, KEEPALIVE, NSID, PADDING, UNKNOWN, ask, options_of, with_options
from tests.server.question import Target


def error_code(reply: dns.message.Message) -> int:
    return int.from_bytes(options_of(reply)[EDE][:2], "big")


def test_nsid_is_told_to_those_who_ask_and_to_nobody_else() -> None:
    with beside(config(nsid=b"ns1.fra")) as server:
        assert ask(server.target, (NSID, b""))[NSID] == b"ns1.fra"
        assert ask(server.target, (NSID, b""), tcp=True)[NSID] == b"ns1.fra"
        assert ask(server.target, (UNKNOWN, b"x"), (NSID, b"ignored"), (NSID, b""))[NSID] == b"ns1.fra"
        assert NSID not in ask(server.target)
        assert options_of(server.target.send(with_options((NSID, b""), name="no.ent.test.")))[NSID] == b"ns1.fra"
        assert options_of(server.target.send(with_options((NSID, b""), name="nobody.test.")))[NSID] == b"ns1.fra"


def test_a_server_without_nsid_ignores_the_option(target: Target) -> None:
    assert ask(target, (NSID, b"")) == {}


def test_keepalive_tells_the_idle_time_over_tcp_only() -> None:
    """RFC 7828 sections 3.2.2 and 3.3.2: in units of 100 ms, and never over UDP."""
    with beside(config(limits=Limits(tcp_idle_s=12.5))) as server:
        assert ask(server.target, (KEEPALIVE, b""), tcp=True)[KEEPALIVE] == (125).to_bytes(2, "big")
        assert ask(server.target, (KEEPALIVE, b"")) == {}
        assert ask(server.target, tcp=True) == {}


def test_an_idle_time_past_what_the_option_can_say_is_the_most_it_can() -> None:
    with beside(config(limits=Limits(tcp_idle_s=86400))) as server:
        assert ask(server.target, (KEEPALIVE, b""), tcp=True)[KEEPALIVE] == b"\xff\xff"


def test_padding_in_the_clear_is_not_answered_with_padding(target: Target) -> None:
    """RFC 7830 section 6."""
    for tcp in (False, True):
        assert ask(target, (PADDING, bytes(100)), tcp=tcp) == {}


@pytest.mark.parametrize("tcp", [False, True])
def test_unknown_options_are_ignored_among_known_ones(tcp: bool, target: Target) -> None:
    assert ask(target, (UNKNOWN, b"x" * 300), (8, b"\x00\x01\x18\x00\xc0\x00\x02"), (UNKNOWN + 1, b""), tcp=tcp) == {}


def test_out_of_zone_says_not_authoritative(target: Target) -> None:
    reply = target.ask("nobody.invalid.", "A", use_edns=0)
    assert reply.rcode() == dns.rcode.REFUSED
    assert error_code(reply) == 20


def test_a_transfer_that_is_refused_says_prohibited(target: Target) -> None:
    reply = target.ask("ent.test.", "AXFR", use_edns=0, tcp=True)
    assert reply.rcode() == dns.rcode.REFUSED
    assert error_code(reply) == 18


def test_an_opcode_that_is_not_implemented_says_not_supported(target: Target) -> None:
    query = dns.message.make_query("ent.test.", "SOA", flags=0, use_edns=0)
    query.set_opcode(dns.opcode.UPDATE)
    reply = target.send(query)
    assert reply.rcode() == dns.rcode.NOTIMP
    assert error_code(reply) == 21


def test_without_edns_the_reason_stays_untold(target: Target) -> None:
    reply = target.ask("nobody.invalid.", "A")
    assert reply.rcode() == dns.rcode.REFUSED
    assert reply.edns == -1


def test_an_answer_has_no_reason_to_tell(target: Target) -> None:
    assert ask(target) == {}
