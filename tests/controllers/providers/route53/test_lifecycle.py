"""Every kind of record set from claim to Route 53 and back; and that a second look changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.group import RECORD_SETS, ZONES
from tests.controllers.providers.route53.world import Object, World, a, alias, cname, record, txt, wire

LONG = "x" * 3953
"""The longest text that Route 53 takes: its strings, their quotes and the spaces between are 4,000 characters."""
VALUES = "ResourceRecords"


def values(*texts: str) -> list[Object]:
    return [{"Value": text} for text in texts]


def target(dns_name: str) -> Object:
    return {"HostedZoneId": "Z14GRHDCWA56QT", "DNSName": dns_name, "EvaluateTargetHealth": "true"}


# claim, the name and type in Route 53, what it holds there, and the change of the claim that is tried then
KINDS: dict[str, tuple[Object, str, Any, Object, Any]] = {
    "A": (
        a("www", "192.0.2.1", "192.0.2.2"),
        "www.example.test.",
        values("192.0.2.1", "192.0.2.2"),
        {"a": {"addresses": ["192.0.2.3"]}},
        values("192.0.2.3"),
    ),
    "AAAA": (
        record("www", "www", "AAAA", {"addresses": ["2001:DB8:0:0::1"]}),
        "www.example.test.",
        values("2001:db8::1"),
        {"aaaa": {"addresses": ["2001:db8::2"]}},
        values("2001:db8::2"),
    ),
    "TXT": (
        txt("@", 'say "hi"; a\\b', "y" * 256, name="text"),
        "example.test.",
        values('"say \\"hi\\"; a\\134b"', f'"{"y" * 255}" "y"'),
        {"txt": {"values": [LONG]}},
        values(" ".join([f'"{"x" * 255}"'] * 15 + [f'"{"x" * 128}"'])),
    ),
    "CNAME": (
        cname("shop", "shops.example.net"),
        "shop.example.test.",
        values("shops.example.net."),
        {"cname": {"target": "_a.example.net"}},
        values("_a.example.net."),
    ),
    "MX": (
        record("mail", "@", "MX", {"records": [{"preference": 10, "exchange": "mx.example.net"}]}),
        "example.test.",
        values("10 mx.example.net."),
        {"mx": {"records": [{"preference": 0, "exchange": "."}]}},
        values("0 ."),
    ),
    "CAA": (
        record("caa", "@", "CAA", {"records": [{"flags": 0, "tag": "issue", "value": 'ca.example.net; a="b"'}]}),
        "example.test.",
        values('0 issue "ca.example.net; a=\\"b\\""'),
        {"caa": {"records": [{"flags": 128, "tag": "iodef", "value": "mailto:a@example.net"}]}},
        values('128 iodef "mailto:a@example.net"'),
    ),
    "NS": (
        record("child", "child", "NS", {"nameServers": ["ns1.example.net", "ns2.example.net"]}),
        "child.example.test.",
        values("ns1.example.net.", "ns2.example.net."),
        {"ns": {"nameServers": ["ns3.example.net"]}},
        values("ns3.example.net."),
    ),
    "ALIAS": (
        alias("@", "DualStack.lb.example.net.", name="alias"),
        "example.test.",
        target("DualStack.lb.example.net."),
        {
            "options": {
                "alias": {"dnsName": "b.example.net.", "hostedZoneID": "Z14GRHDCWA56QT", "evaluateTargetHealth": True}
            }
        },
        target("b.example.net."),
    ),
    "wildcard": (
        a("*", "192.0.2.9", name="any"),
        "\\052.example.test.",
        values("192.0.2.9"),
        {"ttl": 61},
        values("192.0.2.9"),
    ),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=pytest.mark.slow) if each in {"AAAA", "MX", "CAA", "NS"} else each for each in KINDS],
)
async def test_a_record_set_is_created_changed_left_alone_and_deleted(world: World, kind: str) -> None:
    claim, fqdn, held, change, changed = KINDS[kind]
    name, rdtype = claim["metadata"]["name"], claim["spec"]["type"]
    member = "AliasTarget" if kind == "ALIAS" else VALUES
    await world.set_up(claim)
    assert world.records()[fqdn, rdtype][member] == held

    before = world.aws.count()
    await world.quiet(2)
    assert world.aws.count() == before, "a second look writes nothing"

    await world.apply({**claim, "spec": {**claim["spec"], **change}})
    await world.programmed(RECORD_SETS, name)
    assert world.records()[fqdn, rdtype][member] == changed
    before = world.aws.count()
    await world.quiet(1)
    assert world.aws.count() == before

    await world.delete(RECORD_SETS, name)
    await world.gone(RECORD_SETS, name)
    assert world.records() == {}
    await world.event(name, "Route53RecordSetChangeSubmitted")
    event = await world.event(name, "Route53RecordSetChangeInSync")
    assert (event["related"]["kind"], event["related"]["name"]) == ("Zone", "zone")


async def test_events_of_a_zone_tell_of_its_change(world: World) -> None:
    await world.set_up()
    submitted = await world.event("zone", "Route53HostedZoneChangeSubmitted")
    assert world.zone.id in submitted["message"]
    await world.event("zone", "Route53HostedZoneChangeInSync")


async def test_drift_is_healed(world: World) -> None:
    await world.set_up(a("www"), a("api", "192.0.2.7"))
    zone = world.zone
    with world.aws.lock:
        zone.apply([("UPSERT", wire("www.example.test.", "A", "203.0.113.66", ttl=5))])
        zone.apply([("DELETE", world.records()["api.example.test.", "A"])])
    await world.quiet(1)
    await world.programmed(RECORD_SETS, "www")

    async def healed() -> bool | None:
        found = world.records()
        expected = {("www.example.test.", "A"), ("api.example.test.", "A")}
        return True if found.keys() == expected and found["www.example.test.", "A"]["TTL"] == "60" else None

    await world.until(healed, lambda: f"drift stays: {world.records()}")
    await world.programmed(RECORD_SETS, "api")


async def test_a_type_that_changes_is_deleted_and_created_in_one_batch(world: World) -> None:
    await world.set_up(a("www", name="old"))
    await world.stop_manager()
    await world.delete(RECORD_SETS, "old")
    await world.apply(cname("www", "web.example.net", name="new"))
    await world.start_manager()
    await world.gone(RECORD_SETS, "old")
    await world.programmed(RECORD_SETS, "new")
    assert list(world.records()) == [("www.example.test.", "CNAME")]
    batches = [call.request["ChangeBatch"] for call in world.aws.calls if call.operation == "ChangeResourceRecordSets"]
    actions = [[(each["Action"], each["ResourceRecordSet"]["Type"]) for each in batch["Changes"]] for batch in batches]
    assert actions[-1] == [("DELETE", "A"), ("CREATE", "CNAME")]


async def test_an_alias_takes_the_place_of_values(world: World) -> None:
    await world.set_up(a("www"))
    await world.apply(alias("www", "lb.example.net."))
    await world.programmed(RECORD_SETS, "www")
    assert world.records()["www.example.test.", "A"]["AliasTarget"] == target("lb.example.net.")
    assert (await world.get(ZONES, "zone"))["status"]["provider"]["data"] == {"hostedZoneID": world.zone.id}
