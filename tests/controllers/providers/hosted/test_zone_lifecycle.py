"""Classes that come, go or are wrong; domains that several zones claim; zones and namespaces that are deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.api.group import CORE_FINALIZER, HOSTED_ZONES, NAMESPACES, ZONE_UNITS
from kube.errors import NotFound
from kube.object import ObjectKey
from tests.controllers.providers.hosted.world import TEAM, World, item, keys

ZONE = ObjectKey(TEAM, "zone")
DIGEST = "sha256:" + "0" * 64


async def served_zone(world: World, *claims: str) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item(claim) for claim in claims])
    await world.until(lambda: all(world.is_programmed("zone", claim) for claim in claims))


async def test_deleted_ledger_is_let_go_when_nothing_is_published_any_more(world: World) -> None:
    await served_zone(world, "www")
    await world.delete_unit("zone")
    assert await world.hosted("zone") is None
    await world.until(lambda: world.cached_unit("zone") is None)
    assert "HostedZoneDeleted" in await world.events("zone")


async def test_ledger_goes_without_its_class_too(world: World) -> None:
    await served_zone(world, "www")
    await world.client.delete(world.class_ref, namespace=TEAM, name="hosted")
    await world.until(lambda: world.says(world.zone_condition("zone", "Accepted"), "Unknown", "ZoneClassNotResolved"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}
    await world.delete_unit("zone")
    assert await world.hosted("zone") is None


async def test_zone_whose_class_has_gone_changes_only_by_deletions(world: World) -> None:
    await served_zone(world, "www", "mail")
    await world.client.delete(world.class_ref, namespace=TEAM, name="hosted")
    await world.edit(
        "zone", [item("www", "192.0.2.9", generation=2), item("mail", deletionRequested=True), item("ftp")]
    )
    await world.until(lambda: world.entry("zone", "mail") is None and world.caught_up("zone"))
    served = world.servers["ns-a"].records(ZONE)
    assert keys(served) == {"www"}
    assert served["www", "A"].a.addresses == ("192.0.2.1",)
    await world.until(lambda: world.says(world.programmed("zone", "ftp"), "False", "ProviderChangeDeferred"))

    await world.zone_class()
    await world.until(lambda: world.is_programmed("zone", "www", generation=2) and world.is_programmed("zone", "ftp"))


async def test_namespace_goes_with_everything_in_it(world: World) -> None:
    await served_zone(world, "www")
    await world.client.delete(NAMESPACES, name=TEAM)

    async def released() -> bool:
        obj = await world.client.get(ZONE_UNITS, namespace=TEAM, name="zone")
        return bool(obj["metadata"]["finalizers"] == [CORE_FINALIZER])

    await world.until_async(released)
    await world.client.patch_merge(ZONE_UNITS, {"metadata": {"finalizers": None}}, namespace=TEAM, name="zone")

    async def is_gone() -> bool:
        try:
            await world.client.get(NAMESPACES, name=TEAM)
        except NotFound:
            return True
        return False

    await world.until_async(is_gone)


async def test_deletion_of_a_record_is_reported_by_a_deleting_ledger_too(world: World) -> None:
    await served_zone(world, "www")
    await world.client.delete(ZONE_UNITS, namespace=TEAM, name="zone")

    async def released() -> bool:
        obj = await world.client.get(ZONE_UNITS, namespace=TEAM, name="zone")
        return bool(obj["metadata"]["finalizers"] == [CORE_FINALIZER])

    await world.until_async(released)
    await world.edit("zone", [item("www", deletionRequested=True)])
    await world.until(lambda: world.entry("zone", "www") is None and world.caught_up("zone"))


async def test_oldest_zone_has_the_domain_and_the_next_one_takes_it_over(world: World) -> None:
    await served_zone(world, "www")
    await world.unit("later", [item("mail", claim="later-mail")])
    await world.until(lambda: world.says(world.zone_condition("later"), "False", "ProviderConflict"))
    condition = world.zone_condition("later")
    assert condition is not None
    assert "team/zone" in condition.message
    assert world.says(world.programmed("later", "later-mail"), "False", "ProviderConflict")
    assert await world.hosted("later") is None

    await world.delete_unit("zone")
    await world.until(lambda: world.is_programmed("later", "later-mail"))
    assert keys(world.servers["ns-a"].records(ObjectKey(TEAM, "later"))) == {"mail"}


async def test_record_of_a_zone_that_has_yielded_can_be_deleted(world: World) -> None:
    await served_zone(world, "www")
    await world.unit("later", [item("mail", claim="later-mail")])
    await world.until(lambda: world.says(world.programmed("later", "later-mail"), "False", "ProviderConflict"))
    await world.edit("later", [item("mail", claim="later-mail", deletionRequested=True)])
    await world.until(lambda: world.entry("later", "later-mail") is None and world.caught_up("later"))


async def test_class_of_another_controller_is_left_alone_and_its_zones_are(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class(controllerName="other.example/controller")
    await world.unit("zone", [item("www")])
    await world.quiet()
    unit = await world.client.get(ZONE_UNITS, namespace=TEAM, name="zone")
    found = await world.client.get(world.class_ref, namespace=TEAM, name="hosted")
    assert not unit.get("status")
    assert not found.get("status")
    assert unit["metadata"]["finalizers"] == [CORE_FINALIZER]
    assert await world.hosted("zone") is None


async def test_name_server_inside_the_zone_needs_an_address(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class(parameters={"nameServers": [{"name": "ns1.example.test"}]})
    await world.unit("zone", [item("www")])
    await world.until(lambda: world.says(world.zone_condition("zone"), "False", "ProviderInvalidRequest"))
    condition = world.zone_condition("zone")
    assert condition is not None
    assert "nameServers[0] ns1.example.test" in condition.message
    assert await world.hosted("zone") is None

    patch = {"spec": {"parameters": {"nameServers": [{"name": "ns1.example.test", "addresses": ["192.0.2.53"]}]}}}
    await world.client.patch_merge(world.class_ref, patch, namespace=TEAM, name="hosted")
    await world.until(lambda: world.is_programmed("zone", "www"))


async def test_wrong_parameters_leave_the_zone_as_it_was(world: World) -> None:
    await served_zone(world, "www")
    patch = {"spec": {"parameters": {"nameServers": None}}}
    await world.client.patch_merge(world.class_ref, patch, namespace=TEAM, name="hosted")
    await world.until(lambda: world.says(world.zone_condition("zone", "Accepted"), "False", "ZoneClassNotAccepted"))
    assert keys(world.servers["ns-a"].records(ZONE)) == {"www"}
    assert world.is_programmed("zone", "www")


async def test_new_parameters_reach_the_snapshot(world: World) -> None:
    await served_zone(world, "www")
    patch = {"spec": {"parameters": {"negativeTTL": 30}}}
    await world.client.patch_merge(world.class_ref, patch, namespace=TEAM, name="hosted")
    await world.until_async(lambda: _minimum_is(world, 30))
    await world.until(lambda: world.says(world.zone_condition("zone"), "True", "Programmed"))


async def _minimum_is(world: World, seconds: int) -> bool:
    snapshot = world.servers["ns-a"].served.get(ZONE)
    return snapshot is not None and snapshot.soa.minimum == seconds


async def test_object_in_the_way_is_told_and_not_touched(world: World) -> None:
    digest = "sha256:" + "a" * 64
    stranger = {
        "apiVersion": world.hosted_ref.api_version,
        "kind": world.hosted_ref.kind,
        "metadata": {"namespace": TEAM, "name": "zone"},
        "spec": {"page": {"zone": "somebody", "digest": digest, "recordSets": []}},
    }
    created = await world.client.create(world.hosted_ref, stranger)
    await world.start_servers("ns-a")
    await world.zone_class()
    await world.unit("zone", [item("www")])
    await world.until(lambda: world.says(world.programmed("zone", "www"), "False", "ProviderInvalidRequest"))
    condition = world.zone_condition("zone")
    assert condition is not None
    assert "is in the way" in condition.message
    assert await world.hosted("zone") == created


async def test_manifest_that_somebody_changed_is_written_again(world: World) -> None:
    await served_zone(world, "www", "mail")
    before = await world.hosted("zone")
    assert before is not None
    changes: list[dict[str, Any]] = [
        {"recordSets": []},
        {"domainName": "other.test"},
        {"pages": [{"name": "x", "digest": DIGEST}]},
    ]
    for wrong in changes:
        await world.client.patch_merge(HOSTED_ZONES, {"spec": wrong}, namespace=TEAM, name="zone")
        await world.until_async(lambda: _is_as(world, before))
    after = await world.hosted("zone")
    assert after is not None
    assert after["spec"]["serial"] == before["spec"]["serial"]


async def test_manifest_that_was_changed_while_nobody_looked_is_written_again(world: World) -> None:
    await served_zone(world, "www")
    before = await world.hosted("zone")
    assert before is not None
    await world.stop("manager")
    await world.client.patch_merge(HOSTED_ZONES, {"spec": {"recordSets": []}}, namespace=TEAM, name="zone")
    await world.until_async(lambda: _is_rejected(world))
    await world.start_manager()
    await world.until_async(lambda: _is_as(world, before))


async def test_results_that_do_not_fit_are_told_on_the_part(world: World) -> None:
    await world.start_servers("ns-a")
    await world.zone_class()
    # With its results and field owners, a ledger of this size passes what one object may hold.
    await world.unit("zone", [item(f"n{number}") for number in range(1500)])
    await world.until(lambda: _reason(world) == "ReconcileError")
    assert len(world.servers["ns-a"].records(ZONE)) == 1500


def _reason(world: World) -> str | None:
    unit = world.cached_unit("zone")
    return unit.status.conditions[0].reason if unit is not None and unit.status.conditions else None


async def _is_as(world: World, before: Mapping[str, Any]) -> bool:
    found = await world.hosted("zone")
    return found is not None and found["spec"] == before["spec"]


async def _is_rejected(world: World) -> bool:
    found = await world.hosted("zone")
    return found is not None and found["status"]["servers"][0]["state"] == "Rejected"
