"""Asks a name server over real sockets, and reads what a case file expects of it."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

TIMEOUT_S = 20.0
SILENCE_S = 0.3

Record = tuple[str, int, str, str]


@dataclass(frozen=True)
class Target:
    """A name server, the one under test or another one to compare with."""

    host: str
    port: int

    def ask(self, name: str, rdtype: str, *, tcp: bool = False, **options: object) -> dns.message.Message:
        """One question without EDNS unless `options` say otherwise; they go to dns.message.make_query."""
        query = dns.message.make_query(name, rdtype, **{"flags": 0, **options})  # type: ignore[arg-type]  # any option
        return self.send(query, tcp=tcp)

    def send(self, query: dns.message.Message, *, tcp: bool = False) -> dns.message.Message:
        send = dns.query.tcp if tcp else dns.query.udp
        return send(query, self.host, TIMEOUT_S, self.port)

    def exchange(self, packet: bytes) -> bytes | None:
        """Send a datagram as it is; None when nothing comes back."""
        with socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect((self.host, self.port))
            client.settimeout(SILENCE_S)
            client.send(packet)
            try:
                return client.recv(65535)
            except TimeoutError:
                return None

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), TIMEOUT_S)


def framed(message: bytes) -> bytes:
    return struct.pack("!H", len(message)) + message


def read_framed(client: socket.socket) -> bytes:
    (length,) = struct.unpack("!H", _exactly(client, 2))
    return _exactly(client, length)


def _exactly(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = client.recv(size - len(data))
        if not piece:
            raise EOFError(f"closed after {len(data)} of {size} octets")
        data += piece
    return data


def records(section: list[dns.rrset.RRset]) -> set[Record]:
    return {
        (rrset.name.canonicalize().to_text(), rrset.ttl, dns.rdatatype.to_text(rrset.rdtype), _canonical(rdata))
        for rrset in section
        for rdata in rrset
    }


def _canonical(rdata: dns.rdata.Rdata) -> str:
    return rdata.to_digestable().hex()


@dataclass
class Expectation:
    """One question of a case file; a record without data stands for any data."""

    title: str
    name: str
    rdtype: str
    rcode: str
    authoritative: bool
    sections: dict[str, list[tuple[str, int, str, str | None]]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name} {self.rdtype}"[-80:]

    def hold(self, reply: dns.message.Message) -> None:
        """Assert that the reply is what the case says."""
        assert dns.rcode.to_text(reply.rcode()) == self.rcode
        assert bool(reply.flags & dns.flags.AA) is self.authoritative
        assert not reply.flags & dns.flags.TC
        self._hold_section("answer", records(reply.answer))
        authority = records(reply.authority)
        if reply.answer:
            authority = {each for each in authority if each[2] != "NS" or self.sections.get("authority")}
        self._hold_section("authority", authority)
        missing = self._wanted("glue") - records(reply.additional)
        assert not missing

    def _hold_section(self, section: str, found: set[Record]) -> None:
        open_ended = {(name, ttl, kind) for name, ttl, kind, data in self.sections.get(section, ()) if data is None}
        exact = {each for each in found if each[:3] not in open_ended}
        assert {each[:3] for each in found if each[:3] in open_ended} == open_ended
        assert exact == self._wanted(section)

    def _wanted(self, section: str) -> set[Record]:
        return {
            (name, ttl, kind, _canonical(dns.rdata.from_text("IN", kind, data, dns.name.root, relativize=False)))
            for name, ttl, kind, data in self.sections.get(section, ())
            if data is not None
        }


_QUESTION = re.compile(r"(\S+) +(\S+) +([A-Z]+)( aa)?\Z")


def read_cases(path: Path) -> Iterator[Expectation]:
    """Yield the questions of a case file."""
    title, current = "", None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            title = line.strip("[]")
        elif line.startswith(" "):
            assert current is not None, f"{path}:{number}: a record without a question"
            section, owner, ttl, kind, *data = line.split(None, 4)
            name = dns.name.from_text(owner).canonicalize().to_text()
            current.sections.setdefault(section, []).append((name, int(ttl), kind, data[0] if data else None))
        else:
            found = _QUESTION.match(line.strip())
            assert found, f"{path}:{number}: {line!r} is no question"
            if current is not None:
                yield current
            current = Expectation(title, found[1], found[2], found[3], bool(found[4]))
    if current is not None:
        yield current
