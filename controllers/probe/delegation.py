"""Who answers for a zone: the servers that are named, or those that the delegation leads to.

Owns the walk. It begins at the closest zone above that a resolver knows and asks that zone's own servers, so that what a resolver
remembers of the zone itself is not believed. Names of servers are looked up anew for each walk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver

from controllers.probe.address import DNS_PORT, Address, ServerName
from controllers.probe.answer import Question, is_within, name_of, text_of
from controllers.probe.exchange import TIMEOUT_S, Exchange
from controllers.probe.round import Server

STEP_LIMIT: Final = 16
PARENTS_ASKED: Final = 3
SERVER_LIMIT: Final = 32
_FAMILIES: Final = (dns.rdatatype.A, dns.rdatatype.AAAA)

Glue = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Delegation:
    """The servers of a zone; `faults` say what is wrong with the way to them."""

    servers: tuple[Server, ...]
    faults: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Named:
    """Name servers as one zone names them, with the addresses that came along."""

    owner: str
    names: frozenset[str]
    glue: Glue


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

    async def named(self, servers: Iterable[Address | ServerName]) -> Delegation:
        """Return the servers that are named, with the addresses of those known by a name."""
        fixed = list(servers)
        looked_up = [each for each in fixed if isinstance(each, ServerName)]
        found = dict(zip(looked_up, await self._look_up_all([each.name for each in looked_up]), strict=True))
        result, faults = [], []
        for each in fixed:
            if isinstance(each, Address):
                result.append(Server(str(each), (each,)))
                continue
            addresses = tuple(Address(host, each.port or self._port) for host in found[each])
            result.append(Server(str(each), addresses))
            if not addresses:
                faults.append(f"name server {each} has no address")
        return Delegation(tuple(dict.fromkeys(result)), tuple(faults))

    async def discover(self, zone: str) -> Delegation:
        """Return the servers that the zone above delegates to, and those that they name at the apex beside themselves."""
        if not self._resolvers:
            return Delegation((), ("no resolver is known to find the delegation with",))
        parent = await self._closest_parent(zone)
        if parent is None:
            return Delegation((), (f"no resolver tells the name servers above {zone}",))
        delegated = await self._descend(zone, parent)
        if isinstance(delegated, str):
            return Delegation((), (delegated,))
        servers, faults = await self._servers_of(delegated)
        own = await self._named_by(zone, [address for each in servers for address in each.addresses])
        if own is not None and (missing := own.names - delegated.names):
            listed = ", ".join(sorted(missing))
            faults.append(f"the apex names {listed}, which the zone above does not delegate to")
            glue = {**own.glue, **delegated.glue}
            more, further = await self._servers_of(Named(zone, missing, glue))
            servers += more
            faults += further
        return Delegation(tuple(sorted(servers)[:SERVER_LIMIT]), tuple(faults))

    async def _closest_parent(self, zone: str) -> Named | None:
        """Return the name servers of the closest zone above that resolvers know."""
        for ancestor in _ancestors(zone):
            named = await self._recursively(ancestor)
            if named is not None:
                return named
        return None

    async def _descend(self, zone: str, start: Named) -> Named | str:
        """Follow referrals down to the zone; returns a text that says why it cannot be reached."""
        at = start
        for _ in range(STEP_LIMIT):
            servers, _ = await self._servers_of(at)
            addresses = [address for each in servers for address in each.addresses]
            found = await self._named_by(zone, addresses[: PARENTS_ASKED * 2], below=at.owner)
            above = at.owner or "the root"
            if found is None:
                return f"no name server of {above} delegates {zone}"
            if found.owner == zone:
                return found
            at = found
        return f"the delegation of {zone} leads over more than {STEP_LIMIT} zones"

    async def _named_by(self, zone: str, servers: Sequence[Address], below: str | None = None) -> Named | None:
        """Return the name servers that one of `servers` names for the zone, or for a zone between `below` and it."""
        for server in servers:
            reply = await self._exchange.ask(server, Question(zone, dns.rdatatype.NS), self._timeout_s)
            if isinstance(reply, dns.message.Message) and reply.rcode() == dns.rcode.NOERROR:
                found = _read_named(reply, zone, below)
                if found is not None:
                    return found
        return None

    async def _recursively(self, name: str) -> Named | None:
        for resolver in self._resolvers:
            question = Question(name, dns.rdatatype.NS)
            reply = await self._exchange.ask(resolver, question, self._timeout_s, recursion=True)
            if isinstance(reply, dns.message.Message):
                return _read_named(reply, name, None) if reply.rcode() == dns.rcode.NOERROR else None
        return None

    async def _servers_of(self, named: Named) -> tuple[list[Server], list[str]]:
        names = sorted(named.names)[:SERVER_LIMIT]
        unknown = [name for name in names if name not in named.glue]
        looked_up: Mapping[str, Sequence[str]] = dict(zip(unknown, await self._look_up_all(unknown), strict=True))
        servers, faults = [], []
        for name in names:
            hosts = named.glue.get(name) or looked_up.get(name, ())
            servers.append(Server(name, tuple(Address(host, self._port) for host in sorted(set(hosts)))))
            if not hosts:
                faults.append(f"name server {name} has no address")
        return servers, faults

    async def _look_up_all(self, names: Sequence[str]) -> list[list[str]]:
        return list(await asyncio.gather(*(self._look_up(name) for name in names)))

    async def _look_up(self, name: str) -> list[str]:
        """Return the addresses of a name, IPv4 first."""
        found: list[str] = []
        for family in _FAMILIES:
            for resolver in self._resolvers:
                reply = await self._exchange.ask(resolver, Question(name, family), self._timeout_s, recursion=True)
                if isinstance(reply, dns.message.Message):
                    found += (text_of(each) for rrset in reply.answer if rrset.rdtype == family for each in rrset)
                    break
        return found


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
                owner, frozenset(text_of(each) for each in rrset), _read_glue(message, zone if below is None else below)
            )
    return None


def _read_glue(message: dns.message.Message, zone: str) -> Glue:
    """Return the addresses that came along; those outside the zone of the server are none of its business."""
    glue: Glue = {}
    for rrset in (*message.answer, *message.additional):
        if rrset.rdtype in _FAMILIES and is_within(name_of(rrset.name), zone):
            glue.setdefault(name_of(rrset.name), []).extend(text_of(each) for each in rrset)
    return glue
