"""RFC 4892 and custom: what the server tells about itself in class CHAOS."""

from __future__ import annotations

import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import pytest

from server.answer.chaos import Chaos
from server.network import Networks
from tests.server.beside import beside, config
from tests.server.question import Target

HERE = Networks.parse(["127.0.0.1"])
ELSEWHERE = Networks.parse(["192.0.2.0/24", "2001:db8::/32"])


def ask(target: Target, name: str, rdtype: str = "TXT", *, tcp: bool = False) -> dns.message.Message:
    return target.ask(name, rdtype, rdclass=dns.rdataclass.CH, tcp=tcp)


def text(reply: dns.message.Message) -> str:
    (rrset,) = reply.answer
    assert rrset.rdclass == dns.rdataclass.CH
    assert rrset.ttl == 0
    (rdata,) = rrset
    return str(rdata)


@pytest.mark.parametrize("tcp", [False, True])
def test_version_and_identity_are_told_under_both_of_their_names(tcp: bool) -> None:
    with beside(config(chaos=Chaos("v1", "pod-7", HERE))) as server:
        for name in ("version.bind.", "VERSION.server."):
            assert text(ask(server.target, name, tcp=tcp)) == '"v1"'
        for name in ("id.server.", "HostName.BIND."):
            reply = ask(server.target, name, tcp=tcp)
            assert text(reply) == '"pod-7"'
            assert reply.flags & dns.flags.AA
            assert text(ask(server.target, name, "ANY", tcp=tcp)) == '"pod-7"'


def test_other_types_of_these_names_hold_nothing() -> None:
    with beside(config(chaos=Chaos("v1", "", HERE))) as server:
        reply = ask(server.target, "version.bind.", "A")
        assert (reply.rcode(), reply.answer) == (dns.rcode.NOERROR, [])


@pytest.mark.parametrize(
    ("chaos", "name"),
    [
        (Chaos("v1", "pod-7", ELSEWHERE), "version.bind."),
        (Chaos("v1", "pod-7", Networks()), "id.server."),
        (Chaos("", "pod-7", HERE), "version.server."),
        (Chaos("v1", "", HERE), "hostname.bind."),
        (Chaos("v1", "pod-7", HERE), "authors.bind."),
        (Chaos("v1", "pod-7", HERE), "x.version.bind."),
    ],
)
def test_who_is_not_allowed_and_what_is_not_configured_is_refused(chaos: Chaos, name: str) -> None:
    with beside(config(chaos=chaos)) as server:
        reply = ask(server.target, name)
        assert (reply.rcode(), reply.answer) == (dns.rcode.REFUSED, [])


def test_a_name_of_class_in_is_no_secret_door(target: Target) -> None:
    assert target.ask("version.bind.", "TXT").rcode() == dns.rcode.REFUSED


def test_by_default_this_machine_alone_is_told() -> None:
    assert "127.0.0.1" in Chaos().allow
    assert "::1" in Chaos().allow
    assert "192.0.2.1" not in Chaos().allow
    assert "::ffff:127.0.0.1" not in Chaos().allow


def test_a_text_that_no_record_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed are 255"):
        Chaos("v" * 256)


@pytest.mark.parametrize("name", ["192.0.2.300", "2001:db8::/129", "example.com", "192.0.2.1/24"])
def test_what_is_no_network_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="allowed is an address or a network"):
        Networks.parse([name])
