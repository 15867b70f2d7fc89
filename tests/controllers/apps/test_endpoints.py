"""EndpointRecordSets become RecordSets of the zones that their hostnames lie within."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controllers.api.endpoint import (
    ADOPTION_ANNOTATION,
    ENDPOINT_RECORD_SETS,
    LEFT_OUT_ANNOTATION,
    MANAGED_BY_LABEL,
    OWNER_NAME_LABEL,
    OWNER_NAMESPACE_LABEL,
)
from controllers.api.group import RECORD_SETS, ZONES
from controllers.apps.registry import AppsConfig
from controllers.providers.cloudflare.endpoint import ENDPOINT as CLOUDFLARE
from controllers.providers.route53.endpoint import ENDPOINT as ROUTE53
from controllers.runtime.recorder import EVENTS
from kube.errors import Invalid
from tests.controllers.apps.conftest import NAMESPACE, PROVIDER, Gate, World, grant

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
    await world.zone("aws", "aws.test", provider=ROUTE53.provider.dump(), annotations={ADOPTION_ANNOTATION: "enabled"})
    await world.endpoint("one", ["app.example.test", "app.aws.test"])
    await world.until_reason("one", "app.aws.test", "True/Resolved")
    found = {each["spec"]["zoneRef"]["name"]: each["spec"] for each in (await world.client.list(RECORD_SETS)).items}
    assert found["aws"]["adoption"] == {"enabled": True}
    assert "adoption" not in found["zone"], "its provider knows no such adoption"


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
        await world.namespace("stranger")
        await world.zone("zone", "example.test", namespace="dns", allowedRecordSets=[grant("team", "app")])
        await world.endpoint("one", ["app.example.test", "other.example.test"], namespace="team")
        await world.endpoint("one", ["app.example.test"], namespace="stranger")
        await world.until_reason("one", "app.example.test", "False/NotAllowedByZone", "stranger")
        await world.until_reason("one", "other.example.test", "False/NotAllowedByZone", "team")
        await world.until_records(APP)
        found = (await world.client.list(RECORD_SETS)).items[0]["metadata"]
        assert (found["namespace"], found["labels"][OWNER_NAMESPACE_LABEL]) == ("dns", "team")
        await world.client.delete(ENDPOINT_RECORD_SETS, namespace="team", name="one")
        await world.until_records()


async def test_the_central_namespace_needs_a_grant_as_well(tmp_path: Path) -> None:
    async with World(tmp_path, AppsConfig(record_set_namespace="dns")) as world:
        for name in ("dns", "team", "zones"):
            await world.namespace(name)
        await world.zone("zone", "example.test", namespace="zones", allowedRecordSets=[grant("team", "app")])
        await world.endpoint("one", ["app.example.test"], namespace="team")
        await world.until_reason("one", "app.example.test", "False/NotAllowedByZone", "team")
        grants = [grant("team", "app"), grant("dns", "app")]
        await world.client.patch_merge(ZONES, {"spec": {"allowedRecordSets": grants}}, namespace="zones", name="zone")
        await world.until_records(APP)


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


async def test_what_is_not_resolved_is_told_in_an_event(world: World) -> None:
    await world.endpoint("one", ["app.example.test"])

    async def told() -> bool:
        events = (await world.client.list(EVENTS, namespace=NAMESPACE)).items
        return any((each["reason"], each["involvedObject"]["name"]) == ("ZoneNotFound", "one") for each in events)

    await world.until(told)
    await world.zone("zone", "example.test")
    await world.until_reason("one", "app.example.test", "True/Resolved")


async def test_a_record_set_that_the_api_refused_is_tried_again_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controllers.apps.endpoint.controller.REFUSED_AGAIN_S", 0.2)
    gate = Gate(world, RECORD_SETS)
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", "False/RecordSetRejected")
    assert "The gate is shut." in (await world.hostname("one", "app.example.test"))["conditions"][0]["message"]
    gate.open = True
    await world.until_records(APP)
    await world.until_reason("one", "app.example.test", "True/Resolved")


async def test_a_record_sets_name_that_somebody_else_gives_free_is_taken_by_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controllers.apps.endpoint.controller.REFUSED_AGAIN_S", 0.2)
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.until_records(APP)
    made = (await world.client.list(RECORD_SETS)).items[0]
    name = made["metadata"]["name"]
    await world.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await world.until_records()
    await world.create(RECORD_SETS, name, {**made["spec"], "a": {"addresses": ["192.0.2.77"]}})
    await world.endpoint("one", ["app.example.test"])
    await world.until_reason("one", "app.example.test", "False/RecordSetNotOwned")
    await world.client.delete(RECORD_SETS, namespace=NAMESPACE, name=name)
    await world.until_records(APP)


GARBAGE = [
    "{",
    "5",
    "null",
    '{"hostname": "a"}',
    "[1, null, {}]",
    '[{"hostname": "", "reason": "InvalidHostname", "message": ""}]',
    '[{"hostname": "x.test", "reason": "Resolved", "message": ""}]',
    '[{"hostname": "x.test", "reason": "Nonsense", "message": ""}]',
]


@pytest.mark.parametrize("text", GARBAGE)
async def test_garbage_in_the_list_of_left_out_hostnames_says_nothing(world: World, text: str) -> None:
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    await world.annotate(ENDPOINT_RECORD_SETS, "one", {LEFT_OUT_ANNOTATION: text})
    await world.until_reason("one", "app.example.test", "True/Resolved")
    told = (await world.get(ENDPOINT_RECORD_SETS, "one"))["status"]["hostnames"]
    assert [each["hostname"] for each in told] == ["app.example.test"]


async def test_left_out_hostnames_are_told_once_and_not_without_end(world: World) -> None:
    """The API refuses a status that tells a hostname twice, and every object that is too large."""
    item = {"hostname": "left.example.test", "reason": "InvalidHostname", "message": "m" * 4000}
    own = {**item, "hostname": "app.example.test"}
    some = [{**item, "hostname": f"{number}.example.test", "message": ""} for number in range(300)]
    await world.zone("zone", "example.test")
    await world.endpoint("one", ["app.example.test"])
    text = json.dumps([own, item, {"hostname": 7}, {**item, "message": "again"}, *some])
    await world.annotate(ENDPOINT_RECORD_SETS, "one", {LEFT_OUT_ANNOTATION: text})
    await world.until_reason("one", "left.example.test", "False/InvalidHostname")
    told = (await world.get(ENDPOINT_RECORD_SETS, "one"))["status"]["hostnames"]
    assert len(told) == 100
    assert len({each["hostname"] for each in told}) == 100
    assert await world.reason("one", "app.example.test") == "True/Resolved"
