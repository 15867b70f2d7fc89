"""EndpointRecordSets become RecordSets of the zones that their hostnames lie within."""

from __future__ import annotations

from pathlib import Path

import pytest

from controllers.api.endpoint import (
    ADOPTION_ANNOTATION,
    ENDPOINT_RECORD_SETS,
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
    RETIREMENT_ANNOTATION,
)
from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.apps.registry import AppsConfig
from controllers.providers.cloudflare.endpoint import ENDPOINT as CLOUDFLARE
from controllers.providers.external.endpoint import ENDPOINT as EXTERNAL
from controllers.providers.route53.endpoint import ENDPOINT as ROUTE53
from controllers.runtime.recorder import EVENTS
from kube.errors import Invalid
from tests.controllers.apps.conftest import NAMESPACE, PROVIDER, World

APP = ("app", "A", "192.0.2.1")


async def test_addresses_become_record_sets_of_the_zone(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"], "192.0.2.1", "2001:db8::1")
    await world.until_records(APP, ("app", "AAAA", "2001:db8::1"))
    await world.until_reason("one", "app.example.test", "True/Resolved")
    found = (await world.client.list(RECORD_SETS)).items[0]
    labels = found["metadata"]["labels"]
    assert labels == {MANAGED_BY_LABEL: "dns-api-endpoint", OWNER_NAMESPACE_LABEL: NAMESPACE, OWNER_NAME_LABEL: "one"}
    assert (found["spec"]["zoneRef"], found["spec"]["provider"]) == ({"namespace": NAMESPACE, "name": "zone"}, PROVIDER)
    assert "adoption" not in found["spec"]
    told = await world.hostname("one", "app.example.test")
    assert (told["zone"]["domainName"], [each["type"] for each in told["recordSets"]]) == (
        "example.test",
        ["A", "AAAA"],
    )


async def test_the_longest_zone_is_chosen_by_labels_and_never_by_text(world: World) -> None:
    for name, domain in (("short", "example.test"), ("long", "eu.example.test"), ("trap", "p.example.test")):
        await world.zone(name, domain)
    await world.endpoint("one", ["app.example.test", "a.eu.example.test", "eu.example.test", "*.eu.example.test"])
    await world.until_reason("one", "*.eu.example.test", "True/Resolved")
    chosen = [
        (await world.hostname("one", each))["zone"]["ref"]["name"]
        for each in ("app.example.test", "a.eu.example.test", "eu.example.test", "*.eu.example.test")
    ]
    assert chosen == ["short", "long", "long", "long"]


async def test_records_move_to_a_longer_zone_that_comes_later(world: World) -> None:
    await world.zone("short", "example.test")
    await world.endpoint("one", ["a.eu.example.test"])
    await world.until_records(("a.eu", "A", "192.0.2.1"))
    await world.zone("long", "eu.example.test")
    await world.until_records(("a", "A", "192.0.2.1"))


async def test_a_change_of_targets_and_hostnames_is_followed(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test", "old.example.test"])
    await world.until_records(APP, ("old", "A", "192.0.2.1"))
    spec = {"hostnames": ["app.example.test"], "targets": [{"type": "Hostname", "value": "lb.test"}]}
    await world.client.patch_merge(ENDPOINT_RECORD_SETS, {"spec": spec}, namespace=NAMESPACE, name="one")
    await world.until_records(("app", "CNAME", "lb.test"))
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()


async def test_a_record_set_that_somebody_edits_or_deletes_comes_back(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    name = (await world.client.list(RECORD_SETS)).items[0]["metadata"]["name"]
    patch = {"spec": {"a": {"addresses": ["192.0.2.99"]}}}
    await world.client.patch_merge(RECORD_SETS, patch, namespace=NAMESPACE, name=name)
    await world.until_records(APP)
    await world.client.delete(RECORD_SETS, namespace=NAMESPACE, name=name)
    await world.until_records(APP)


async def test_adoption_is_asked_for_where_the_zone_says_so(world: World) -> None:
    await world.zone("zone", "example.test", annotations={ADOPTION_ANNOTATION: "enabled"})
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", "False/RecordSetRejected")
    told = await world.hostname("one", "app.example.test")
    assert "spec.adoption" in told["conditions"][0]["message"]


async def test_a_load_balancer_of_aws_becomes_aliases_that_admission_takes(world: World) -> None:
    annotations = {ADOPTION_ANNOTATION: "enabled"}
    await world.zone("zone", "example.test", provider=ROUTE53.provider.dump(), annotations=annotations)
    await world.endpoint("one", ["example.test"], "shop-1.eu-west-1.elb.amazonaws.com")
    await world.until_reason("one", "example.test", "True/Resolved")
    found = {each["spec"]["type"]: each["spec"] for each in (await world.client.list(RECORD_SETS)).items}
    assert set(found) == {"A", "AAAA"}
    for spec in found.values():
        assert (spec["name"], spec["adoption"], "ttl" in spec) == ("@", {"enabled": True}, False)
        assert spec["options"]["alias"]["hostedZoneID"] == "Z32O12XQLNTSW2"
    await world.endpoint("two", ["other.example.test"], "lb.elsewhere.test")
    await world.until_reason("two", "other.example.test", "False/EndpointRecordSetConversionFailed")


async def test_a_name_at_the_apex_of_cloudflare_becomes_a_cname_that_admission_takes(world: World) -> None:
    await world.zone("zone", "example.test", provider=CLOUDFLARE.provider.dump())
    await world.endpoint("one", ["example.test"], "lb.elsewhere.test")
    await world.until_records(("@", "CNAME", "lb.elsewhere.test"))


async def test_a_hostname_without_a_zone_says_so_and_is_published_once_there_is_one(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test", "app.elsewhere.test"])
    await world.until_reason("one", "app.elsewhere.test", "False/ZoneNotFound")
    await world.until_records(APP)
    summary = (await world.get(ENDPOINT_RECORD_SETS, "one"))["status"]["conditions"][0]
    assert (summary["status"], summary["reason"]) == ("False", "ZoneNotFound")
    assert "1 of 2 hostnames" in summary["message"]
    await world.zone("later", "elsewhere.test")
    await world.until_reason("one", "app.elsewhere.test", "True/Resolved")


async def test_another_namespace_needs_a_grant(world: World) -> None:
    await world.namespace("team", tier="one")
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"], namespace="team")
    await world.until_reason("one", "app.example.test", "False/NotAllowedByZone", "team")
    assert await world.records() == set()
    grant = {
        "namespaces": {"selector": {"matchLabels": {"tier": "one"}}},
        "records": [{"name": {"pattern": "app"}, "types": ["A"]}],
    }
    await world.client.patch_merge(ZONES, {"spec": {"allowedRecordSets": [grant]}}, namespace=NAMESPACE, name="zone")
    await world.until_reason("one", "app.example.test", "True/Resolved", "team")
    await world.until_records(APP)
    await world.client.patch_merge(ZONES, {"spec": {"allowedRecordSets": []}}, namespace=NAMESPACE, name="zone")
    await world.until_reason("one", "app.example.test", "False/NotAllowedByZone", "team")
    assert await world.records() == {APP}, "a grant that is withdrawn deletes nothing"


async def test_all_record_sets_go_to_one_namespace_when_told_so(tmp_path: Path) -> None:
    async with World(tmp_path, AppsConfig(record_set_namespace="dns")) as world:
        await world.namespace("dns")
        await world.namespace("team")
        await world.zone("zone", "example.test", namespace="dns")
        await world.endpoint("one", ["app.example.test"], namespace="team")
        await world.until_records(APP)
        found = (await world.client.list(RECORD_SETS)).items[0]["metadata"]
        assert (found["namespace"], found["labels"][OWNER_NAMESPACE_LABEL]) == ("dns", "team")
        await world.client.delete(ENDPOINT_RECORD_SETS, namespace="team", name="one")
        await world.until_records()


async def test_what_others_made_is_never_touched(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    made = (await world.client.list(RECORD_SETS)).items[0]
    name, spec = made["metadata"]["name"], made["spec"]
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    foreign = {**spec, "a": {"addresses": ["192.0.2.77"]}}
    await world.create(RECORD_SETS, name, foreign, labels={MANAGED_BY_LABEL: "somebody"})
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", "False/RecordSetNotOwned")
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.endpoint("two", ["two.example.test"])
    await world.until_records(("app", "A", "192.0.2.77"), ("two", "A", "192.0.2.1"))


async def test_a_zone_that_is_going_is_left_so_that_it_can_go(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    held = {"metadata": {"finalizers": ["test.example/held"]}}
    await world.client.patch_merge(ZONES, held, namespace=NAMESPACE, name="zone")
    await world.client.delete(ZONES, namespace=NAMESPACE, name="zone")

    async def let_go() -> bool:
        found = (await world.client.list(RECORD_SETS)).items
        return all("deletionTimestamp" in each["metadata"] for each in found)

    await world.until(let_go)
    await world.until_reason("one", "app.example.test", "False/ZoneDeleting")


async def test_a_restart_converges_without_touching_anything(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await world.until_reason("one", "app.example.test", "True/Resolved")
    before = (await world.client.list(RECORD_SETS)).items[0]["metadata"]["uid"]
    await world.stop_manager()
    await world.endpoint("two", ["two.example.test"])
    await world.start_manager()
    await world.until_reason("two", "two.example.test", "True/Resolved")
    uids = {each["metadata"]["uid"] for each in (await world.client.list(RECORD_SETS)).items}
    assert before in uids


async def test_an_endpoint_that_goes_while_no_manager_runs_is_cleaned_up_after(world: World) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await world.stop_manager()
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.start_manager()
    await world.until_records()


async def test_admission_names_every_fault(world: World) -> None:
    spec = {
        "hostnames": ["Upper.example.test", "dot.example.test."],
        "targets": [{"type": "IPAddress", "value": "192.0.2.999"}, {"type": "Hostname", "value": "192.0.2.1"}],
    }
    with pytest.raises(Invalid) as refused:
        await world.create(ENDPOINT_RECORD_SETS, "n" * 64, spec)
    fields = {each.field for each in refused.value.causes}
    assert fields == {
        "metadata.name",
        "spec.hostnames[0]",
        "spec.hostnames[1]",
        "spec.targets[0].value",
        "spec.targets[1].value",
    }


async def test_addresses_given_up_leave_a_claim_behind_where_the_provider_can_prove_it(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"], "192.0.2.1", "192.0.2.2")
    await world.until_records(("app", "A", "192.0.2.1,192.0.2.2"))
    spec = {"targets": [{"type": "IPAddress", "value": "192.0.2.2"}]}
    await world.client.patch_merge(ENDPOINT_RECORD_SETS, {"spec": spec}, namespace=NAMESPACE, name="one")
    await world.until_records(("app", "A", "192.0.2.2"))
    assert await claims(world) == {("app", "192.0.2.1")}
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    assert await claims(world) == {("app", "192.0.2.1"), ("app", "192.0.2.2")}


async def test_no_claim_is_left_where_somebody_declined_it(world: World) -> None:
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    await world.annotate(ZONES, "zone", {RETIREMENT_ANNOTATION: "disabled"})
    await world.endpoint("marker", ["marker.example.test"])
    await world.until_reason("marker", "marker.example.test", "True/Resolved")
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records(("marker", "A", "192.0.2.1"))
    assert await claims(world) == set()


async def claims(world: World) -> set[tuple[str, str]]:
    found = (await world.client.list(RECORD_WITHDRAWALS)).items
    return {(each["spec"]["name"], each["spec"]["address"]) for each in found}


async def test_a_label_is_no_licence_to_leave_claims_in_a_zone_that_grants_nothing(world: World) -> None:
    await world.namespace("tenant")
    await world.zone("zone", "example.test", provider=EXTERNAL.provider.dump())
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    labels = {MANAGED_BY_LABEL: "dns-api-endpoint", OWNER_NAMESPACE_LABEL: "tenant", OWNER_NAME_LABEL: "nobody"}
    spec = {
        "zoneRef": {"namespace": NAMESPACE, "name": "zone"},
        "provider": EXTERNAL.provider.dump(),
        "type": "A",
        "name": "spoofed",
        "ttl": 60,
        "a": {"addresses": ["192.0.2.66"]},
    }
    await world.create(RECORD_SETS, "spoofed", spec, "tenant", labels=labels)
    await world.until_records(APP)
    assert await claims(world) == set()


async def test_what_is_not_resolved_is_told_in_an_event(world: World) -> None:
    await world.endpoint("one", ["app.example.test"])

    async def told() -> bool:
        events = (await world.client.list(EVENTS, namespace=NAMESPACE)).items
        return any((each["reason"], each["involvedObject"]["name"]) == ("ZoneNotFound", "one") for each in events)

    await world.until(told)
    await world.zone("zone", "example.test")
    await world.until_reason("one", "app.example.test", "True/Resolved")
