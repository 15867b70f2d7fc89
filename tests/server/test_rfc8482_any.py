"""RFC 8482: ANY is answered with as little as is right."""

from __future__ import annotations

import dns.flags
import dns.rcode
import dns.rdatatype

from tests.server.question import Target


def test_udp_gets_one_set(target: Target) -> None:
    reply = target.ask("several.kinds.test.", "ANY")
    assert len(reply.answer) == 1
    assert reply.flags & dns.flags.AA


def test_udp_gets_the_smallest_set(target: Target) -> None:
    reply = target.ask("several.large.test.", "ANY")
    assert [rrset.rdtype for rrset in reply.answer] == [dns.rdatatype.A]


def test_tcp_gets_all_sets(target: Target) -> None:
    reply = target.ask("several.kinds.test.", "ANY", tcp=True)
    assert {rrset.rdtype for rrset in reply.answer} == {dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.TXT}


def test_an_alias_is_not_followed(target: Target) -> None:
    for tcp in (False, True):
        reply = target.ask("one.alias.test.", "ANY", tcp=tcp)
        assert [rrset.rdtype for rrset in reply.answer] == [dns.rdatatype.CNAME]


def test_a_wildcard_gives_the_name_that_was_asked_for(target: Target) -> None:
    reply = target.ask("absent.star.test.", "ANY")
    assert [rrset.name.to_text() for rrset in reply.answer] == ["absent.star.test."]


def test_denials_and_referrals_are_those_of_any_type(target: Target) -> None:
    assert target.ask("no.ent.test.", "ANY").rcode() == dns.rcode.NXDOMAIN
    hollow = target.ask("top.ent.test.", "ANY")
    assert (hollow.rcode(), hollow.answer) == (dns.rcode.NOERROR, [])
    assert hollow.authority[0].rdtype == dns.rdatatype.SOA
    referral = target.ask("x.inside.cut.test.", "ANY")
    assert referral.authority[0].rdtype == dns.rdatatype.NS
    assert not referral.flags & dns.flags.AA


def test_a_dname_redirects_it(target: Target) -> None:
    reply = target.ask("x.old.redirect.test.", "ANY")
    assert [rrset.rdtype for rrset in reply.answer] == [dns.rdatatype.DNAME, dns.rdatatype.CNAME]
