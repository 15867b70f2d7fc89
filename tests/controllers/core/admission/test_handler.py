"""AdmissionReviews in and out: what a handler answers an API server."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from controllers.api.provider import parse_provider
from controllers.core.admission.handler import Admission
from controllers.core.admission.review import ReviewError
from tests.controllers.core.admission.build import (
    ABSENT,
    PROVIDER,
    Cluster,
    Manifest,
    condition,
    ledger,
    provider,
    record_set,
    zone,
    zone_class,
)

KINDS = {
    "providers": "Provider",
    "zoneclasses": "ZoneClass",
    "zones": "Zone",
    "recordsets": "RecordSet",
    "zoneunits": "ZoneUnit",
}
MANIFESTS = {
    "providers": provider,
    "zoneclasses": zone_class,
    "zones": zone,
    "recordsets": lambda changes=None: record_set("A", changes),
    "zoneunits": ledger,
}


def review(plural: str, operation: str, new: Manifest | None, old: Manifest | None = None, **more: Any) -> Manifest:
    metadata = (new or old or {}).get("metadata", {})
    request = {
        "uid": "7b4f",
        "kind": {"group": "dns.appthrust.io", "version": "v1alpha1", "kind": KINDS[plural]},
        "operation": operation,
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "object": new,
        "oldObject": old,
        "dryRun": False,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


async def ask(cluster: Cluster, plural: str, subresource: str | None, question: Manifest) -> Manifest:
    (hook,) = [
        each for each in Admission(cluster).hooks() if (each.resource.plural, each.subresource) == (plural, subresource)
    ]
    answer = await hook.handler(question)
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert answer["response"]["uid"] == "7b4f"
    response: Manifest = answer["response"]
    return response


@pytest.mark.parametrize("plural", KINDS)
@pytest.mark.parametrize("dry_run", [False, True])
async def test_what_is_right_is_allowed(plural: str, dry_run: bool) -> None:
    question = review(plural, "CREATE", MANIFESTS[plural](), dryRun=dry_run)

    assert await ask(Cluster(), plural, None, question) == {"uid": "7b4f", "allowed": True}


async def test_a_refusal_is_an_invalid_status_that_lists_every_fault() -> None:
    manifest = record_set("A", {"spec.ttl": 0, "spec.a.addresses": ["192.0.2.1", "x"]})

    response = await ask(Cluster(), "recordsets", None, review("recordsets", "CREATE", manifest))

    status = response["status"]
    assert response["allowed"] is False
    assert (status["status"], status["reason"], status["code"]) == ("Failure", "Invalid", 422)
    assert status["details"]["kind"] == "RecordSet"
    assert status["details"]["name"] == "www"
    assert status["details"]["causes"] == [
        {
            "field": "spec.ttl",
            "reason": "FieldValueInvalid",
            "message": "found 0, allowed: an integer from 1 to 2147483647",
        },
        {
            "field": "spec.a.addresses[1]",
            "reason": "FieldValueInvalid",
            "message": 'found "x", allowed: an IPv4 address such as 192.0.2.1',
        },
    ]
    for cause in status["details"]["causes"]:
        assert f"{cause['field']}: {cause['message']}" in status["message"]


async def test_a_missing_provider_is_refused_as_one() -> None:
    response = await ask(Cluster(providers={}), "zones", None, review("zones", "CREATE", zone()))

    (cause,) = response["status"]["details"]["causes"]
    assert (cause["field"], cause["reason"]) == ("spec.provider.name", "InvalidProvider")
    assert PROVIDER in cause["message"]


@pytest.mark.parametrize(
    "changes",
    [{"spec.versions.0.served": False}, {"spec.versions.0.name": "v2"}],
    ids=["a version that is not served", "a version that does not exist"],
)
async def test_a_version_that_claims_cannot_name_is_refused(changes: dict[str, Any]) -> None:
    cluster = Cluster(providers={PROVIDER: parse_provider(provider(changes))})

    response = await ask(cluster, "recordsets", None, review("recordsets", "CREATE", record_set()))

    (cause,) = response["status"]["details"]["causes"]
    assert (cause["field"], cause["reason"]) == ("spec.provider.version", "InvalidProvider")


async def test_a_provider_that_came_in_broken_is_not_trusted() -> None:
    broken = provider({"spec.versions.0.zone.validationRules": [{"rule": "self.spec.nothing"}]})
    cluster = Cluster(providers={PROVIDER: parse_provider(broken)})

    response = await ask(cluster, "zones", None, review("zones", "CREATE", zone()))

    (cause,) = response["status"]["details"]["causes"]
    assert cause["reason"] == "InvalidProvider"
    assert "zone.validationRules[0].rule" in cause["message"]


async def test_a_provider_that_changes_is_compiled_again() -> None:
    cluster = Cluster()
    hooks = {(each.resource.plural, each.subresource): each for each in Admission(cluster).hooks()}
    question = review("recordsets", "CREATE", record_set())
    before = await hooks["recordsets", None].handler(question)

    strict = provider({"spec.versions.0.recordSet.validationRules": [{"rule": "self.spec.ttl > 300", "message": "m"}]})
    cluster.providers[PROVIDER] = parse_provider(strict)
    after = await hooks["recordsets", None].handler(question)

    assert (before["response"]["allowed"], after["response"]["allowed"]) == (True, False)


@pytest.mark.parametrize("plural", ["zoneclasses", "zones", "recordsets"])
async def test_a_change_of_metadata_needs_no_provider(plural: str) -> None:
    cluster = Cluster(providers={}, reachable=False)
    new = MANIFESTS[plural]({"metadata.finalizers": []})

    response = await ask(cluster, plural, None, review(plural, "UPDATE", new, MANIFESTS[plural]()))

    assert response["allowed"] is True


async def test_a_change_of_spec_is_judged_as_a_whole() -> None:
    old = record_set("A", {"spec.ttl": 0})
    new = record_set("A", {"spec.ttl": 0, "spec.a.addresses": ["192.0.2.7"]})

    response = await ask(Cluster(), "recordsets", None, review("recordsets", "UPDATE", new, old))

    assert [cause["field"] for cause in response["status"]["details"]["causes"]] == ["spec.ttl"]


async def test_a_name_that_does_not_fit_in_its_zone_is_refused_once_the_zone_is_there() -> None:
    cluster = Cluster()
    question = review("recordsets", "CREATE", record_set("A", {"spec.name": ".".join(["a" * 60] * 4)}))

    assert (await ask(cluster, "recordsets", None, question))["allowed"] is True
    cluster.add_zone(zone())
    assert (await ask(cluster, "recordsets", None, question))["allowed"] is False


@pytest.mark.parametrize(
    "in_zone",
    [
        {"spec.provider": {"name": "other.example.com", "version": "v1"}},
        {"spec.allowedRecordSets": []},
        {"metadata.namespace": "dns"},
    ],
    ids=["another provider", "no grant", "another namespace"],
)
async def test_what_depends_on_other_objects_is_left_to_conditions(in_zone: dict[str, Any]) -> None:
    cluster = Cluster()
    cluster.add_zone(zone(in_zone))
    reference = {"spec.zoneRef": {"name": "example", "namespace": in_zone.get("metadata.namespace", "app")}}

    question = review("recordsets", "CREATE", record_set("A", reference))

    assert (await ask(cluster, "recordsets", None, question))["allowed"] is True


async def test_an_api_that_does_not_answer_is_no_missing_object() -> None:
    cluster = Cluster(reachable=False)

    response = await ask(cluster, "zones", None, review("zones", "CREATE", zone()))

    assert response["allowed"] is False
    assert (response["status"]["code"], response["status"]["reason"]) == (503, "ServiceUnavailable")


@pytest.mark.parametrize("plural", ["zones", "recordsets", "zoneclasses", "zoneunits"])
async def test_a_status_is_judged_on_its_own(plural: str) -> None:
    wrong = {"status": {"observedGeneration": 4}}
    right = {"status": {"observedGeneration": 3}}
    old = MANIFESTS[plural]()

    for changes, allowed in ((wrong, False), (right, True)):
        question = review(plural, "UPDATE", MANIFESTS[plural](changes), old, subResource="status")
        assert (await ask(Cluster(), plural, "status", question))["allowed"] is allowed


async def test_a_status_is_judged_by_the_storage_version() -> None:
    old_version = {
        "name": "v0",
        "served": True,
        "storage": False,
        "recordSet": {"supportedTypes": ["A"]},
    }
    manifest = provider()
    manifest["spec"]["versions"].append(old_version)
    cluster = Cluster(providers={PROVIDER: parse_provider(manifest)})
    claim = {"spec.provider.version": "v0"}
    conditions = [condition("Programmed", "False", "EdgeQuotaExceeded")]
    status = {"conditions": conditions, "provider": {"data": {"recordID": "r"}}}
    new = record_set("A", {**claim, "status": status})

    question = review("recordsets", "UPDATE", new, record_set("A", claim), subResource="status")

    assert (await ask(cluster, "recordsets", "status", question))["allowed"] is True


@pytest.mark.parametrize(
    ("in_zone", "allowed"),
    [({}, False), ({"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"}, True), (None, True)],
    ids=["lives", "is being deleted", "is missing"],
)
async def test_a_ledger_is_deleted_only_with_its_zone(in_zone: dict[str, Any] | None, allowed: bool) -> None:
    cluster = Cluster()
    if in_zone is not None:
        cluster.add_zone(zone(in_zone))

    response = await ask(cluster, "zoneunits", None, review("zoneunits", "DELETE", None, ledger()))

    assert response["allowed"] is allowed
    if not allowed:
        assert (response["status"]["code"], response["status"]["reason"]) == (403, "Forbidden")


async def test_a_zone_that_cannot_be_read_keeps_its_ledger() -> None:
    cluster = Cluster(reachable=False)

    response = await ask(cluster, "zoneunits", None, review("zoneunits", "DELETE", None, ledger()))

    assert (response["allowed"], response["status"]["code"]) == (False, 503)


async def test_objects_are_not_changed_by_being_judged() -> None:
    question = review("recordsets", "UPDATE", record_set("A", {"spec.ttl": 5}), record_set())
    kept = copy.deepcopy(question)

    await ask(Cluster(), "recordsets", None, question)

    assert question == kept


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({}, "apiVersion"),
        ({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"}, "apiVersion"),
        ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}, "request"),
        (review("zones", "CREATE", zone(), uid=""), "request.uid"),
        (review("zones", "CONVERT", zone()), "request.operation"),
        (review("zones", "CREATE", None), "request.object"),
        (review("zones", "DELETE", None), "request.oldObject"),
    ],
)
async def test_a_body_that_is_no_review_is_an_error_that_names_the_field(question: Manifest, field: str) -> None:
    hook = next(each for each in Admission(Cluster()).hooks() if each.resource.plural == "zones")

    with pytest.raises(ReviewError, match=field):
        await hook.handler(question)


def test_hooks_have_the_paths_that_api_servers_are_told() -> None:
    paths = {hook.path: sorted(hook.operations) for hook in Admission(Cluster()).hooks()}

    assert paths["/validate/dns.appthrust.io/v1alpha1/recordsets"] == ["CREATE", "UPDATE"]
    assert paths["/validate/dns.appthrust.io/v1alpha1/recordsets/status"] == ["UPDATE"]
    assert paths["/validate/dns.appthrust.io/v1alpha1/zoneunits"] == ["CREATE", "DELETE", "UPDATE"]
    assert len(paths) == 13


async def test_a_zone_reference_is_looked_up_in_the_claims_namespace() -> None:
    cluster = Cluster()
    cluster.add_zone(zone({"metadata.namespace": "dns", "spec.domainName": f"{'a' * 60}.{'b' * 60}.example"}))
    name = ".".join(["a" * 60] * 3)
    here = record_set("A", {"spec.name": name})
    there = record_set("A", {"spec.name": name, "spec.zoneRef.namespace": "dns"})

    assert (await ask(cluster, "recordsets", None, review("recordsets", "CREATE", here)))["allowed"] is True
    assert (await ask(cluster, "recordsets", None, review("recordsets", "CREATE", there)))["allowed"] is False


async def test_missing_fields_and_wrong_ones_are_told_together() -> None:
    manifest = zone_class({"spec.controllerName": ABSENT, "spec.parameters": {"policy": 1}, "spec.identityRef": ABSENT})

    response = await ask(Cluster(), "zoneclasses", None, review("zoneclasses", "CREATE", manifest))

    fields = {cause["field"] for cause in response["status"]["details"]["causes"]}
    assert fields == {"spec.controllerName", "spec.parameters.policy", "spec.identityRef"}
