"""Whether a snapshot gives an address for a name: records, aliases, wildcards, and the class's own name servers."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.providers.hosted.item import Line, RecordKey
from controllers.providers.hosted.published_address import PublishedZone
from zonemodel.hosted_zone import HostedRecordSet, NameServer
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

ADDRESS = "192.0.2.1"


def record(name: str, kind: str, ttl: int, **body: Any) -> HostedRecordSet:
    return HostedRecordSet.model_validate({"name": name, "type": kind, "ttl": ttl, kind.lower(): body})


def zone(*records: HostedRecordSet) -> PublishedZone:
    lines = {RecordKey(each.name, each.type): Line.of(each) for each in records}
    servers = (NameServer(name="ns1.example.com", addresses=("192.0.2.53",)), NameServer(name="ns.example.net"))
    return PublishedZone.of(Fqdn("example.com"), lines, servers)


EXAMPLE = zone(
    record("@", "A", 10, addresses=[ADDRESS]),
    record("www", "A", 300, addresses=["192.0.2.2", ADDRESS]),
    record("v6", "AAAA", 300, addresses=["2001:db8:0:0::1"]),
    record("alias", "CNAME", 900, target="www.example.com"),
    record("far", "CNAME", 60, target="alias.example.com"),
    record("out", "CNAME", 60, target="www.example.net"),
    record("loop", "CNAME", 60, target="loop.example.com"),
    record("*.app", "A", 20, addresses=[ADDRESS]),
    record("own.app", "TXT", 20, values=["x"]),
    record("deep.below.app", "TXT", 20, values=["x"]),
    record("*.tree", "CNAME", 70, target="www.example.com"),
)


@pytest.mark.parametrize(
    ("name", "ttl_s"),
    [
        ("@", 10),
        ("www", 300),
        ("alias", 900),
        ("far", 900),
        ("any.app", 20),
        ("any.thing.app", 20),
        ("*.app", 20),
        ("any.tree", 300),
        ("*.tree", 300),
    ],
)
def test_a_name_gives_the_address_with_the_largest_ttl_on_the_way(name: str, ttl_s: int) -> None:
    assert EXAMPLE.ttl_of(name, RecordType.A, ADDRESS) == ttl_s


@pytest.mark.parametrize(
    "name", ["nothing", "out", "loop", "own.app", "below.app", "x.below.app", "v6", "ns1", "*", "tree"]
)
def test_a_name_that_leads_elsewhere_does_not_give_it(name: str) -> None:
    assert EXAMPLE.ttl_of(name, RecordType.A, ADDRESS) is None


def test_addresses_are_compared_as_addresses_and_by_family() -> None:
    assert EXAMPLE.ttl_of("v6", RecordType.AAAA, "2001:db8::1") == 300
    assert EXAMPLE.ttl_of("www", RecordType.AAAA, ADDRESS) is None


def test_the_classes_own_servers_give_their_addresses() -> None:
    assert EXAMPLE.ttl_of("ns1", RecordType.A, "192.0.2.53") == 0


def test_a_wildcard_at_the_apex_reaches_every_name_that_nothing_else_has() -> None:
    found = zone(record("*", "A", 30, addresses=[ADDRESS]), record("a.b", "TXT", 30, values=["x"]))
    assert found.ttl_of("any.name", RecordType.A, ADDRESS) == 30
    assert found.ttl_of("b", RecordType.A, ADDRESS) is None
    assert found.ttl_of("c.b", RecordType.A, ADDRESS) is None
