"""A zone goes over to its next version between two queries: each reply is of one version, and no query is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype

from server.config import ZoneFile
from server.zone.index import Changes
from server.zone.recompile import recompile
from tests.server.beside import Beside, beside, config
from tests.server.question import Target
from zonemodel.rrset import RRset
from zonemodel.zonefile import parse_zone_text

VERSIONS = 150
QUESTIONS = [
    ("alias.swap.test.", "A"),
    ("no.swap.test.", "A"),
    ("swap.test.", "NS"),
    ("x.wild.swap.test.", "TXT"),
    ("x.child.swap.test.", "A"),
    ("swap.test.", "SOA"),
]


def text(version: int, hosts: int = 300) -> str:
    """A zone whose every record tells the version by its TTL, and whose negative answers do by the serial."""
    number = version + 1000
    lines = [
        "$ORIGIN swap.test.",
        f"$TTL {number}",
        f"@ IN SOA ns1 h {number} 2 3 4 {number}",
        "@ IN NS ns1",
        "ns1 IN A 192.0.2.1",
        "alias IN CNAME other",
        "other IN CNAME target",
        f"target IN A 192.0.2.{version % 250}",
        '*.wild IN TXT "x"',
        "child IN NS ns.child",
        "ns.child IN A 192.0.2.9",
        *(f"host{host} IN A 192.0.2.{host % 250}" for host in range(hosts)),
    ]
    return "\n".join(lines) + "\n"


def version_of(reply: dns.message.Message) -> int:
    """The one version that everything in the reply is of."""
    found = {rrset.ttl for section in (reply.answer, reply.authority, reply.additional) for rrset in section}
    for rrset in (*reply.answer, *reply.authority):
        if rrset.rdtype == dns.rdatatype.SOA:
            found |= {rdata.serial for rdata in rrset}
        if rrset.rdtype == dns.rdatatype.A and rrset.name.to_text() == "target.swap.test.":
            assert [rdata.to_text() for rdata in rrset] == [f"192.0.2.{(rrset.ttl - 1000) % 250}"]
    assert len(found) == 1, f"a mix of versions: {reply}"
    return found.pop()


class Asker(threading.Thread):
    """Asks one question after another until told to stop; a timeout is a lost query."""

    def __init__(self, target: Target, *, tcp: bool) -> None:
        super().__init__()
        self.versions: set[int] = set()
        self.failure: BaseException | None = None
        self._target = target
        self._tcp = tcp
        self._done = threading.Event()

    def run(self) -> None:
        latest = 0
        try:
            while not self._done.is_set():
                for name, rdtype in QUESTIONS:
                    version = version_of(self._target.ask(name, rdtype, tcp=self._tcp))
                    assert version >= latest, "an older version after a newer one"
                    latest = version
                    self.versions.add(version)
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            self.failure = error

    def finish(self) -> None:
        self._done.set()
        self.join(20)
        if self.failure is not None:
            raise self.failure


@contextmanager
def asked(server: Beside) -> Iterator[list[Asker]]:
    askers = [Asker(server.target, tcp=False), Asker(server.target, tcp=False), Asker(server.target, tcp=True)]
    for asker in askers:
        asker.start()
    try:
        yield askers
    finally:
        for asker in askers:
            asker.finish()


def hold(askers: list[Asker]) -> None:
    assert len(set().union(*(asker.versions for asker in askers))) > 10


def test_files_read_again_under_load(tmp_path: Path) -> None:
    file = tmp_path / "swap.zone"
    file.write_text(text(0))
    with beside(config(zone_files=(ZoneFile(file),))) as server:
        with asked(server) as askers:
            for version in range(1, 40):
                file.write_text(text(version))
                server.reload()
        hold(askers)


def test_versions_made_from_what_changed_under_load(tmp_path: Path) -> None:
    """As snapshots from the API are served: the next version shares with the last one what is the same."""
    file = tmp_path / "swap.zone"
    file.write_text(text(0))
    with beside(config(zone_files=(ZoneFile(file),))) as server:
        catalog = server.server.catalog
        (apex,) = catalog.zones
        with asked(server) as askers:
            for version in range(1, VERSIONS):
                server.read(lambda: replace(server, apex, version))  # noqa: B023 - called at once
                time.sleep(0)
        hold(askers)


def replace(server: Beside, apex: object, version: int) -> None:
    catalog = server.server.catalog
    zone = next(zone for origin, zone in catalog.zones.items() if origin == apex)
    new: tuple[RRset, ...] = parse_zone_text(text(version), None, "swap").rrsets
    changes = Changes(tuple(rrset for rrset in new if zone.index.at(rrset.owner).get(rrset.rdtype) != rrset))
    catalog.replace(recompile(zone, zone.index.with_changes(changes), changes))
