"""All name servers of a zone, from those that the zone above delegates to: what each of them names at the apex, and what these name.

Owns that set. Every server is asked and every name counts, since resolvers ask any of them; whoever cannot be asked stands in the set all
the same, as a server that nothing is known of. Bounded, since other people's zones say how many there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import dns.message
import dns.rdatatype

from controllers.probe.address import Address
from controllers.probe.answer import NOT_ASKED, Answer, Outcome, Question, is_within, name_of, read_answer, text_of
from controllers.probe.exchange import Exchange
from controllers.probe.host import FAMILIES, UNKNOWN, AddressBook, Hosts, server_of
from controllers.probe.round import Server

SERVER_LIMIT: Final = 32
STEP_LIMIT: Final = 4
TOLD_LIMIT: Final = 3
NAME_LIMIT: Final = 512
HOST_LIMIT: Final = 256
"""So many names, and so many addresses of each that is asked, are kept; each of many servers may tell ever more of them."""

Glue = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Delegation:
    """The servers of a zone; `faults` say what is wrong with the way to them.

    `names` are those of the servers, None when they are known by address, so that nobody can tell which name at the apex is whose.
    `denied` when there are none since the zone above says so, and not since it could not be asked.
    """

    servers: tuple[Server, ...]
    faults: tuple[str, ...] = field(default=())
    names: frozenset[str] | None = None
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """Name servers as one zone names them, with the addresses that came along."""

    owner: str
    names: frozenset[str]
    glue: Glue


class Apex:
    """The name servers of one zone in one walk; servers listen on `port`."""

    def __init__(self, zone: str, exchange: Exchange, book: AddressBook, timeout_s: float, port: int) -> None:
        self._zone = zone
        self._exchange = exchange
        self._book = book
        self._timeout_s = timeout_s
        self._port = port
        self._names: dict[str, None] = {}  # in the order in which they were told
        self._hosts: dict[str, Hosts] = {}
        self._glue: dict[str, set[str]] = {}
        self._settled: set[str] = set()
        self._told: dict[Address, Answer] = {}

    async def grow(self, delegated: Named) -> Delegation:
        """Return every server, with those that could not be asked as servers without an address."""
        self._add(delegated.names, delegated.glue)
        for _ in range(STEP_LIMIT):
            await self._find_addresses()
            fresh = [each for each in self._addresses() if each not in self._told]
            if not fresh:
                break
            await asyncio.gather(*(self._ask(each) for each in fresh))
        servers, faults = self._servers()
        return Delegation(
            tuple(sorted(servers)), (*self._apex_faults(delegated.names), *faults), frozenset(self._names)
        )

    def _add(self, names: Iterable[str], glue: Glue) -> None:
        fresh = sorted(each for each in names if each not in self._names)
        self._names.update(dict.fromkeys(fresh[: NAME_LIMIT - len(self._names)]))
        for name in self._chosen:
            hosts = self._glue.setdefault(name, set()) if name in glue else set()
            hosts.update(glue.get(name, ())[: HOST_LIMIT - len(hosts)])

    async def _find_addresses(self) -> None:
        """Look names up, and those in the zone again as soon as one of its own servers speaks for it."""
        telling = [each for each, answer in self._told.items() if answer.outcome is Outcome.DATA]
        names = [each for each in self._chosen if each not in self._settled]
        found = await asyncio.gather(*(self._look_up(each, telling) for each in names))
        for name, hosts in zip(names, found, strict=True):
            self._hosts[name] = hosts
            if telling or not is_within(name, self._zone):
                self._settled.add(name)

    async def _look_up(self, name: str, telling: Sequence[Address]) -> Hosts:
        if is_within(name, self._zone):
            if telling and (told := await self._book.look_up_at(telling, name, self._zone)).all_known:
                return told
            if name in self._glue:
                return UNKNOWN
        return await self._book.look_up(name)

    async def _ask(self, server: Address) -> None:
        question = Question(self._zone, dns.rdatatype.NS)
        reply = await self._exchange.ask(server, question, self._timeout_s)
        if not isinstance(reply, dns.message.Message):
            self._told[server] = reply
            return
        answer = self._told[server] = read_answer(reply, question, self._zone)
        if answer.outcome is Outcome.DATA:
            self._add(answer.values, read_glue(reply, self._zone))

    @property
    def _chosen(self) -> Sequence[str]:
        return list(self._names)[:SERVER_LIMIT]

    def _hosts_of(self, name: str) -> Hosts:
        return self._hosts.get(name, UNKNOWN).with_glue(self._glue.get(name, ()))

    def _addresses(self) -> list[Address]:
        servers = (server_of(name, self._hosts_of(name), self._port)[0] for name in self._chosen)
        return sorted({address for server in servers for address in server.addresses})

    def _servers(self) -> tuple[list[Server], list[str]]:
        servers, faults = [], []
        for name in self._chosen:
            server, fault = server_of(name, self._hosts_of(name), self._port)
            servers.append(server)
            faults += [fault] if fault is not None else []
        if (surplus := len(self._names) - SERVER_LIMIT) > 0:
            servers.append(Server(f"{surplus} more name servers", (), NOT_ASKED.rcode))
            faults.append(f"the zone has {len(self._names)} name servers, of which {SERVER_LIMIT} are asked")
        return servers, faults

    def _apex_faults(self, delegated: frozenset[str]) -> list[str]:
        faults = []
        if more := [each for each in self._names if each not in delegated]:
            faults.append(f"the apex names {_listed(sorted(more))}, which the zone above does not delegate to")
        mute = [
            f"{address} {answer.word}"
            for address, answer in sorted(self._told.items())
            if answer.outcome not in (Outcome.DATA, Outcome.UNROUTABLE)
        ]
        if mute:
            faults.append(f"the name servers at the apex are not told by {_listed(mute)}")
        return faults


def read_glue(message: dns.message.Message, zone: str) -> Glue:
    """Return the addresses that came along; those outside the zone of the server are none of its business."""
    glue: Glue = {}
    for rrset in (*message.answer, *message.additional):
        if rrset.rdtype in FAMILIES and is_within(name_of(rrset.name), zone):
            glue.setdefault(name_of(rrset.name), []).extend(text_of(each) for each in rrset)
    return glue


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - TOLD_LIMIT} more" if len(words) > TOLD_LIMIT else ""
    return ", ".join(words[:TOLD_LIMIT]) + more
