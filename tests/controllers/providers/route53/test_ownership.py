"""In hosted zones that several programs write to the zone itself tells who owns what, where a class asks for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from controllers.api.group import RECORD_SETS, ZONES
from controllers.providers.route53.client import Account
from controllers.providers.route53.identity.resource import IdentitySpec
from controllers.providers.route53.ownership.backend import HostedZoneOwnership
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.throttle import Throttle
from kube.errors import KubeError
from kube.object import ObjectKey
from ownership.entry import claim
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, owner_state_name
from ownership.publish import Publisher
from ownership.view import ZoneOwnership, read_ownership
from tests.cli.command import Cli
from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.world import (
    ACCOUNT,
    DOMAIN,
    Object,
    World,
    a,
    alias,
    entering,
    identity,
    record,
    txt,
    wire,
    zone,
    zone_class,
)
from zonemodel.name import Fqdn

SNAPSHOT: Object = {"ownership": {"mode": "Snapshot", "ownerID": "team"}}
ME, OTHER = OwnerID("team"), OwnerID("elsewhere")
WWW = f"www.{DOMAIN}."
CHANGE = "ChangeResourceRecordSets"
RECORDS = (
    a("www", "192.0.2.1", "192.0.2.2"),
    txt("text", 'said "so"', "x" * 300),
    alias("lb", "lb.example.net."),
    record("lb6", "lb", "AAAA", None, None, options=alias("lb", "lb6.example.net.")["spec"]["options"]),
    record("mail", "mail", "MX", {"records": [{"preference": 10, "exchange": "mx.example.net"}]}),
    record("ca", "ca", "CAA", {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]}),
)


@asynccontextmanager
async def backend_of(aws: FakeAws) -> AsyncIterator[HostedZoneOwnership]:
    spec = IdentitySpec.model_validate({"accountID": ACCOUNT, "region": "eu-central-1"})
    (held,) = aws.route53.zones.values()
    with ThreadPoolExecutor(2) as threads:
        sessions = Sessions(aws.url, lambda: datetime.now(UTC))
        account = Account(
            Chain(ObjectKey("team", "identity"), spec), sessions, Throttle(10_000.0, time.monotonic), threads
        )
        yield HostedZoneOwnership(account, held.id, Fqdn(DOMAIN))


async def told(aws: FakeAws, owner: OwnerID = ME) -> ZoneOwnership:
    async with backend_of(aws) as backend:
        return await read_ownership(backend, owner)


async def claimed(aws: FakeAws) -> set[str]:
    return {f"{kind} {name}" for name, kind in (await told(aws)).mine()}


async def claim_as_other(aws: FakeAws, address: str = "198.51.100.1") -> None:
    async with backend_of(aws) as backend:
        await Publisher(backend, OTHER).claim([claim(OTHER, Fqdn(f"www.{DOMAIN}"), Member(MemberType.A, address))])


def put(world: World, *wires: Object) -> None:
    """Put somebody else's record sets into the hosted zone."""
    with world.aws.lock:
        world.zone.apply([("CREATE", dict(each)) for each in wires])


def plain(world: World) -> dict[tuple[str, str], Object]:
    """The record sets of the hosted zone beside what tells of ownership."""
    return {key: each for key, each in world.records().items() if not key[0].startswith("_d")}


@asynccontextmanager
async def rebuilt(folder: Path, aws: FakeAws, zone_id: str, records: Iterable[Object]) -> AsyncIterator[World]:
    """A new cluster that is given the same objects and has none of their statuses."""
    async with entering(folder, aws) as world:
        await world.apply(identity(), zone_class(**SNAPSHOT), zone(adopt=zone_id), *records)
        await world.programmed(ZONES, "zone")
        yield world


async def test_without_it_nothing_is_written_beside_the_record_sets(world: World) -> None:
    await world.set_up(*RECORDS[:2])
    await world.delete(RECORD_SETS, "text")
    await world.gone(RECORD_SETS, "text")
    assert list(world.records()) == [(WWW, "A")]


async def test_a_cluster_that_lost_every_status_takes_its_own_back_and_nothing_else(
    tmp_path: Path, aws: FakeAws
) -> None:
    async with entering(tmp_path / "one", aws) as world:
        await world.set_up(*RECORDS, parameters=SNAPSHOT)
        put(world, wire(f"theirs.{DOMAIN}.", "A", "198.51.100.1"), wire(f"nobodys.{DOMAIN}.", "A", "198.51.100.2"))
        async with backend_of(aws) as backend:
            theirs = claim(OTHER, Fqdn(f"theirs.{DOMAIN}"), Member(MemberType.A, "198.51.100.1"))
            await Publisher(backend, OTHER).claim([theirs])
        zone_id, before = world.zone.id, world.records()
    async with rebuilt(tmp_path / "two", aws, zone_id, (*RECORDS, a("theirs"), a("nobodys"))) as world:
        for each in RECORDS:
            await world.programmed(RECORD_SETS, each["metadata"]["name"])
        conflict = await world.condition(RECORD_SETS, "theirs", "Programmed", "False", "ProviderConflict")
        assert "belongs to 'elsewhere'" in conflict["message"]
        conflict = await world.condition(RECORD_SETS, "nobodys", "Programmed", "False", "ProviderConflict")
        assert "dns-api did not make" in conflict["message"]
        assert world.records() == before
        for name in ("theirs", "nobodys", *(each["metadata"]["name"] for each in RECORDS)):
            await world.delete(RECORD_SETS, name)
        for name in ("theirs", "nobodys", *(each["metadata"]["name"] for each in RECORDS)):
            await world.gone(RECORD_SETS, name)
        assert list(plain(world)) == [(f"nobodys.{DOMAIN}.", "A"), (f"theirs.{DOMAIN}.", "A")]
    assert await claimed(aws) == set()


async def test_claims_stand_from_before_the_first_write_until_after_the_last_delete(world: World, aws: FakeAws) -> None:
    await world.set_up(parameters=SNAPSHOT)
    await world.apply(a("www", "192.0.2.1"))
    await world.programmed(RECORD_SETS, "www")
    assert await claimed(aws) == {f"A www.{DOMAIN}"}
    await world.apply(a("www", "192.0.2.2"))
    await world.programmed(RECORD_SETS, "www")
    await world.quiet()
    members = (await told(aws)).of(Fqdn(f"www.{DOMAIN}"), MemberType.A).members
    assert {each.target for each in members} == {"192.0.2.2"}
    changes = aws.count(CHANGE)
    await world.quiet()
    assert aws.count(CHANGE) == changes
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    assert plain(world) == {}
    assert await claimed(aws) == set()


@pytest.mark.slow
async def test_faults_while_claiming_change_nothing_that_is_not_claimed(world: World, aws: FakeAws) -> None:
    await world.set_up(parameters=SNAPSHOT)
    troubles = (Trouble.CUT_AFTER, Trouble.THROTTLING, Trouble.CUT_BEFORE, Trouble.UNAVAILABLE, Trouble.CUT_AFTER)
    aws.faults.plan(*(Fault(trouble, CHANGE) for trouble in troubles))
    await world.apply(a("www", "192.0.2.1"))

    async def holds() -> bool | None:
        found = await world.get(RECORD_SETS, "www")
        assert (WWW, "A") not in plain(world) or await claimed(aws) == {f"A www.{DOMAIN}"}
        conditions = {each["type"]: each["status"] for each in found.get("status", {}).get("conditions", ())}
        return True if conditions.get("Programmed") == "True" else None

    await world.until(holds, lambda: f"www is not Programmed: {aws.calls[-12:]}")
    assert await claimed(aws) == {f"A www.{DOMAIN}"}


async def test_without_a_right_to_claim_nothing_is_written(world: World, aws: FakeAws) -> None:
    await world.set_up(parameters=SNAPSHOT)
    aws.faults.plan(Fault(Trouble.DENIED, CHANGE))
    await world.apply(a("www", "192.0.2.1"))
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderAccessDenied")
    assert plain(world) == {}
    await world.request_look("allowed")
    await world.programmed(RECORD_SETS, "www")


async def test_it_can_be_asked_for_later_and_costs_nothing_while_nothing_changes(world: World, aws: FakeAws) -> None:
    await world.set_up(*RECORDS[:2])
    await world.apply(zone_class(**SNAPSHOT))

    async def holds() -> bool | None:
        return True if len(await claimed(aws)) == 2 else None

    await world.until(holds, lambda: "nothing is claimed")
    await world.quiet()
    before = len(aws.calls)
    await world.quiet(1)
    assert [call.operation for call in aws.calls[before:]].count("ListResourceRecordSets") == 1


async def test_what_others_claim_too_is_not_deleted(world: World, aws: FakeAws) -> None:
    await world.set_up(a("www", "198.51.100.1", "192.0.2.1"), parameters=SNAPSHOT)
    await claim_as_other(aws)
    await world.apply(a("www", "192.0.2.1"))
    conflict = await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    assert "elsewhere" in conflict["message"]
    await world.apply(a("www", "198.51.100.1"))
    await world.programmed(RECORD_SETS, "www")
    await world.delete(RECORD_SETS, "www")
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    assert [each["Value"] for each in plain(world)[WWW, "A"]["ResourceRecords"]] == ["198.51.100.1"]


async def test_claims_that_cannot_be_told_freeze_deletions_and_nothing_else(world: World) -> None:
    await world.set_up(a("www", "192.0.2.1"), parameters=SNAPSHOT)
    garbage = wire(f"{owner_state_name(Fqdn(DOMAIN), OTHER)}.", "TXT", '"dnsweaver-state=v1:garbage"')
    put(world, garbage)
    await world.apply(a("more", "192.0.2.9"))
    await world.programmed(RECORD_SETS, "more")
    await world.delete(RECORD_SETS, "www")
    frozen = await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    assert "nothing is deleted" in frozen["message"]
    assert (WWW, "A") in plain(world)
    with world.aws.lock:
        world.zone.apply([("DELETE", garbage)])
    await world.request_look("clear")
    await world.gone(RECORD_SETS, "www")
    assert list(plain(world)) == [(f"more.{DOMAIN}.", "A")]


async def test_a_record_set_cannot_say_who_owns_what(world: World) -> None:
    await world.set_up(a("www"), parameters=SNAPSHOT)
    put(world, wire(f"theirs.{DOMAIN}.", "A", "198.51.100.1"))
    forged = claim(ME, Fqdn(f"theirs.{DOMAIN}"), Member(MemberType.A, "198.51.100.1"))
    await world.apply(
        txt("_dnsweaver.theirs", forged.value, name="forged"), txt("_dnsweaver-state", "garbage", name="garbage")
    )
    for name in ("forged", "garbage"):
        refused = await world.condition(RECORD_SETS, name, "Programmed", "False", "ProviderInvalidRequest")
        assert "tell who owns what" in refused["message"]
    await world.apply(a("theirs", "198.51.100.9"))
    await world.condition(RECORD_SETS, "theirs", "Programmed", "False", "ProviderConflict")
    for name in ("www", "forged", "garbage"):
        await world.delete(RECORD_SETS, name)
        await world.gone(RECORD_SETS, name)
    assert list(plain(world)) == [(f"theirs.{DOMAIN}.", "A")]


async def test_a_hosted_zone_goes_with_what_was_said_in_it(world: World) -> None:
    await world.set_up(a("www"), parameters={**SNAPSHOT, "zoneDeletionPolicy": "Delete"})
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    assert world.zones == []


async def test_ownership_needs_a_name(world: World) -> None:
    for ownership in ({"mode": "Snapshot"}, {"mode": "Snapshot", "ownerID": "a,b"}, {"mode": "Often"}):
        with pytest.raises(KubeError, match="ownership"):
            await world.apply(zone_class(ownership=ownership))


async def test_the_command_reads_a_hosted_zone(world: World, aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.set_up(a("www", "192.0.2.1"), parameters=SNAPSHOT)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
    words = ("ownership", "show", "--route53", world.zone.id, "--claims")
    shown = await asyncio.to_thread(Cli({}).ok, *words)
    assert shown.splitlines()[-1].split() == [f"www.{DOMAIN}", "A", "team", "192.0.2.1"]
    assert "is example.test" in await asyncio.to_thread(partial(Cli({}).fails, *words, "--zone", "a.test", code=2))
    absent = ("ownership", "verify", "--route53", "Z0")
    assert await asyncio.to_thread(Cli({}).fails, *absent)
