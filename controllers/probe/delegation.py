"""Who answers for a zone: the servers that are named, or those that the delegation leads to.

Owns the walk down to the zone; from there on it is the zone's own word that counts. It begins at the closest zone above that a resolver
knows and asks that zone's own servers, so that what a resolver remembers of the zone itself is not believed. Names of servers are looked
up anew for each walk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver

from controllers.probe.address import DNS_PORT, Address, ServerName
from controllers.probe.answer import Outcome, Question, is_within, name_of, read_answer, text_of
from controllers.probe.apex import Apex, Delegation, Named, read_glue
from controllers.probe.exchange import TIMEOUT_S, Exchange
from controllers.probe.host import AddressBook, server_of
from controllers.probe.round import Server

STEP_LIMIT: Final = 16
PARENTS_ASKED: Final = 3
ADDRESSES_ASKED: Final = 2
"""So many name servers of the zone above, and of the addresses of each, are asked until one tells."""


def system_resolvers() -> tuple[Address, ...]:
    """Return the resolvers of this host, none when it has none."""
    try:
        found = dns.resolver.Resolver()
    except (dns.exception.DNSException, OSError):
        return ()
    return tuple(Address(str(each), found.port) for each in found.nameservers if isinstance(each, str))


class Walk:
    """Finds the servers of zones; `port` is where servers listen that are known by name only."""

    def __init__(
        self, exchange: Exchange, resolvers: Sequence[Address], timeout_s: float = TIMEOUT_S, port: int = DNS_PORT
    ) -> None:
        self._exchange = exchange
        self._resolvers = resolvers
        self._timeout_s = timeout_s
        self._port = port
        self._book = AddressBook(exchange, resolvers, timeout_s)

    async def named(self, servers: Iterable[Address | ServerName]) -> Delegation:
        """Return the servers that are named, with the addresses of those known by a name."""
        fixed = list(dict.fromkeys(servers))
        names = [each for each in fixed if isinstance(each, ServerName)]
        found = dict(zip(names, await asyncio.gather(*(self._book.look_up(each.name) for each in names)), strict=True))
        result, faults = [], []
        for each in fixed:
            if isinstance(each, Address):
                result.append(Server(str(each), (each,)))
                continue
            server, fault = server_of(str(each), found[each], each.port or self._port)
            result.append(server)
            faults += [fault] if fault is not None else []
        all_by_name = len(names) == len(fixed)
        return Delegation(tuple(result), tuple(faults), frozenset(each.name for each in names) if all_by_name else None)

    async def discover(self, zone: str) -> Delegation:
        """Return the servers that the zone above delegates to, and all that they name at the apex beside themselves."""
        if not self._resolvers:
            return Delegation((), ("no resolver is known to find the delegation with",))
        parent = await self._closest_parent(zone)
        if parent is None:
            return Delegation((), (f"no resolver tells the name servers above {zone}",))
        delegated = await self._descend(zone, parent)
        if isinstance(delegated, Delegation):
            return delegated
        apex = Apex(zone, self._exchange, self._book, self._timeout_s, self._port)
        return await apex.grow(delegated)

    async def _closest_parent(self, zone: str) -> Named | None:
        """Return the name servers of the closest zone above that resolvers know."""
        for ancestor in _ancestors(zone):
            named = await self._recursively(ancestor)
            if named is not None:
                return named
        return None

    async def _descend(self, zone: str, start: Named) -> Named | Delegation:
        """Follow referrals down to the zone; returns a delegation to nobody, which says why, when it cannot be reached."""
        at = start
        for _ in range(STEP_LIMIT):
            found = await self._delegated_by(at, zone)
            if isinstance(found, Delegation) or found.owner == zone:
                return found
            at = found
        return Delegation((), (f"the delegation of {zone} leads over more than {STEP_LIMIT} zones",))

    async def _delegated_by(self, above: Named, zone: str) -> Named | Delegation:
        """Return the name servers that one of the servers above names for the zone, or for a zone on the way to it."""
        denied = False
        for name in sorted(above.names)[:PARENTS_ASKED]:
            hosts = above.glue.get(name) or (await self._book.look_up(name)).found
            for host in sorted(hosts, key=lambda each: (":" in each, each))[:ADDRESSES_ASKED]:
                question = Question(zone, dns.rdatatype.NS)
                reply = await self._exchange.ask(Address(host, self._port), question, self._timeout_s)
                if not isinstance(reply, dns.message.Message):
                    continue
                found = _read_named(reply, zone, above.owner) if reply.rcode() == dns.rcode.NOERROR else None
                if found is not None:
                    return found
                denied |= read_answer(reply, question, above.owner).outcome in (Outcome.NO_NAME, Outcome.NO_DATA)
        fault = f"no name server of {above.owner or 'the root'} delegates {zone}"
        return Delegation((), (fault,), denied=denied)

    async def _recursively(self, name: str) -> Named | None:
        for resolver in self._resolvers:
            question = Question(name, dns.rdatatype.NS)
            reply = await self._exchange.ask(resolver, question, self._timeout_s, recursion=True)
            if isinstance(reply, dns.message.Message) and reply.rcode() in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
                return _read_named(reply, name, None) if reply.rcode() == dns.rcode.NOERROR else None
        return None


def _ancestors(zone: str) -> Iterator[str]:
    """Yield the names above a zone, the closest first, the root last."""
    while zone:
        zone = zone.partition(".")[2]
        yield zone


def _read_named(message: dns.message.Message, zone: str, below: str | None) -> Named | None:
    """Return the name servers of the zone, or of a zone on the way to it that lies properly below `below`."""
    for rrset in (*message.answer, *message.authority):
        owner = name_of(rrset.name)
        if rrset.rdtype != dns.rdatatype.NS or not is_within(zone, owner):
            continue
        deeper = below is not None and owner != below and is_within(owner, below)
        if owner == zone or deeper:
            return Named(
                owner, frozenset(text_of(each) for each in rrset), read_glue(message, zone if below is None else below)
            )
    return None
