"""RFC 6672 section 2.2, RFC 1034 section 3.6.2: chains that do not end are cut, in bounded time."""

from __future__ import annotations

import dns.rcode
import dns.rdatatype
import pytest

from tests.server.question import Target


@pytest.mark.parametrize("name", ["x.circle.redirect.test.", "x.spiral.redirect.test."])
def test_a_dname_into_itself_gives_a_bounded_answer(name: str, target: Target) -> None:
    reply = target.ask(name, "A", tcp=True)
    assert reply.rcode() in (dns.rcode.NOERROR, dns.rcode.YXDOMAIN)
    kinds = [rrset.rdtype for rrset in reply.answer]
    assert kinds.count(dns.rdatatype.DNAME) == 1
    assert 1 <= kinds.count(dns.rdatatype.CNAME) <= 32
