"""Patches: JSON patch, merge patch, strategic merge patch, and which kind takes which."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standalone.rest import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Rest
from tests.standalone.widget import NAMESPACES, Widgets, config_map, config_maps


@pytest.fixture
async def stored(rest: Rest, widgets: Widgets) -> dict[str, Any]:
    manifest = widgets.make("one", tags=["a", "b"], metadata={"labels": {"k": "v"}})
    body: dict[str, Any] = (await rest.post(widgets.path, manifest)).ok()
    return body


async def test_a_merge_patch_merges_and_removes(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    patch = {"metadata": {"labels": {"k": None, "l": "w"}}, "spec": {"size": 2, "tags": ["c"]}}
    patched = (await rest.patch(widgets.at("one"), patch)).ok()
    assert patched["metadata"]["labels"] == {"l": "w"}
    assert patched["spec"] == {"size": 2, "color": "grey", "tags": ["c"]}
    assert patched["metadata"]["generation"] == 2


async def test_a_json_patch_edits_by_path(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    operations = [
        {"op": "test", "path": "/spec/size", "value": 1},
        {"op": "replace", "path": "/spec/size", "value": 8},
        {"op": "add", "path": "/spec/tags/-", "value": "c"},
        {"op": "remove", "path": "/metadata/labels/k"},
    ]
    patched = (await rest.patch(widgets.at("one"), operations, JSON_PATCH)).ok()
    assert patched["spec"] == {"size": 8, "color": "grey", "tags": ["a", "b", "c"]}
    assert "labels" not in patched["metadata"]


async def test_a_failed_test_changes_nothing(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    operations = [
        {"op": "replace", "path": "/spec/size", "value": 8},
        {"op": "test", "path": "/spec/color", "value": "red"},
    ]
    reply = await rest.patch(widgets.at("one"), operations, JSON_PATCH)
    reply.refused(422, "Invalid")
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_a_patch_of_a_missing_path_is_refused(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    reply = await rest.patch(widgets.at("one"), [{"op": "remove", "path": "/spec/nothing"}], JSON_PATCH)
    reply.refused(422, "Invalid")


async def test_a_malformed_patch_is_refused(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    assert (await rest.patch(widgets.at("one"), b"{nope", JSON_PATCH)).code == 400
    assert (await rest.patch(widgets.at("one"), b"{nope", MERGE_PATCH)).code == 400


async def test_a_patch_that_changes_nothing_writes_nothing(
    rest: Rest, widgets: Widgets, stored: dict[str, Any]
) -> None:
    assert (await rest.patch(widgets.at("one"), {"spec": {"size": 1}})).ok() == stored
    assert (await rest.patch(widgets.at("one"), {})).ok() == stored
    assert (await rest.patch(widgets.at("one"), [], JSON_PATCH)).ok() == stored


async def test_a_patch_may_name_the_version_it_is_for(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    version = stored["metadata"]["resourceVersion"]
    (await rest.patch(widgets.at("one"), {"metadata": {"resourceVersion": version}, "spec": {"size": 2}})).ok()
    reply = await rest.patch(widgets.at("one"), {"metadata": {"resourceVersion": version}, "spec": {"size": 3}})
    reply.refused(409, "Conflict")


async def test_a_patch_is_pruned_defaulted_and_validated(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    patched = (await rest.patch(widgets.at("one"), {"spec": {"color": None, "wight": 1}})).ok()
    assert patched["spec"] == {"size": 1, "color": "grey", "tags": ["a", "b"]}
    message = (await rest.patch(widgets.at("one"), {"spec": {"color": "pink"}})).refused(422, "Invalid")
    assert 'spec.color: Unsupported value: "pink": supported values: "grey", "red", "blue"' in message
    strict = await rest.patch(widgets.at("one"), {"spec": {"wight": 1}}, fieldValidation="Strict")
    assert strict.code == 422 or strict.code == 400
    assert 'unknown field "spec.wight"' in strict.body["message"]


async def test_status_is_patched_apart(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    patch = {"spec": {"size": 5}, "status": {"seen": 3}, "metadata": {"labels": {"k": "changed"}}}
    patched = (await rest.patch(widgets.at("one", "status"), patch)).ok()
    assert (patched["spec"]["size"], patched["status"], patched["metadata"]["labels"]) == (1, {"seen": 3}, {"k": "v"})
    assert patched["metadata"]["generation"] == 1


async def test_names_cannot_be_patched(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    assert (await rest.patch(widgets.at("one"), {"metadata": {"name": "two"}})).code in (400, 422)
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_an_absent_object_is_not_patched(rest: Rest, widgets: Widgets) -> None:
    (await rest.patch(widgets.at("none"), {"spec": {"size": 1}})).refused(404, "NotFound")


async def test_custom_resources_take_no_strategic_patch(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    reply = await rest.patch(widgets.at("one"), {"spec": {"size": 2}}, STRATEGIC_PATCH)
    assert "application/json-patch+json" in reply.refused(415, "UnsupportedMediaType")


async def test_an_unknown_patch_format_is_refused(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    (await rest.patch(widgets.at("one"), {}, "application/json")).refused(415, "UnsupportedMediaType")


async def test_a_strategic_patch_merges_lists_by_key(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}/services"
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "web", "port": 80}]
    manifest = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"}, "spec": {"ports": ports}}
    (await rest.post(path, manifest)).ok()
    patch = {"spec": {"ports": [{"port": 80, "name": "http"}, {"port": 53, "$patch": "delete"}]}}
    patched = (await rest.patch(f"{path}/one", patch, STRATEGIC_PATCH)).ok()
    assert [(port["name"], port["port"]) for port in patched["spec"]["ports"]] == [("http", 80)]


async def test_a_strategic_patch_merges_maps(rest: Rest, namespace: str) -> None:
    path = config_maps(namespace)
    (await rest.post(path, config_map("one", a="1", b="2"))).ok()
    patched = (await rest.patch(f"{path}/one", {"data": {"a": None, "c": "3"}}, STRATEGIC_PATCH)).ok()
    assert patched["data"] == {"b": "2", "c": "3"}


async def test_a_dry_run_changes_nothing(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    shown = (await rest.patch(widgets.at("one"), {"spec": {"size": 6}}, dryRun="All")).ok()
    assert shown["spec"]["size"] == 6
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_force_is_for_apply_only(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    message = (await rest.patch(widgets.at("one"), {}, force="true")).refused(422, "Invalid")
    assert "force: Forbidden: may not be specified for non-apply patch" in message
