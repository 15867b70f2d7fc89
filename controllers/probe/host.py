"""The addresses of name servers that are known by name: from resolvers, from the zone's own servers, and as they came along.

Owns when an address counts as known. A resolver that fails or refuses has said nothing about a name, so that a server without a known
address is never taken for one that has none. Nothing is kept from one look-up to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import dns.message
import dns.rcode
import dns.rdatatype

from controllers.probe.address import Address
from controllers.probe.answer import Outcome, Question, read_answer, text_of
from controllers.probe.exchange import Exchange
from controllers.probe.round import UNRESOLVED, Server

ADDRESS_LIMIT: Final = 16
"""So many addresses of one name server are asked."""
ASKED: Final = 8
"""So many servers of a zone are asked for an address in it; one that is behind with the zone does not know them all."""
FAMILIES: Final = (dns.rdatatype.A, dns.rdatatype.AAAA)
TOO_MANY: Final = "TOOMANY"

_TELLING: Final = frozenset({dns.rcode.NOERROR, dns.rcode.NXDOMAIN})


@dataclass(frozen=True, slots=True)
class Hosts:
    """Addresses of a name; without `all_known` there may be others."""

    found: frozenset[str] = frozenset()
    all_known: bool = True

    def with_glue(self, glue: Iterable[str]) -> Hosts:
        """Return these and those that came along. With glue a name can be reached, whoever else does not know it."""
        more = frozenset(glue)
        return Hosts(self.found | more, self.all_known or bool(more))


UNKNOWN: Final = Hosts(all_known=False)


class AddressBook:
    """Looks names up through resolvers, and names of a zone at its own servers."""

    def __init__(self, exchange: Exchange, resolvers: Sequence[Address], timeout_s: float) -> None:
        self._exchange = exchange
        self._resolvers = resolvers
        self._timeout_s = timeout_s

    async def look_up(self, name: str) -> Hosts:
        """Return what resolvers say."""
        families = await asyncio.gather(*(self._resolved(name, family) for family in FAMILIES))
        return _joined(families)

    async def look_up_at(self, servers: Sequence[Address], name: str, zone: str) -> Hosts:
        """Return what any of the zone's own servers say of a name in it."""
        asked = [(server, family) for server in servers[:ASKED] for family in FAMILIES]
        told = await asyncio.gather(*(self._told(server, name, family, zone) for server, family in asked))
        found = [[each for each, (_, kind) in zip(told, asked, strict=True) if kind == family] for family in FAMILIES]
        return _joined(_union(each) for each in found)

    async def _resolved(self, name: str, family: dns.rdatatype.RdataType) -> frozenset[str] | None:
        for resolver in self._resolvers:
            reply = await self._exchange.ask(resolver, Question(name, family), self._timeout_s, recursion=True)
            if isinstance(reply, dns.message.Message) and _tells(reply):
                return frozenset(text_of(each) for rrset in reply.answer if rrset.rdtype == family for each in rrset)
        return None

    async def _told(
        self, server: Address, name: str, family: dns.rdatatype.RdataType, zone: str
    ) -> frozenset[str] | None:
        question = Question(name, family)
        reply = await self._exchange.ask(server, question, self._timeout_s)
        if not isinstance(reply, dns.message.Message):
            return None
        answer = read_answer(reply, question, zone)
        return answer.values if answer.outcome.is_answer and answer.outcome is not Outcome.REFERRAL else None


def server_of(name: str, hosts: Hosts, port: int) -> tuple[Server, str | None]:
    """Return the name server with the addresses that it is asked at, and what is wrong with them."""
    ordered = sorted(hosts.found)
    addresses = tuple(Address(host, port) for host in ordered[:ADDRESS_LIMIT])
    if len(ordered) > ADDRESS_LIMIT:
        fault = f"name server {name} has {len(ordered)} addresses, of which {ADDRESS_LIMIT} are asked"
        return Server(name, addresses, TOO_MANY), fault
    if not hosts.all_known:
        return Server(name, addresses, UNRESOLVED), f"no resolver tells all addresses of name server {name}"
    return Server(name, addresses), None if addresses else f"name server {name} has no address"


def _tells(reply: dns.message.Message) -> bool:
    """A failure tells nothing about a name, and neither does a referral to others who may know it."""
    if reply.rcode() not in _TELLING:
        return False
    kinds = {rrset.rdtype for rrset in reply.authority}
    return bool(reply.answer) or dns.rdatatype.NS not in kinds or dns.rdatatype.SOA in kinds


def _union(told: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return what any of them tells, None when none does."""
    sets = [each for each in told if each is not None]
    return frozenset[str]().union(*sets) if sets else None


def _joined(families: Iterable[frozenset[str] | None]) -> Hosts:
    told = list(families)
    found = frozenset(host for each in told if each is not None for host in each)
    return Hosts(found, None not in told)
