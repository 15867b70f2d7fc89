"""Strategic merge patch of built-in kinds."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from standalone.patch import PatchError, json_patch, strategic_merge_patch
from standalone.resource import Resource
from tests.standalone.vector import vectors

SERVICE = Resource("", "v1", "services", "service", "Service", "ServiceList", True)
WEBHOOKS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "validatingwebhookconfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingWebhookConfigurationList",
    False,
)
ZONE = Resource("example.org", "v1", "zones", "zone", "Zone", "ZoneList", True, custom=True)


@pytest.mark.parametrize("case", vectors(Path(__file__).parent / "patch_vectors.jsonl"))
def test_patches_give_what_was_recorded(case: dict[str, Any]) -> None:
    document, patch = case["document"], case["patch"]
    before = copy.deepcopy((document, patch))

    def patched() -> Any:
        if case["format"] == "json":
            return json_patch(document, patch)
        return strategic_merge_patch(document, patch, SERVICE)

    if case.get("refused"):
        with pytest.raises(PatchError):
            patched()
    else:
        assert patched() == case["result"]
    assert (document, patch) == before


def test_list_items_are_merged_by_their_key() -> None:
    service = {"spec": {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 853}], "externalIPs": ["192.0.2.1"]}}
    patch = {"spec": {"ports": [{"port": 53, "name": "dns"}, {"port": 80}], "externalIPs": ["192.0.2.2"]}}
    assert strategic_merge_patch(service, patch, SERVICE) == {
        "spec": {
            "ports": [{"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 80}, {"port": 853}],
            "externalIPs": ["192.0.2.2"],
        }
    }


def test_finalizers_are_joined_and_can_be_taken_out() -> None:
    obj = {"metadata": {"finalizers": ["a", "b"]}}
    assert strategic_merge_patch(obj, {"metadata": {"finalizers": ["c"]}}, SERVICE)["metadata"]["finalizers"] == [
        "c",
        "a",
        "b",
    ]
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge_patch(obj, patch, SERVICE) == {"metadata": {"finalizers": ["b"]}}


def test_directives_replace_and_delete() -> None:
    service = {"spec": {"ports": [{"port": 53}, {"port": 80}], "selector": {"a": "b"}}, "status": {"x": 1}}
    deleted = strategic_merge_patch(service, {"spec": {"ports": [{"port": 53, "$patch": "delete"}]}}, SERVICE)
    assert deleted["spec"]["ports"] == [{"port": 80}]
    replaced = strategic_merge_patch(service, {"spec": {"ports": [{"port": 1}, {"$patch": "replace"}]}}, SERVICE)
    assert replaced["spec"]["ports"] == [{"port": 1}]
    whole = strategic_merge_patch(service, {"spec": {"$patch": "replace", "selector": {"c": "d"}}}, SERVICE)
    assert whole["spec"] == {"selector": {"c": "d"}}
    retained = strategic_merge_patch(service, {"spec": {"$retainKeys": ["selector"], "selector": {"c": "d"}}}, SERVICE)
    assert retained["spec"] == {"selector": {"a": "b", "c": "d"}}


def test_keys_of_nested_lists_are_known() -> None:
    live = {"webhooks": [{"name": "w", "matchConditions": [{"name": "m", "expression": "true"}]}]}
    patch = {"webhooks": [{"name": "w", "matchConditions": [{"name": "n", "expression": "false"}]}]}
    result = strategic_merge_patch(live, patch, WEBHOOKS)
    assert {each["name"] for each in result["webhooks"][0]["matchConditions"]} == {"m", "n"}


@pytest.mark.parametrize(
    ("patch", "resource", "status", "said"),
    [
        ({}, ZONE, 415, "application/merge-patch"),
        ([], SERVICE, 400, "must be an object"),
        ({"spec": {"ports": [{"name": "x"}]}}, SERVICE, 422, "does not contain declared merge key: port"),
        ({"spec": {"ports": ["x"]}}, SERVICE, 422, "list element types are not identical"),
        ({"spec": {"$patch": "spam"}}, SERVICE, 400, "unknown patch type: spam"),
        ({"spec": {"$retainKeys": ["a"], "b": 1}}, SERVICE, 400, "retainKeys"),
        ({"spec": {"$setElementOrder/ports": 5}}, SERVICE, 400, "setElementOrder"),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": 5}}, SERVICE, 400, "primitive list"),
    ],
)
def test_refusals_say_what_is_wrong(patch: Any, resource: Resource, status: int, said: str) -> None:
    with pytest.raises(PatchError) as refused:
        strategic_merge_patch({"metadata": {}, "spec": {"ports": [{"port": 53}]}}, patch, resource)
    assert refused.value.status_code == status
    assert said in refused.value.message
