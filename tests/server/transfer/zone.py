"""Zones for transfers: built, edited, written as master files, and fetched from a server for comparison."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message
import dns.name
import dns.query
import dns.rdatatype
import dns.tsig
import dns.tsigkeyring

from tests.server.transfer.daemon import ALGORITHM, HOST, KEY_NAME, SECRET

PATIENCE_S = 60.0
TIMEOUT_S = 0.2

Wire = tuple[str, int, str, str]


def keyring() -> dict[dns.name.Name, dns.tsig.Key]:
    name = dns.name.from_text(KEY_NAME)
    return {name: dns.tsig.Key(name, SECRET, ALGORITHM)}


@dataclass
class EditedZone:
    """A zone that changes: each edit takes some records away, adds others, and counts the serial up."""

    origin: str = "edit.test"
    serial: int = 1
    refresh_s: int = 3600
    records: dict[tuple[str, str, str], int] = field(default_factory=dict)
    random: random.Random = field(default_factory=lambda: random.Random(7))

    def fill(self, count: int) -> EditedZone:
        for _ in range(count):
            self._add()
        return self

    def edit(self, changes: int = 5) -> None:
        for _ in range(changes):
            if self.records and self.random.random() < 0.5:
                del self.records[self.random.choice(list(self.records))]
            else:
                self._add()
        self.serial += 1

    def _add(self) -> None:
        number = self.random.randrange(5000)
        owner = self.random.choice((f"h{number}", f"deep.h{number}.tree", f"*.w{number}", "@"))
        kind, data = self.random.choice(
            (
                ("A", f"192.0.2.{number % 256}"),
                ("AAAA", f"2001:db8::{number:x}"),
                ("TXT", f'"text {number}" "part \\200\\"{number}"'),
                ("MX", f"{number % 100} Mail{number % 7}.Example.org."),
                ("SRV", f"1 2 {number} host{number}"),
                ("CAA", '0 issue "ca.example"'),
                ("TYPE65280", f"\\# 2 {number % 65536:04x}"),
            )
        )
        ttl_s = self.random.choice((300, 600))
        same = [key for key in self.records if key[:2] == (owner, kind)]
        for key in same:  # one TTL a set
            self.records[key] = ttl_s
        self.records[owner, kind, data] = ttl_s

    def text(self) -> str:
        head = f"$ORIGIN {self.origin}.\n@ 3600 IN SOA ns hostmaster {self.serial} {self.refresh_s} 1 86400 60\n"
        head += "@ 3600 IN NS ns\nns 3600 IN A 127.0.0.1\n"
        return head + "".join(f"{owner} {ttl} IN {kind} {data}\n" for (owner, kind, data), ttl in self.records.items())

    def write(self, path: Path) -> None:
        path.write_text(self.text())


async def fetch(port: int, origin: str, *, signed: bool = True) -> list[Wire]:
    """All records of a zone as a server transfers it, sorted, in their canonical form (RFC 4034 section 6.2)."""
    return await asyncio.to_thread(_fetch, port, origin, signed)


def _fetch(port: int, origin: str, signed: bool) -> list[Wire]:
    ring = keyring() if signed else None
    messages = dns.query.xfr(HOST, origin, port=port, keyring=ring, keyname=KEY_NAME, relativize=False, lifetime=60)
    found: set[Wire] = set()
    for message in messages:
        for rrset in message.answer:
            owner, kind = rrset.name.to_digestable().hex(), dns.rdatatype.to_text(rrset.rdtype)
            found.update((owner, rrset.ttl, kind, rdata.to_digestable().hex()) for rdata in rrset)
    return sorted(found)


async def serial(port: int, origin: str) -> int | None:
    """The serial that a server has now, None when it has not answered with one."""
    query = dns.message.make_query(origin, "SOA", flags=0)
    try:
        reply = await dns.asyncquery.udp(query, HOST, TIMEOUT_S, port)
    except (OSError, dns.exception.Timeout):
        return None
    return reply.answer[0][0].serial if reply.answer else None


async def reaches(port: int, origin: str, wanted: int, patience_s: float = PATIENCE_S) -> None:
    """Wait until a server has this serial."""
    found: int | None = None
    try:
        async with asyncio.timeout(patience_s):
            while (found := await serial(port, origin)) != wanted:  # noqa: ASYNC110 - a server announces nothing to a test
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"the serial is still {found}, expected {wanted}") from None
