"""Random zones served by NSD, Knot and BIND, too: every difference is one that an RFC decides, and is listed here.

A peer that is not installed is left out, and so is a zone that a peer does not serve.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from server.config import ZoneFile
from server.zone.lookup import MAX_CHAIN
from tests.server import zone_strategy
from tests.server.beside import beside, config
from tests.server.peer import PEERS, program, serving
from tests.server.question import Record, Target, framed, read_framed, records
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import write_zone_file

KINDS = ("A", "NS", "CNAME", "SOA", "MX", "TXT", "AAAA", "DNAME", "DS", "TYPE65280")
CROWD = 50


@dataclass(frozen=True)
class Asked:
    """One question about one zone."""

    zone: str
    name: str
    kind: str


@dataclass(frozen=True)
class Said:
    """What a reply says, in any order. Name servers that come with an answer are an extra, as is what is additional to them."""

    rcode: str
    authoritative: bool
    answer: frozenset[Record]
    authority: frozenset[Record]

    @classmethod
    def by(cls, reply: dns.message.Message) -> Said:
        answer = frozenset(records(reply.answer))
        authority = frozenset(records(reply.authority))
        authoritative = bool(reply.flags & dns.flags.AA)
        if answer and {kind for _, _, kind, _ in authority} <= {"NS"} and authoritative and not _is_referral(reply):
            authority = frozenset()
        return cls(dns.rcode.to_text(reply.rcode()), authoritative, answer, authority)


def _is_referral(reply: dns.message.Message) -> bool:
    """Whether a chain of aliases ends at a delegation: then the name servers are what the reply is about."""
    question = reply.question[0].rdtype
    kinds = {rrset.rdtype for rrset in reply.answer}
    return question not in kinds and dns.rdatatype.CNAME in kinds


def circle_of_aliases(asked: Asked, ours: Said, theirs: Said) -> bool:
    """RFC 1034 section 3.6.2: a loop is to be told as an error, without an RCODE for it. We give what there is, as NSD and Knot do."""
    targets = {
        name: dns.name.from_wire(bytes.fromhex(data), 0)[0].to_text()
        for name, _, kind, data in ours.answer
        if kind == "CNAME"
    }
    name, seen = asked.name, set[str]()
    while name in targets and name not in seen:
        seen.add(name)
        name = targets[name]
    return name in seen and theirs.rcode == "SERVFAIL"


def chain_without_end(asked: Asked, ours: Said, theirs: Said) -> bool:
    """RFC 1034 section 7.1 asks for a bound on the work for one query and names none: a DNAME may lead below itself for ever."""
    return sum(kind == "CNAME" for _, _, kind, _ in ours.answer) >= MAX_CHAIN


DECIDED: dict[str, tuple[Callable[[Asked, Said, Said], bool], ...]] = {
    "nsd": (chain_without_end,),
    "knot": (chain_without_end,),
    "bind": (chain_without_end, circle_of_aliases),
}


def as_all_take_it(zone: ZoneData) -> ZoneData:
    """Leave out what has no meaning that an RFC gives: DS at the apex (RFC 4035 section 2.4), NS, DS and DNAME at wildcards (RFC 4592
    section 4, RFC 6672 section 3.3); and name servers inside the zone, which BIND wants to have addresses.
    """
    servers = RRset(zone_strategy.APEX, zone_strategy.NS, 300, (zone_strategy.OUTSIDE,))
    at_apex = {(zone.origin, zone_strategy.NS), (zone.origin, zone_strategy.DS)}
    at_wildcards = {zone_strategy.NS, zone_strategy.DS, zone_strategy.DNAME}
    kept = (
        rrset
        for rrset in zone.rrsets
        if (rrset.owner, rrset.rdtype) not in at_apex
        and not (rrset.owner.startswith(b"\x01*") and rrset.rdtype in at_wildcards)
    )
    return ZoneData(zone.origin, (servers, *kept))


def write_zones(zones: Sequence[ZoneData], folder: Path) -> tuple[dict[str, Path], list[Asked]]:
    """Write each zone under an apex of its own; return the files by apex, and every question to ask."""
    files: dict[str, Path] = {}
    questions: list[Asked] = []
    for number, zone in enumerate(zones):
        apex = f"z{number}.test."
        files[apex] = folder / f"{number}.zone"
        files[apex].write_text(write_zone_file(as_all_take_it(zone)).replace("z.test.", apex))
        for wire in zone_strategy.names_around(zone):
            name = dns.name.from_wire(wire, 0)[0].to_text().removesuffix("z.test.") + apex
            questions += (Asked(apex, name, kind) for kind in KINDS)
    return files, questions


def ask_all(target: Target, questions: Sequence[Asked]) -> list[dns.message.Message]:
    """Ask over one connection, many questions at a time; return the replies in the order of the questions."""
    found: dict[int, dns.message.Message] = {}
    with target.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for first in range(0, len(questions), CROWD):
            crowd = questions[first : first + CROWD]
            queries = (
                dns.message.make_query(each.name, each.kind, id=number, flags=0).to_wire()
                for number, each in enumerate(crowd)
            )
            client.sendall(b"".join(map(framed, queries)))
            for _ in crowd:
                reply = dns.message.from_wire(read_framed(client))
                found[first + reply.id] = reply
    return [found[number] for number in range(len(questions))]


def hold(peer: str, questions: Sequence[Asked], ours: Sequence[Said], theirs: Mapping[Asked, Said]) -> None:
    for asked, mine in zip(questions, ours, strict=True):
        other = theirs.get(asked)
        if other is None or other == mine or any(decided(asked, mine, other) for decided in DECIDED[peer]):
            continue
        raise AssertionError(f"{peer} says to {asked}\n{other}\nand we\n{mine}")


def compare(zones: Sequence[ZoneData], folder: Path) -> None:
    files, questions = write_zones(zones, folder)
    with beside(config(zone_files=tuple(map(ZoneFile, files.values())))) as server:
        ours = list(map(Said.by, ask_all(server.target, questions)))
    for peer in PEERS:
        if program(peer) is None:
            continue
        with ExitStack() as stack:
            target = stack.enter_context(serving(peer, folder / peer, files))
            soas = ask_all(target, [Asked(apex, apex, "SOA") for apex in files])
            served = {apex for apex, reply in zip(files, soas, strict=True) if reply.rcode() == dns.rcode.NOERROR}
            assert len(served) > len(files) // 2, f"{peer} serves {len(served)} of {len(files)} zones"
            known = [each for each in questions if each.zone in served]
            hold(peer, questions, ours, dict(zip(known, map(Said.by, ask_all(target, known)), strict=True)))


needs_a_peer = pytest.mark.skipif(not any(map(program, PEERS)), reason="neither NSD, Knot nor BIND is installed")
some = st.lists(zone_strategy.zones, min_size=8, max_size=8)
many = st.lists(zone_strategy.zones, min_size=20, max_size=20)
unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@needs_a_peer
@settings(max_examples=2, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=unhurried)
@given(some)
def test_some_zones_are_answered_as_by_others(tmp_path_factory: pytest.TempPathFactory, zones: list[ZoneData]) -> None:
    compare(zones, tmp_path_factory.mktemp("zones"))


@needs_a_peer
@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=40, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=unhurried)
@given(many)
def test_many_zones_are_answered_as_by_others(tmp_path_factory: pytest.TempPathFactory, zones: list[ZoneData]) -> None:
    compare(zones, tmp_path_factory.mktemp("zones"))
