"""In zones that several programs write to the zone itself tells who owns what, where a class asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from controllers.providers.cloudflare.binding import ApiAddress
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.ownership.backend import CloudflareBackend
from controllers.providers.cloudflare.pace import Pace
from kube.errors import KubeError
from ownership.backends.protocol import Backend
from ownership.entry import claim
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, owner_state_name
from ownership.publish import Publisher
from ownership.view import Holder, read_ownership
from tests.cli.command import Cli
from tests.controllers.providers.cloudflare.fake.failure import Kind
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.cloudflare.world import (
    DOMAIN,
    PACE,
    TEAM,
    TOKEN,
    ZONE,
    World,
    a,
    cname,
    txt,
    zone_class,
)
from tests.ownership.contract import BackendContract
from zonemodel.name import Fqdn

PARAMETERS = {"ownership": {"mode": "Snapshot", "ownerID": "team"}}
ME, OTHER = OwnerID("team"), OwnerID("elsewhere")
WWW = Fqdn(f"www.{DOMAIN}")


class TestBackend(BackendContract):
    """A zone at Cloudflare keeps the contract of backends."""

    @pytest.fixture
    async def backend(self) -> AsyncIterator[Backend]:
        async with FakeCloudflare() as fake:
            account = fake.state.add_account()
            fake.state.add_token(TOKEN, account)
            zone_id = fake.state.add_zone(account, DOMAIN)
            client = CloudflareClient(TOKEN, ApiAddress(fake.url), Pace(PACE))
            yield CloudflareBackend(client, zone_id, Fqdn(DOMAIN))
            await client.close()


async def backend_of(world: World) -> tuple[CloudflareBackend, CloudflareClient]:
    client = CloudflareClient(TOKEN, ApiAddress(world.cloudflare.url), Pace(PACE))
    return CloudflareBackend(client, world.zone_id, Fqdn(DOMAIN)), client


async def holder(world: World, owner: OwnerID = ME) -> Holder:
    backend, client = await backend_of(world)
    found = (await read_ownership(backend, owner)).of(WWW, MemberType.A)
    await client.close()
    return found.holder


def addresses(world: World) -> set[str]:
    return {each["content"] for each in world.records() if each["type"] == "A"}


async def test_claims_stand_in_the_zone_from_before_the_first_write_until_after_the_last_delete(world: World) -> None:
    await world.ready_zone(parameters=PARAMETERS)
    await world.publish(a("www", "192.0.2.1", "192.0.2.2"))
    assert await holder(world) is Holder.ME
    posted = [body["posts"][0]["name"] for call, body in world.cloudflare.bodies if "posts" in body]
    assert posted.index(owner_state_name(Fqdn(DOMAIN), ME)) < posted.index(WWW)
    await world.publish(a("www", "192.0.2.2"))
    writes = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) <= writes + 4, "the former claim may be taken back"
    await world.look_again()
    settled = len(world.cloudflare.writes)
    await world.look_again()
    assert len(world.cloudflare.writes) == settled
    await world.delete_and_wait(RECORD_SETS, "www")
    assert addresses(world) == set()
    assert await holder(world) is Holder.NOBODY


async def test_records_whose_status_was_lost_are_taken_back(world: World) -> None:
    await world.ready_zone(parameters=PARAMETERS)
    await world.publish(a("www", "192.0.2.1"))
    await world.quiet()
    await world.stop_manager()
    ids = world.record_ids("www")
    whole = [{"op": "replace", "path": "/status/recordSets", "value": []}]
    await world.client.patch_json(ZONE_UNITS, whole, namespace=TEAM, name=ZONE, subresource="status")
    await world.start_manager()
    await world.look_again()
    await world.until(lambda: world.is_programmed("www") and world.record_ids("www") == ids)


async def test_a_cluster_that_lost_every_status_takes_its_own_back_and_nothing_else(
    world: World, tmp_path: Path, installation: Path
) -> None:
    own = (a("www", "192.0.2.1", "192.0.2.2"), txt("text", "one", "x" * 300), cname("alias", "web.example.net"))
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    for each in own:
        await world.publish(each)
    for name in ("theirs", "nobodys"):
        world.cloudflare.state.add_record(zone_id, type="A", name=f"{name}.{DOMAIN}", content="198.51.100.1", ttl=300)
    backend, client = await backend_of(world)
    await Publisher(backend, OTHER).claim(
        [claim(OTHER, Fqdn(f"theirs.{DOMAIN}"), Member(MemberType.A, "198.51.100.1"))]
    )
    await client.close()
    await world.stop_manager()
    before = world.contents()
    (tmp_path / "again").mkdir()
    async with World(tmp_path / "again", installation) as again:
        again.cloudflare.state = world.cloudflare.state
        await again.set_up(parameters=PARAMETERS, adoption={"zoneID": zone_id})
        for each in (*own, a("theirs", "198.51.100.1"), a("nobodys", "198.51.100.1")):
            await again.apply(each)
        for name in ("www", "text", "alias"):
            await again.until(lambda name=name: again.is_programmed(name))  # type: ignore[misc]  # mypy infers no default
        for name in ("theirs", "nobodys"):
            await again.until(lambda name=name: again.record_says(name, "False", "ProviderConflict"))  # type: ignore[misc]  # the same
        conflict = again.condition(again.record_set("theirs"), "Programmed")
        assert conflict is not None
        assert "belongs to 'elsewhere'" in conflict.message
        assert again.contents() == before
        for name in ("www", "text", "alias", "theirs", "nobodys"):
            await again.delete_and_wait(RECORD_SETS, name)
        left = {name for name, _, _ in again.contents() if not name.startswith("_d")}
        assert left == {f"theirs.{DOMAIN}", f"nobodys.{DOMAIN}"}


async def test_what_others_claim_too_is_neither_deleted_nor_replaced(world: World) -> None:
    await world.ready_zone(parameters={**PARAMETERS, "zoneDeletionPolicy": "Delete"})
    await world.publish(a("www", "198.51.100.1"))
    backend, client = await backend_of(world)
    shared = claim(OTHER, WWW, Member(MemberType.A, "198.51.100.1"))
    await Publisher(backend, OTHER).claim([shared])
    await world.apply(a("www", "192.0.2.1"))
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    assert addresses(world) == {"198.51.100.1"}
    await Publisher(backend, OTHER).withdraw([shared])
    await world.look_again()
    await world.until(lambda: world.is_programmed("www"))
    other = claim(OTHER, Fqdn(f"theirs.{DOMAIN}"), Member(MemberType.A, "198.51.100.1"))
    await Publisher(backend, OTHER).claim([other])
    await world.delete_and_wait(RECORD_SETS, "www")
    await world.delete(ZONES, ZONE)
    await world.until(lambda: world.says(world.zone, "Programmed", "False", "ProviderConflict"))
    assert world.zone_id
    await Publisher(backend, OTHER).withdraw([other])
    await client.close()
    await world.until_gone(ZONES, ZONE)


async def test_records_of_another_owner_are_a_conflict_that_names_it(world: World) -> None:
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    world.cloudflare.state.add_record(zone_id, type="A", name=WWW, content="198.51.100.1", ttl=300)
    backend, client = await backend_of(world)
    await Publisher(backend, OTHER).claim([claim(OTHER, WWW, Member(MemberType.A, "198.51.100.1"))])
    await client.close()
    await world.apply(a("www"))
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    condition = world.condition(world.record_set("www"), "Programmed")
    assert condition is not None
    assert "elsewhere" in condition.message
    await world.delete_and_wait(RECORD_SETS, "www")
    assert addresses(world) == {"198.51.100.1"}


async def test_records_that_nobody_claims_are_a_conflict(world: World) -> None:
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    world.cloudflare.state.add_record(zone_id, type="A", name=WWW, content="198.51.100.1", ttl=300)
    await world.apply(a("www", "198.51.100.1"))
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    assert addresses(world) == {"198.51.100.1"}


async def test_a_record_set_cannot_say_who_owns_what(world: World) -> None:
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    await world.publish(a("www"))
    world.cloudflare.state.add_record(zone_id, type="A", name=f"theirs.{DOMAIN}", content="198.51.100.1", ttl=300)
    forged = claim(ME, Fqdn(f"theirs.{DOMAIN}"), Member(MemberType.A, "198.51.100.1"))
    await world.apply(txt("_dnsweaver.theirs", forged.value, name="forged"))
    await world.apply(txt("_dnsweaver-state", "garbage", name="garbage"))
    for name in ("forged", "garbage"):
        await world.until(partial(world.record_says, name, "False", "ProviderInvalidRequest"))
    await world.apply(a("theirs", "198.51.100.9"))
    await world.until(lambda: world.record_says("theirs", "False", "ProviderConflict"))
    for name in ("www", "forged", "garbage"):
        await world.delete_and_wait(RECORD_SETS, name)
    assert addresses(world) == {"198.51.100.1"}


async def test_claims_that_cannot_be_told_freeze_deletions_and_nothing_else(world: World) -> None:
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    await world.publish(a("www", "192.0.2.1"))
    name = owner_state_name(Fqdn(DOMAIN), OTHER)
    garbage = world.cloudflare.state.add_record(
        zone_id, type="TXT", name=name, content='"dnsweaver-state=v1:garbage"', ttl=300
    )
    await world.publish(a("more", "192.0.2.9"))
    await world.delete(RECORD_SETS, "www")
    await world.until(lambda: world.record_says("www", "False", "ProviderConflict"))
    assert "192.0.2.1" in addresses(world)
    del world.cloudflare.state.records[zone_id][garbage]
    await world.look_again()
    await world.until_gone(RECORD_SETS, "www")
    assert addresses(world) == {"192.0.2.9"}


async def test_faults_while_claiming_change_nothing_that_is_not_claimed(world: World) -> None:
    await world.ready_zone(parameters=PARAMETERS)
    for kind in (Kind.SERVER_ERROR, Kind.AFTER_HANG_UP, Kind.TOO_MANY, Kind.AFTER_SERVER_ERROR):
        world.cloudflare.fail(kind, lambda call: call.path.endswith("/batch"))
    await world.publish(a("www", "192.0.2.1"))
    assert addresses(world) == {"192.0.2.1"}
    assert await holder(world) is Holder.ME


@pytest.mark.parametrize("ownership", [{"mode": "Snapshot"}, {"mode": "Snapshot", "ownerID": "a,b"}, {"mode": "Often"}])
async def test_ownership_needs_a_name(world: World, ownership: dict[str, Any]) -> None:
    with pytest.raises(KubeError, match="ownership"):
        await world.apply(zone_class({"ownership": ownership}))


async def test_the_command_reads_a_zone(world: World) -> None:
    zone_id = await world.ready_zone(parameters=PARAMETERS)
    await world.publish(a("www", "192.0.2.1"))
    words = ("ownership", "show", "--cloudflare", zone_id, "--claims")
    cli = Cli({"CLOUDFLARE_API_TOKEN": TOKEN, "CLOUDFLARE_BASE_URL": world.cloudflare.url})
    shown = await asyncio.to_thread(cli.ok, *words)
    assert shown.splitlines()[-1].split() == [WWW, "A", "team", "192.0.2.1"]
    no_token = Cli({"CLOUDFLARE_API_TOKEN": ""})
    assert "CLOUDFLARE_API_TOKEN" in await asyncio.to_thread(partial(no_token.fails, *words, code=2))
