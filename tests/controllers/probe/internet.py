"""Name servers and resolvers that do not exist: an exchange that answers from zone texts, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import dns.zone

from controllers.probe.address import Address
from controllers.probe.answer import SILENCE, Answer, Question

RESOLVER = Address("198.51.100.53")
SOA = "@ 300 IN SOA ns1.example. h.example. 1 1 1 1 60\n"


@dataclass
class Host:
    """One name server: its zones by name; `rcode` is what it says to everything, `silent_about` the types that it says nothing to."""

    zones: dict[str, dns.zone.Zone] = field(default_factory=dict)
    rcode: dns.rcode.Rcode | None = None
    silent_about: frozenset[str] = frozenset()


@dataclass
class Internet:
    """Implements the Exchange protocol. `asked` are the questions, by address."""

    hosts: dict[str, Host] = field(default_factory=dict)
    names: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """What resolvers say, by name and type."""
    resolvers: dict[str, dns.rcode.Rcode | None] = field(default_factory=lambda: {RESOLVER.host: None})
    """Resolvers by address, with what they say to everything instead of answers."""
    asked: dict[Address, list[Question]] = field(default_factory=lambda: defaultdict(list))

    def serve(self, host: str, zone: str, body: str, **about: object) -> None:
        """Have an address answer for a zone."""
        text = body if "SOA" in body else SOA + body
        server = self.hosts.setdefault(host, Host(**about))  # type: ignore[arg-type] # what Host takes
        server.zones[zone] = dns.zone.from_text(text, origin=f"{zone}.", relativize=False, check_origin=False)

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        """Answer as the server with that address."""
        self.asked[server].append(question)
        kind = dns.rdatatype.to_text(dns.rdatatype.RdataType(question.type))
        query = dns.message.make_query(f"{question.name}.", kind)
        reply = dns.message.make_response(query)
        if server.host in self.resolvers:
            return self._resolve(server.host, question.name, kind, reply)
        found = self.hosts.get(server.host)
        if found is None or kind in found.silent_about:
            return SILENCE
        if found.rcode is not None:
            reply.set_rcode(found.rcode)
            return reply
        zone = next((each for name, each in found.zones.items() if f".{question.name}".endswith(f".{name}")), None)
        if zone is None:
            reply.set_rcode(dns.rcode.REFUSED)
            return reply
        return _authoritative(zone, query.question[0].name, query.question[0].rdtype, reply)

    def _resolve(self, host: str, name: str, kind: str, reply: dns.message.Message) -> dns.message.Message:
        if (rcode := self.resolvers[host]) is not None:
            reply.set_rcode(rcode)
        elif texts := self.names.get((name, kind)):
            reply.answer.append(dns.rrset.from_text(f"{name}.", 300, "IN", kind, *texts))
        return reply


def _authoritative(
    zone: dns.zone.Zone, name: dns.name.Name, kind: dns.rdatatype.RdataType, reply: dns.message.Message
) -> dns.message.Message:
    assert zone.origin is not None
    cut = name
    while cut != zone.origin:
        if (delegation := zone.get_rrset(cut, dns.rdatatype.NS)) is not None:
            reply.authority.append(delegation)
            for each in delegation:
                target = dns.name.from_text(each.to_text())
                glue = (zone.get_rrset(target, family) for family in (dns.rdatatype.A, dns.rdatatype.AAAA))
                reply.additional += [rrset for rrset in glue if rrset is not None]
            return reply
        cut = cut.parent()
    reply.flags |= dns.flags.AA
    if (alias := zone.get_rrset(name, dns.rdatatype.CNAME)) is not None and kind != dns.rdatatype.CNAME:
        reply.answer.append(alias)
    elif (found := zone.get_rrset(name, kind)) is not None:
        reply.answer.append(found)
    elif zone.get_node(name) is None:
        reply.set_rcode(dns.rcode.NXDOMAIN)
    return reply


def internet(above: str, servers: Mapping[str, str], names: Mapping[str, str] | None = None) -> Internet:
    """The zone `test` at 192.0.2.1 with this text, zone shop.test at addresses with theirs, and what resolvers know of other names."""
    world = Internet()
    world.names[("test", "NS")] = ("ns1.test.",)
    world.names[("ns1.test", "A")] = ("192.0.2.1",)
    world.serve("192.0.2.1", "test", above)
    for host, text in servers.items():
        world.serve(host, "shop.test", text)
    for name, address in (names or {}).items():
        world.names[(name, "AAAA" if ":" in address else "A")] = (address,)
    return world
