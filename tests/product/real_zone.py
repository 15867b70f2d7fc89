"""A master file as dnspython reads it, and what an authoritative server has to answer for each of its record sets.

Owns the judgement by RFC 1034 section 4.3.2, RFC 6672 and RFC 9471: what stands below a zone cut is answered by a referral, what stands
below a DNAME by the redirection, all else by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset
import dns.zone
from dns.rdatatype import CNAME, DNAME, DS, NS, TXT

from tests.server.question import Record, Target, records

PROBE = "probe-that-does-not-exist"


class RealZone:
    """One zone; names are absolute."""

    def __init__(self, path: Path) -> None:
        self._zone = dns.zone.from_file(str(path), relativize=False, check_origin=False)
        assert self._zone.origin is not None
        self.origin = self._zone.origin
        self.names = {name for name, _ in self._zone.iterate_rdatasets()}
        self.non_terminals = {above for name in self.names for above in _ancestors(name, self.origin)} - self.names

    def rrsets(self) -> Iterator[dns.rrset.RRset]:
        """Every record set of the file."""
        for name, rdataset in self._zone.iterate_rdatasets():
            yield _rrset(name, rdataset)

    def find(self, name: dns.name.Name, rdtype: dns.rdatatype.RdataType) -> dns.rrset.RRset | None:
        rdataset = self._zone.get_rdataset(name, rdtype)
        return None if rdataset is None else _rrset(name, rdataset)

    def cut(self, name: dns.name.Name, rdtype: dns.rdatatype.RdataType) -> dns.name.Name | None:
        """The topmost zone cut at or above a name; DS belongs to the parent's side (RFC 4035 section 3.1.4.1)."""
        found = None
        for each in (name, *_ancestors(name, self.origin)):
            at_the_cut = each == name and rdtype == DS
            if each != self.origin and not at_the_cut and self.find(each, NS):
                found = each
        return found

    def redirection(self, name: dns.name.Name) -> dns.rrset.RRset | None:
        """The DNAME that a name stands below."""
        above = [*_ancestors(name, self.origin), self.origin] if name != self.origin else []
        return next((found for each in above if (found := self.find(each, DNAME))), None)


@dataclass(frozen=True, slots=True)
class Examiner:
    """Asks a server and holds its replies against a zone file; with `joined` a text may be cut into strings elsewhere."""

    zone: RealZone
    server: Target
    joined: bool = False

    def examine(self, rrset: dns.rrset.RRset) -> None:
        """Hold the reply to a record set's name and type against the file."""
        reply = self.ask(rrset.name, rrset.rdtype)
        assert reply.rcode() in (dns.rcode.NOERROR, dns.rcode.YXDOMAIN), reply
        if cut := self.zone.cut(rrset.name, rrset.rdtype):
            self._examine_referral(reply, cut)
        elif dname := self.zone.redirection(rrset.name):
            assert self.content([reply.answer[0]]) == self.content([dname])
        else:
            assert reply.flags & dns.flags.AA, reply
            assert self.content([reply.answer[0]]) == self.content([rrset])

    def examine_alias(self, rrset: dns.rrset.RRset) -> None:
        """Hold the reply to another type at a CNAME against the file: the alias comes first."""
        if rrset.rdtype != CNAME or self.zone.cut(rrset.name, CNAME) or self.zone.redirection(rrset.name):
            return
        reply = self.ask(rrset.name, dns.rdatatype.A)
        assert self.content([reply.answer[0]]) == self.content([rrset])

    def examine_wildcard(self, rrset: dns.rrset.RRset) -> None:
        """Hold the reply to a name that only a wildcard has against the file (RFC 4592)."""
        if rrset.name.labels[0] != b"*" or self.zone.cut(rrset.name, rrset.rdtype):
            return
        probe = dns.name.Name((PROBE.encode(), *rrset.name.labels[1:]))
        reply = self.ask(probe, rrset.rdtype)
        expected = dns.rrset.from_rdata_list(probe, rrset.ttl, list(rrset))
        assert self.content([reply.answer[0]]) == self.content([expected])

    def examine_non_terminal(self, name: dns.name.Name) -> None:
        """Hold the reply to a name without records, but with names below it, against the file."""
        if self.zone.cut(name, TXT) or self.zone.redirection(name) or name == self.zone.origin:
            return
        reply = self.ask(name, TXT)
        assert (reply.rcode(), reply.answer) == (dns.rcode.NOERROR, []), reply
        assert reply.flags & dns.flags.AA

    def ask(self, name: dns.name.Name, rdtype: dns.rdatatype.RdataType) -> dns.message.Message:
        kind = dns.rdatatype.to_text(rdtype)
        reply = self.server.ask(name.to_text(), kind)
        return self.server.ask(name.to_text(), kind, tcp=True) if reply.flags & dns.flags.TC else reply

    def content(self, section: list[dns.rrset.RRset]) -> set[Record]:
        if not self.joined:
            return records(section)
        return {
            (name, ttl, kind, text if kind == "TXT" else data)
            for rrset in section
            for rdata in rrset
            for name, ttl, kind, data in records([dns.rrset.from_rdata(rrset.name, rrset.ttl, rdata)])
            for text in [b"".join(getattr(rdata, "strings", ())).hex()]
        }

    def _examine_referral(self, reply: dns.message.Message, cut: dns.name.Name) -> None:
        servers = self.zone.find(cut, NS)
        assert servers is not None
        assert not reply.flags & dns.flags.AA, reply
        assert reply.answer == [], reply
        assert self.content(reply.authority) == self.content([servers])
        inside = [rdata.target for rdata in servers if rdata.target.is_subdomain(cut)]
        glue = [self.zone.find(name, kind) for name in inside for kind in (dns.rdatatype.A, dns.rdatatype.AAAA)]
        assert self.content([each for each in glue if each]) <= self.content(reply.additional)


def _ancestors(name: dns.name.Name, origin: dns.name.Name) -> Iterator[dns.name.Name]:
    """The names between a name and the origin, both left out, from below."""
    while name not in (origin, dns.name.root) and (name := name.parent()) != origin:
        yield name


def _rrset(name: dns.name.Name, rdataset: dns.rdataset.Rdataset) -> dns.rrset.RRset:
    return dns.rrset.from_rdata_list(name, rdataset.ttl, list(rdataset))
