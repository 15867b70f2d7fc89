"""RFC 4035 section 3.1, RFC 5155 section 7.2: random zones that BIND's signer signed, asked for with DO beside NSD, Knot and BIND.

Peers may add a proof that is not needed, or leave one out that another record tells already, so that they differ from one another. Each
of our replies answers as at least one of them does, proves what all of those prove, and proves nothing that none of them does. Everything
in it that the zone has the say about is signed.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from server.config import ZoneFile
from server.zone.lookup import MAX_CHAIN
from tests.server import zone_strategy
from tests.server.beside import beside, config
from tests.server.peer import PEERS, program, serving
from tests.server.question import Target, framed, read_framed
from tests.server.test_differential import CROWD, Asked, needs_a_peer, write_zones
from zonemodel.name import WireName
from zonemodel.rrset import RRset, ZoneData

WAYS: tuple[tuple[str, ...], ...] = (
    (),
    ("-3", "-", "-H", "0"),
    ("-3", "aabb", "-H", "3"),
    ("-3", "-", "-H", "0", "-A"),
)
"""NSEC; NSEC3 without and with a salt; NSEC3 with opt-out: by the place of the zone."""

NOT_COMPARED = {"SOA", "MX", "TYPE65280"}
FEWEST_PEERS = 2

Row = tuple[str, int, str, str, str]


@dataclass(frozen=True)
class Said:
    """One reply; signatures count by what they cover."""

    rcode: str
    authoritative: bool
    answer: frozenset[Row]
    authority: frozenset[Row]

    @classmethod
    def by(cls, reply: dns.message.Message) -> Said:
        answer, authority = rows(reply.answer), rows(reply.authority)
        if answer and not any(kind == "SOA" for _, _, kind, _, _ in authority):
            authority = frozenset(row for row in authority if "NS" not in row[2:4])  # name servers are an extra then
        return cls(dns.rcode.to_text(reply.rcode()), bool(reply.flags & dns.flags.AA), answer, authority)


def rows(section: list[dns.rrset.RRset]) -> frozenset[Row]:
    return frozenset(
        (
            rrset.name.canonicalize().to_text(),
            rrset.ttl,
            dns.rdatatype.to_text(rrset.rdtype),
            dns.rdatatype.to_text(rrset.covers),
            "" if rrset.covers else rdata.to_digestable().hex(),
        )
        for rrset in section
        for rdata in rrset
    )


def sign(apex: str, path: Path, way: Sequence[str]) -> Path | None:
    """Return the file of the signed zone, None for a zone that the signer refuses."""
    make = ["dnssec-keygen", "-q", "-a", "ECDSAP256SHA256", "-f", "KSK", "-K", str(path.parent), apex]
    key = subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip()
    with path.open("a") as file:
        file.write((path.parent / f"{key}.key").read_text())
    signed = path.with_suffix(".signed")
    command = ["dnssec-signzone", "-P", "-q", "-z", "-o", apex, "-f", str(signed), *way, str(path), key]
    found = subprocess.run(command, cwd=path.parent, capture_output=True, check=False)
    return None if found.returncode else signed


def ask_all(target: Target, questions: Sequence[Asked]) -> list[dns.message.Message]:
    found: dict[int, dns.message.Message] = {}
    with target.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for first in range(0, len(questions), CROWD):
            crowd = questions[first : first + CROWD]
            for number, each in enumerate(crowd):
                query = dns.message.make_query(each.name, each.kind, id=number, flags=0, want_dnssec=True)
                client.sendall(framed(query.to_wire()))
            for _ in crowd:
                reply = dns.message.from_wire(read_framed(client))
                found[first + reply.id] = reply
    return [found[number] for number in range(len(questions))]


def hold_signed(asked: Asked, reply: dns.message.Message) -> None:
    """The name servers of a referral and the alias that a DNAME makes have no signature, everything else has."""
    for section in (reply.answer, reply.authority):
        signed = {(rrset.name, rrset.covers) for rrset in section if rrset.covers}
        made = any(rrset.rdtype == dns.rdatatype.DNAME for rrset in section)
        for rrset in section:
            if rrset.covers or rrset.rdtype == dns.rdatatype.NS or (made and rrset.rdtype == dns.rdatatype.CNAME):
                continue
            assert (rrset.name, rrset.rdtype) in signed, f"{asked}: {rrset} has no signature"


def compare(zones: Sequence[ZoneData], folder: Path, names: Sequence[str] = ()) -> None:
    """Ask for all names around the zones, or for these below each apex."""
    plain, questions = write_zones([starred(number, zone) for number, zone in enumerate(zones)], folder)
    signed = {apex: sign(apex, path, WAYS[number % len(WAYS)]) for number, (apex, path) in enumerate(plain.items())}
    files = {apex: path for apex, path in signed.items() if path is not None}
    assert files
    if names:
        questions = [
            Asked(apex, f"{name}.{apex}", kind) for apex in files for name in names for kind in ("A", "NS", "DS")
        ]
    questions = [each for each in questions if each.zone in files and each.kind not in NOT_COMPARED]
    with beside(config(zone_files=tuple(map(ZoneFile, files.values())))) as server:
        ours = ask_all(server.target, questions)
    for asked, reply in zip(questions, ours, strict=True):
        hold_signed(asked, reply)
    theirs = []
    for peer in PEERS:
        if program(peer) is not None:
            with ExitStack() as stack:
                theirs.append(ask_all(stack.enter_context(serving(peer, folder / peer, files)), questions))
    for asked, reply, *others in zip(questions, ours, *theirs, strict=True):
        if sum(rrset.rdtype == dns.rdatatype.CNAME for rrset in reply.answer) >= MAX_CHAIN:
            continue  # everybody has a bound of their own
        said = [Said.by(other) for other in others if dns.rcode.to_text(other.rcode()) not in {"SERVFAIL", "REFUSED"}]
        if len(said) >= FEWEST_PEERS:
            assert is_as(Said.by(reply), said), (
                f"{asked}: we say\n{reply}\nand nobody else does:\n{others[0]}\n{others[1]}"
            )


def is_as(ours: Said, theirs: Sequence[Said]) -> bool:
    alike = [
        each.authority
        for each in theirs
        if (each.rcode, each.authoritative, each.answer) == (ours.rcode, ours.authoritative, ours.answer)
    ]
    return bool(alike) and frozenset.intersection(*alike) <= ours.authority <= frozenset.union(*alike)


def starred(number: int, zone: ZoneData) -> ZoneData:
    """Give every second zone a wildcard at the apex, which covers all that does not exist, hashes among it."""
    star = WireName(b"\x01*" + zone.origin)
    if number % 2 == 0 or any(each.rdtype == zone_strategy.DNAME or each.owner == star for each in zone.rrsets):
        return zone
    return ZoneData(zone.origin, (*zone.rrsets, RRset(star, zone_strategy.TXT, 300, (b"\x01*",))))


def drawing_much() -> ZoneData:
    """A zone of answers that are worked out when they are asked for, since they draw much on other names."""
    name = partial(below, zone_strategy.APEX)
    servers = tuple(name(b"ns%d" % number, b"cut") for number in range(300))
    sets = (
        zone_strategy.soa(1),
        zone_strategy.apex_ns(),
        RRset(name(b"big"), zone_strategy.A, 60, tuple(number.to_bytes(4, "big") for number in range(400))),
        *(RRset(name(*labels), zone_strategy.CNAME, 60, (name(b"big"),)) for labels in ((b"alias",), (b"*", b"w"))),
        RRset(name(b"chain"), zone_strategy.CNAME, 60, (name(b"x", b"w"),)),
        RRset(name(b"old"), zone_strategy.DNAME, 60, (name(b"w"),)),
        RRset(name(b"cut"), zone_strategy.NS, 60, servers),
        *(RRset(server, zone_strategy.A, 60, (b"\xc0\0\2\1",)) for server in servers),
    )
    return ZoneData(zone_strategy.APEX, sets)


def below(apex: WireName, *labels: bytes) -> WireName:
    return WireName(b"".join(bytes((len(label),)) + label for label in labels) + apex)


some = st.lists(zone_strategy.zones, min_size=8, max_size=8)
many = st.lists(zone_strategy.zones, min_size=20, max_size=20)
unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
needs_a_signer = pytest.mark.skipif(shutil.which("dnssec-signzone") is None, reason="dnssec-signzone is not installed")


@needs_a_peer
@needs_a_signer
@settings(max_examples=1, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=unhurried)
@given(some)
def test_some_signed_zones_are_answered_as_by_others(
    tmp_path_factory: pytest.TempPathFactory, zones: list[ZoneData]
) -> None:
    compare(zones, tmp_path_factory.mktemp("zones"))


@needs_a_peer
@needs_a_signer
@pytest.mark.slow
def test_long_answers_of_signed_zones_are_as_those_of_others(tmp_path: Path) -> None:
    names = ("alias", "chain", "x.w", "x.old", "cut", "x.cut", "no")
    compare([drawing_much()] * len(WAYS), tmp_path, names)


@needs_a_peer
@needs_a_signer
@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=10, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=unhurried)
@given(many)
def test_many_signed_zones_are_answered_as_by_others(
    tmp_path_factory: pytest.TempPathFactory, zones: list[ZoneData]
) -> None:
    compare(zones, tmp_path_factory.mktemp("zones"))
