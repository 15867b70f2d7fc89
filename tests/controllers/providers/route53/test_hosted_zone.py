"""Hosted zones: created, taken over, refused, lost, deleted and left."""

from __future__ import annotations

import pytest

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.fake.zone import HostedZone
from tests.controllers.providers.route53.world import (
    ACCOUNT,
    DOMAIN,
    OTHER_ACCOUNT,
    TEAM,
    World,
    a,
    identity,
    wire,
    zone,
    zone_class,
)

ROLE = f"arn:aws:iam::{OTHER_ACCOUNT}:role/dns-api-route53"


def somebodys(aws: FakeAws, domain: str = DOMAIN, *, private: bool = False) -> HostedZone:
    """A hosted zone that somebody else made."""
    request = {"Name": domain, "CallerReference": f"{domain}-{len(aws.route53.zones)}", "HostedZoneConfig": {}}
    if private:
        request["VPC"] = {"VPCId": "vpc-1"}
    with aws.lock:
        aws.route53.create_hosted_zone(ACCOUNT, request)
    return list(aws.route53.zones.values())[-1]


async def test_a_created_zone_carries_the_tags_of_its_owner_and_class(world: World) -> None:
    await world.set_up(parameters={"tags": {"appthrust.io/test-scope": "kest", "team": "a"}})
    assert world.zone.tags == {
        "appthrust.io/managed-by": "dns-api",
        "appthrust.io/zone-namespace": TEAM,
        "appthrust.io/zone-name": "zone",
        "appthrust.io/zone-class-namespace": TEAM,
        "appthrust.io/zone-class-name": "class",
        "appthrust.io/test-scope": "kest",
        "team": "a",
    }
    world.zone.tags.pop("appthrust.io/managed-by")
    await world.quiet(1)
    assert world.zone.tags["appthrust.io/managed-by"] == "dns-api"


@pytest.mark.parametrize(
    "key", ["appthrust.io/managed-by", pytest.param("appthrust.io/zone-name", marks=pytest.mark.slow)]
)
async def test_reserved_tags_are_denied_by_policy(world: World, key: str) -> None:
    await world.apply(identity(), zone_class(tags={key: "mine"}), zone())
    found = await world.condition(ZONE_CLASSES, "class", "Accepted", "False", "DeniedByPolicy")
    assert key in found["message"]
    await world.condition(ZONES, "zone", "Accepted", "False", "ZoneClassNotAccepted")
    assert world.aws.calls == [] or world.aws.count() == 0


async def test_a_class_asks_route_53_for_nothing(world: World) -> None:
    await world.apply(identity(), zone_class())
    await world.condition(ZONE_CLASSES, "class", "Accepted", "True", "Accepted")
    assert {call.operation for call in world.aws.calls} == {"GetCallerIdentity"}


async def test_creation_may_be_denied(world: World) -> None:
    await world.apply(identity(), zone_class(zoneCreationPolicy="Deny"), zone(), a("www"))
    await world.condition(ZONES, "zone", "Accepted", "False", "DeniedByPolicy")
    await world.condition(RECORD_SETS, "www", "Accepted", "False", "ZoneNotAccepted")
    assert world.zones == []
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")


async def test_a_public_zone_of_the_same_name_is_in_the_way(world: World) -> None:
    other = somebodys(world.aws)
    await world.apply(identity(), zone_class(), zone())
    await world.condition(ZONES, "zone", "Programmed", "False", "ProviderConflict")
    assert world.zones == [other]
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    assert world.zones == [other]


async def test_a_zone_of_the_same_name_may_be_allowed(world: World) -> None:
    somebodys(world.aws)
    await world.set_up(parameters={"sameNameZonePolicy": "Allow"})
    assert len(world.zones) == 2


async def test_private_zones_and_others_below_the_name_are_not_in_the_way(world: World) -> None:
    somebodys(world.aws, private=True)
    somebodys(world.aws, f"sub.{DOMAIN}")
    somebodys(world.aws, f"x{DOMAIN}")
    await world.set_up()
    assert len(world.zones) == 4


async def test_an_existing_zone_is_adopted_and_deleted_records_of_others_stay(world: World) -> None:
    other = somebodys(world.aws)
    other.apply([("CREATE", wire(f"old.{DOMAIN}.", "A", "198.51.100.1"))])
    await world.apply(identity(), zone_class(), zone(adopt=other.id), a("www"))
    await world.programmed(RECORD_SETS, "www")
    status = (await world.get(ZONES, "zone"))["status"]
    assert status["provider"]["data"] == {"hostedZoneID": other.id}
    assert other.tags == {}, "tags are for created zones"
    await world.event("zone", "ExternalResourceAdopted")
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    assert list(world.records(other)) == [(f"old.{DOMAIN}.", "A")]
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    await world.event("zone", "ExternalResourceRetained")
    assert world.zones == [other]


async def test_an_adoption_that_does_not_fit_is_told(world: World) -> None:
    private, named = somebodys(world.aws, private=True), somebodys(world.aws, "other.test")
    await world.apply(identity(), zone_class(), zone(adopt="ZNOWHERE1"))
    await world.condition(ZONES, "zone", "Programmed", "False", "ExternalResourceNotFound")
    await world.apply(zone(adopt=private.id))
    await world.condition(ZONES, "zone", "Programmed", "False", "ExternalResourceMismatch")
    await world.apply(zone(adopt=named.id))
    await world.condition(ZONES, "zone", "Programmed", "False", "ExternalResourceMismatch")
    assert world.aws.count() == 0


async def test_a_programmed_zone_does_not_move_to_another_one(world: World) -> None:
    await world.set_up()
    made, other = world.zone, somebodys(world.aws)
    await world.apply(zone(adopt=other.id))
    await world.condition(ZONES, "zone", "Accepted", "False", "ManagedResourceMismatch")
    await world.apply(zone(adopt=made.id))
    await world.programmed(ZONES, "zone")


async def test_delete_takes_the_hosted_zone_along(world: World) -> None:
    await world.set_up(a("www"), parameters={"zoneDeletionPolicy": "Delete"})
    await world.delete(ZONES, "zone")
    await world.delete(RECORD_SETS, "www")
    await world.gone(ZONES, "zone")
    assert world.zones == []
    await world.event("zone", "ExternalResourceDeleted")


async def test_a_hosted_zone_with_records_of_others_is_not_deleted(world: World) -> None:
    await world.set_up(parameters={"zoneDeletionPolicy": "Delete"})
    made = world.zone
    made.apply([("CREATE", wire(f"mine.{DOMAIN}.", "A", "198.51.100.1"))])
    await world.delete(ZONES, "zone")

    await world.condition(ZONES, "zone", "Programmed", "False", "ProviderConflict")
    assert world.zones == [made]
    made.apply([("DELETE", world.records()[f"mine.{DOMAIN}.", "A"])])
    await world.request_look("again")
    await world.gone(ZONES, "zone")
    assert world.zones == []


async def test_retain_leaves_the_hosted_zone(world: World) -> None:
    await world.set_up()
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    assert len(world.zones) == 1
    await world.event("zone", "ExternalResourceRetained")


async def test_a_lost_status_adopts_nothing_silently(world: World) -> None:
    await world.set_up(a("www"))
    made = world.zone
    await world.stop_manager()
    await world.client.patch_merge(ZONE_UNITS, {"status": None}, name="zone", namespace=TEAM, subresource="status")
    before = world.aws.count()
    await world.start_manager()
    await world.condition(ZONES, "zone", "Programmed", "False", "ProviderConflict")
    assert world.aws.count() == before
    await world.apply(zone(adopt=made.id))
    await world.programmed(ZONES, "zone")
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderConflict")
    await world.apply(a("www", adoption={"enabled": True}))
    await world.programmed(RECORD_SETS, "www")
    assert world.aws.count() == before, "everything was there already"


async def test_a_lost_status_makes_no_second_zone_even_where_same_names_are_allowed(world: World) -> None:
    await world.set_up(parameters={"sameNameZonePolicy": "Allow"})
    made = world.zone
    await world.stop_manager()
    await world.client.patch_merge(ZONE_UNITS, {"status": None}, name="zone", namespace=TEAM, subresource="status")
    await world.start_manager()
    found = await world.condition(ZONES, "zone", "Programmed", "False", "ProviderConflict")
    assert made.id in found["message"]
    assert world.zones == [made]


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble.CUT_AFTER,
        pytest.param(Trouble.HALF_ANSWER, marks=pytest.mark.slow),
        pytest.param(Trouble.CUT_BEFORE, marks=pytest.mark.slow),
    ],
)
async def test_a_creation_whose_answer_is_lost_is_read_back(world: World, trouble: Trouble) -> None:
    world.aws.faults.plan(Fault(trouble, "CreateHostedZone"))
    await world.set_up(a("www"))
    assert len(world.zones) == 1
    unit = await world.get(ZONE_UNITS, "zone")
    assert unit["status"]["provider"]["state"]["callerReference"] == world.zone.reference
    zone_status = (await world.get(ZONES, "zone"))["status"]
    assert world.zone.reference not in repr(zone_status)


async def test_a_hosted_zone_that_somebody_deleted_is_made_again(world: World) -> None:
    await world.set_up(a("www"))
    first = world.zone
    with world.aws.lock:
        del world.aws.route53.zones[first.id]
    await world.request_look("lost")

    async def made_again() -> bool | None:
        zones = world.zones
        return True if len(zones) == 1 and zones[0].id != first.id and world.records() else None

    await world.until(made_again, lambda: "the hosted zone was not made again")
    await world.programmed(RECORD_SETS, "www")


async def test_record_sets_of_an_adopted_zone_that_is_gone_are_gone_too(world: World) -> None:
    other = somebodys(world.aws)
    await world.apply(identity(), zone_class(zoneDeletionPolicy="Delete"), zone(adopt=other.id), a("www"))
    await world.programmed(RECORD_SETS, "www")
    with world.aws.lock:
        del world.aws.route53.zones[other.id]
    await world.request_look("gone")
    await world.condition(ZONES, "zone", "Programmed", "False", "ExternalResourceNotFound")
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderChangeDeferred")
    await world.delete(RECORD_SETS, "www")
    await world.gone(RECORD_SETS, "www")
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    assert world.zones == []


async def test_a_hosted_zone_in_another_account_is_not_called_gone(world: World) -> None:
    await world.set_up(parameters={"zoneDeletionPolicy": "Delete"})
    made = world.zone
    world.aws.identities.add_role(ROLE)
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=[{"roleARN": ROLE}]))
    await world.condition(ZONES, "zone", "Programmed", "False", "ExternalResourceMismatch")
    await world.delete(ZONES, "zone")

    async def told() -> bool | None:
        unit = await world.get(ZONE_UNITS, "zone")
        reasons = {each["reason"] for each in unit["status"]["zone"]["conditions"]}
        return True if unit["metadata"].get("deletionTimestamp") and "ExternalResourceMismatch" in reasons else None

    await world.until(told, lambda: "the ledger does not tell of the other account")
    assert world.zones == [made]
    await world.client.apply(
        ROUTE53_IDENTITIES,
        {**identity(), "metadata": {"namespace": TEAM, "name": "identity"}},
        manager="test",
        force=True,
    )
    await world.gone(ZONES, "zone")
    assert world.zones == []


async def test_a_creation_that_takes_its_time_is_recognised(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing does not show it yet when it is asked for again, and the second request says that it is there."""
    listed = world.aws.route53.list_hosted_zones_by_name
    asked = 0

    def late(account: str, query: dict[str, str]) -> dict[str, object]:
        nonlocal asked
        asked += 1
        answer = listed(account, query)
        return {**answer, "HostedZones": []} if asked <= 2 else answer

    monkeypatch.setattr(world.aws.route53, "list_hosted_zones_by_name", late)
    world.aws.faults.plan(Fault(Trouble.CUT_AFTER, "CreateHostedZone"))
    await world.set_up(a("www"))
    assert len(world.zones) == 1


async def test_leaving_a_hosted_zone_takes_no_identity(world: World) -> None:
    await world.set_up()
    await world.stop_manager()
    await world.delete(ROUTE53_IDENTITIES, "identity")
    await world.start_manager()
    await world.delete(ZONES, "zone")
    await world.gone(ZONES, "zone")
    await world.event("zone", "ExternalResourceRetained")
    assert len(world.zones) == 1


async def test_claims_are_not_told_what_is_wrong_with_the_identity(world: World) -> None:
    world.aws.identities.add_role(ROLE)
    await world.apply(identity(accountID=OTHER_ACCOUNT, assumeRoleChain=[{"roleARN": ROLE}]), zone_class(), zone())
    await world.programmed(ZONES, "zone")
    with world.aws.faults.lasting(Trouble.DENIED):
        await world.apply(a("www"))
        found = await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderIdentityNotReady")
        assert "assumeRoleChain" not in found["message"]
        assert "Step" not in found["message"]
    await world.programmed(RECORD_SETS, "www")


async def test_a_zone_that_was_never_taken_over_is_not_deleted(world: World) -> None:
    other = somebodys(world.aws)
    await world.apply(identity(accountID="222222222222"), zone_class(zoneDeletionPolicy="Delete"), zone(adopt=other.id))
    await world.condition(ZONES, "zone", "Programmed", "False", "ProviderIdentityNotReady")
    await world.delete(ZONES, "zone")
    await world.apply(identity())
    await world.gone(ZONES, "zone")
    assert world.zones == [other]


async def test_an_identity_that_is_not_there_holds_everything_up(world: World) -> None:
    await world.apply(zone_class(), zone(), a("www"))
    await world.condition(ZONE_CLASSES, "class", "Accepted", "Unknown", "IdentityNotResolved")
    await world.apply(identity(accountID="222222222222"))
    await world.condition(ZONE_CLASSES, "class", "Accepted", "True", "Accepted")
    found = await world.condition(ZONES, "zone", "Programmed", "False", "ProviderIdentityNotReady")
    assert "222222222222" not in found["message"]
    await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderIdentityNotReady")
    await world.apply(identity())
    await world.programmed(RECORD_SETS, "www")


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
async def test_a_zone_that_goes_together_with_its_class_and_identity_is_cleaned_up(world: World, policy: str) -> None:
    await world.set_up(a("www"), parameters={"zoneDeletionPolicy": policy})
    made = world.zone
    for ref, name in ((ZONE_CLASSES, "class"), (ROUTE53_IDENTITIES, "identity"), (ZONES, "zone"), (RECORD_SETS, "www")):
        await world.delete(ref, name)
    await world.gone(RECORD_SETS, "www")
    await world.gone(ZONES, "zone")
    assert world.records(made) == {}
    assert world.zones == ([] if policy == "Delete" else [made])


async def test_nobody_knows_a_policy_after_a_restart_without_the_class(world: World) -> None:
    await world.set_up(parameters={"zoneDeletionPolicy": "Delete"})
    await world.stop_manager()
    await world.delete(ZONE_CLASSES, "class")
    await world.delete(ZONES, "zone")
    await world.start_manager()
    await world.gone(ZONES, "zone")
    await world.event("zone", "ExternalResourceRetained")
    assert len(world.zones) == 1


async def test_an_identity_that_is_not_accepted_any_more_stops_its_zones(world: World) -> None:
    await world.set_up(a("www"))
    writes = world.aws.count()
    await world.apply(identity(region="mars-north-1"))
    await world.condition(ZONE_CLASSES, "class", "Accepted", "False", "InvalidIdentityRef")

    async def told() -> bool | None:
        unit = await world.get(ZONE_UNITS, "zone")
        results = [unit["status"]["zone"], *unit["status"]["recordSets"]]
        found = {each["reason"] for result in results for each in result["conditions"] if each["type"] == "Accepted"}
        return True if found == {"InvalidIdentityRef"} else None

    await world.until(told, lambda: "the ledger does not tell of the identity")
    await world.apply(a("www", "192.0.2.99"))
    await world.condition(ZONES, "zone", "Accepted", "False", "ZoneClassNotAccepted")
    assert world.aws.count() == writes
    await world.apply(identity())
    await world.programmed(ZONES, "zone")
    await world.programmed(RECORD_SETS, "www")


async def test_an_identity_that_goes_leaves_its_zones_as_they_are(world: World) -> None:
    await world.set_up(a("www"))
    calls = len(world.aws.calls)
    await world.delete(ROUTE53_IDENTITIES, "identity")
    await world.condition(ZONE_CLASSES, "class", "Accepted", "Unknown", "IdentityNotResolved")

    async def told() -> bool | None:
        unit = await world.get(ZONE_UNITS, "zone")
        conditions = {each["type"]: each for each in unit["status"]["zone"]["conditions"]}
        return True if conditions["Accepted"]["reason"] == "IdentityNotResolved" else None

    await world.until(told, lambda: "the ledger does not tell of the identity")
    assert len(world.aws.calls) == calls
    assert world.records()
    await world.apply(identity())
    await world.programmed(ZONES, "zone")


async def test_a_denied_write_is_told_where_it_was_denied(world: World) -> None:
    await world.set_up()
    with world.aws.faults.lasting(Trouble.DENIED, "ChangeResourceRecordSets"):
        await world.apply(a("www"))
        await world.condition(RECORD_SETS, "www", "Programmed", "False", "ProviderAccessDenied")
        await world.programmed(ZONES, "zone")
    await world.programmed(RECORD_SETS, "www")
