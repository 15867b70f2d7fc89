"""Replacing objects, and what an update may and may not change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.standalone.rest import JSON_PATCH, Rest
from tests.standalone.widget import NAMESPACES, Widgets, config_map, config_maps


@pytest.fixture
async def stored(rest: Rest, widgets: Widgets) -> dict[str, Any]:
    body: dict[str, Any] = (await rest.post(widgets.path, widgets.make("one"))).ok()
    return body


async def test_update_replaces_and_counts(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    changed = stored | {"spec": {"size": 5, "color": "red"}}
    updated = (await rest.put(widgets.at("one"), changed)).ok()
    assert updated["spec"] == {"size": 5, "color": "red"}
    assert updated["metadata"]["generation"] == 2
    assert int(updated["metadata"]["resourceVersion"]) > int(stored["metadata"]["resourceVersion"])
    assert updated["metadata"]["uid"] == stored["metadata"]["uid"]


async def test_an_update_that_changes_nothing_writes_nothing(
    rest: Rest, widgets: Widgets, stored: dict[str, Any]
) -> None:
    assert (await rest.put(widgets.at("one"), stored)).ok() == stored


async def test_a_number_is_not_a_truth_value(rest: Rest, namespace: str) -> None:
    """What only looks equal is a change."""
    path = config_maps(namespace)
    (await rest.post(path, config_map("one") | {"immutable": False})).ok()
    assert (await rest.patch(f"{path}/one", {"immutable": 0})).code in (400, 422)


async def test_a_stale_resource_version_is_a_conflict(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    (await rest.put(widgets.at("one"), stored | {"spec": {"size": 2}})).ok()
    reply = await rest.put(widgets.at("one"), stored | {"spec": {"size": 3}})
    assert reply.refused(409, "Conflict") == (
        f'Operation cannot be fulfilled on widgets.{widgets.group} "one": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert (await rest.get(widgets.at("one"))).ok()["spec"]["size"] == 2


async def test_of_many_writers_with_one_version_one_wins(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    replies = await asyncio.gather(
        *(rest.put(widgets.at("one"), stored | {"spec": {"size": size}}) for size in range(2, 12))
    )
    assert sorted(reply.code for reply in replies) == [200] + [409] * 9


async def test_a_custom_resource_needs_a_resource_version(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    message = (await rest.put(widgets.at("one"), widgets.make("one", size=2))).refused(422, "Invalid")
    assert "metadata.resourceVersion: Invalid value: 0: must be specified for an update" in message


async def test_a_built_in_kind_does_not_need_one(rest: Rest, namespace: str) -> None:
    path = config_maps(namespace)
    (await rest.post(path, config_map("one", a="1"))).ok()
    assert (await rest.put(f"{path}/one", config_map("one", b="2"))).ok()["data"] == {"b": "2"}


async def test_an_absent_object_is_not_found(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.put(widgets.at("none"), widgets.make("none", metadata={"resourceVersion": "1"}))
    assert reply.code in (404, 409)


async def test_identity_cannot_be_changed(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    renamed = stored | {"metadata": stored["metadata"] | {"name": "two"}}
    message = (await rest.put(widgets.at("one"), renamed)).refused(400, "BadRequest")
    assert message == "the name of the object (two) does not match the name on the URL (one)"
    other_uid = stored | {"metadata": stored["metadata"] | {"uid": "11111111-2222-3333-4444-555555555555"}}
    message = (await rest.put(widgets.at("one"), other_uid)).refused(409, "Conflict")
    assert "Precondition failed: UID in precondition: 11111111-2222-3333-4444-555555555555" in message


async def test_server_fields_are_carried_over(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    bare = widgets.make("one", size=3, metadata={"resourceVersion": stored["metadata"]["resourceVersion"]})
    metadata = (await rest.put(widgets.at("one"), bare)).ok()["metadata"]
    for name in ("uid", "creationTimestamp", "namespace"):
        assert metadata[name] == stored["metadata"][name]
    assert metadata["generation"] == 2


async def test_labels_do_not_count_as_a_new_generation(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    labelled = stored | {"metadata": stored["metadata"] | {"labels": {"a": "b"}}}
    metadata = (await rest.put(widgets.at("one"), labelled)).ok()["metadata"]
    assert metadata["labels"] == {"a": "b"}
    assert metadata["generation"] == 1


async def test_status_and_the_rest_are_written_apart(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    both = stored | {"spec": {"size": 9}, "status": {"seen": 1}}
    after_main = (await rest.put(widgets.at("one"), both)).ok()
    assert (after_main["spec"]["size"], "status" in after_main) == (9, False)
    both = after_main | {"spec": {"size": 4}, "status": {"seen": 2}}
    both["metadata"] = after_main["metadata"] | {"labels": {"a": "b"}}
    after_status = (await rest.put(widgets.at("one", "status"), both)).ok()
    assert (after_status["spec"]["size"], after_status["status"]) == (9, {"seen": 2})
    assert after_status["metadata"]["generation"] == 2
    assert "labels" not in after_status["metadata"]


async def test_the_status_subresource_is_read_too(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    assert (await rest.get(widgets.at("one", "status"))).ok() == stored


async def test_an_update_is_validated(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    message = (await rest.put(widgets.at("one"), stored | {"spec": {"size": 0}})).refused(422, "Invalid")
    assert "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1" in message


async def test_transition_rules_see_the_old_object(rest: Rest, widgets: Widgets) -> None:
    first = (await rest.post(widgets.path, widgets.make("ice", frozen="a"))).ok()
    changed = first | {"spec": first["spec"] | {"frozen": "b"}}
    message = (await rest.put(widgets.at("ice"), changed)).refused(422, "Invalid")
    assert 'spec.frozen: Invalid value: "b": frozen is immutable' in message


async def test_a_dry_run_changes_nothing(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    shown = (await rest.put(widgets.at("one"), stored | {"spec": {"size": 7}}, dryRun="All")).ok()
    assert (shown["spec"]["size"], shown["metadata"]["generation"]) == (7, 2)
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_an_immutable_config_map_keeps_its_data(rest: Rest, namespace: str) -> None:
    path = config_maps(namespace)
    (await rest.post(path, config_map("one", a="1") | {"immutable": True})).ok()
    message = (await rest.put(f"{path}/one", config_map("one", a="2") | {"immutable": True})).refused(422, "Invalid")
    assert "data: Forbidden: field is immutable when `immutable` is set" in message


async def test_plain_text_becomes_the_data_of_a_secret(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}/secrets"
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}, "stringData": {"a": "b"}}
    created = (await rest.post(path, manifest)).ok()
    assert (created["data"], created["type"], "stringData" in created) == ({"a": "Yg=="}, "Opaque", False)


async def test_a_secret_keeps_its_type(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}/secrets"
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}, "type": "example.com/a"}
    created = (await rest.post(path, manifest)).ok()
    message = (await rest.put(f"{path}/one", created | {"type": "example.com/b"})).refused(422, "Invalid")
    assert 'type: Invalid value: "example.com/b": field is immutable' in message


async def test_a_subresource_cannot_be_deleted(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    (await rest.delete(widgets.at("one", "status"))).refused(405, "MethodNotAllowed")
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_an_object_without_its_name_is_not_taken_for_the_one_at_the_url(
    rest: Rest, widgets: Widgets, stored: dict[str, Any]
) -> None:
    nameless = {"resourceVersion": stored["metadata"]["resourceVersion"]}
    message = (await rest.put(widgets.at("one"), stored | {"metadata": nameless})).refused(400, "BadRequest")
    assert message == "the name of the object (one based on URL) was undeterminable: name must be provided"
    (await rest.patch(widgets.at("one"), {"metadata": None})).refused(400, "BadRequest")
    (await rest.patch(widgets.at("one"), [{"op": "remove", "path": "/metadata"}], JSON_PATCH)).refused(
        400, "BadRequest"
    )
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_version_zero_is_no_version(rest: Rest, widgets: Widgets, stored: dict[str, Any]) -> None:
    created = await rest.post(widgets.path, widgets.make("two", metadata={"resourceVersion": "0"}))
    assert created.code == 201
    zero = stored | {"metadata": stored["metadata"] | {"resourceVersion": "0"}}
    assert "must be specified for an update" in (await rest.put(widgets.at("one"), zero)).refused(422, "Invalid")


async def test_a_client_cannot_mark_an_object_as_terminating(
    rest: Rest, widgets: Widgets, stored: dict[str, Any]
) -> None:
    marked = stored | {"metadata": stored["metadata"] | {"deletionTimestamp": "2020-01-01T00:00:00Z"}}
    message = (await rest.put(widgets.at("one"), marked)).refused(422, "Invalid")
    assert 'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable' in message
