"""Server-side apply over HTTP: creation, ownership, conflicts, removal."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.standalone.rest import APPLY_PATCH, JSON_PATCH, Rest
from tests.standalone.widget import Widgets, config_map, config_maps


def managers(obj: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The owned fields by manager and operation."""
    return {(each["manager"], each["operation"]): each["fieldsV1"] for each in obj["metadata"]["managedFields"]}


async def test_apply_creates_what_is_absent(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.apply(widgets.at("one"), widgets.make("one", size=2), "me")
    assert reply.code == 201
    assert reply.body["spec"] == {"size": 2, "color": "grey"}
    assert managers(reply.body) == {("me", "Apply"): {"f:spec": {"f:size": {}}}}


async def test_applying_the_same_again_writes_nothing(rest: Rest, widgets: Widgets) -> None:
    first = (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    again = await rest.apply(widgets.at("one"), widgets.make("one"), "me")
    assert (again.code, again.body) == (200, first)


async def test_another_managers_field_is_a_conflict(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one", size=2), "me")).ok()
    reply = await rest.apply(widgets.at("one"), widgets.make("one", size=3), "you")
    message = reply.refused(409, "Conflict")
    assert message == 'Apply failed with 1 conflict: conflict with "me": .spec.size'
    assert reply.body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".spec.size"}
    ]


async def test_force_takes_the_field_over(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one", size=2), "me")).ok()
    taken = (await rest.apply(widgets.at("one"), widgets.make("one", size=3), "you", force="true")).ok()
    assert taken["spec"]["size"] == 3
    assert managers(taken) == {("you", "Apply"): {"f:spec": {"f:size": {}}}}


async def test_what_is_no_longer_applied_goes(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one", color="red", tags=["a", "b"]), "me")).ok()
    applied = (await rest.apply(widgets.at("one"), widgets.make("one", tags=["b"]), "me")).ok()
    assert applied["spec"] == {"size": 1, "color": "grey", "tags": ["b"]}


async def test_lists_are_merged_by_key(rest: Rest, widgets: Widgets) -> None:
    mine = widgets.make("one", parts=[{"name": "a", "weight": 1}])
    (await rest.apply(widgets.at("one"), mine, "me")).ok()
    yours = widgets.make("one", parts=[{"name": "b", "weight": 2}])
    merged = (await rest.apply(widgets.at("one"), yours, "you")).ok()
    assert merged["spec"]["parts"] == [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}]
    del mine["spec"]["parts"]
    left = (await rest.apply(widgets.at("one"), mine, "me")).ok()
    assert left["spec"]["parts"] == [{"name": "b", "weight": 2}]


async def test_updates_are_owned_too(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one", color="red"), "me")).ok()
    patched = (await rest.patch(widgets.at("one"), {"spec": {"color": "blue"}}, fieldManager="editor")).ok()
    assert managers(patched) == {
        ("me", "Apply"): {"f:spec": {"f:size": {}}},
        ("editor", "Update"): {"f:spec": {"f:color": {}}},
    }
    message = (await rest.apply(widgets.at("one"), widgets.make("one", color="red"), "me")).refused(409, "Conflict")
    assert f'conflict with "editor" using {widgets.api_version}' in message


async def test_status_is_applied_apart(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    status = {"apiVersion": widgets.api_version, "kind": "Widget", "metadata": {"name": "one"}, "status": {"seen": 4}}
    applied = (await rest.apply(widgets.at("one", "status"), status, "controller")).ok()
    assert (applied["status"], applied["spec"]["size"]) == ({"seen": 4}, 1)
    entry = next(each for each in applied["metadata"]["managedFields"] if each["manager"] == "controller")
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {"f:seen": {}}})


async def test_status_of_an_absent_object_is_not_created(rest: Rest, widgets: Widgets) -> None:
    status = {"apiVersion": widgets.api_version, "kind": "Widget", "metadata": {"name": "one"}, "status": {"seen": 4}}
    (await rest.apply(widgets.at("one", "status"), status, "controller")).refused(404, "NotFound")


async def test_a_manager_has_to_be_named(rest: Rest, widgets: Widgets) -> None:
    message = (await rest.patch(widgets.at("one"), widgets.make("one"), APPLY_PATCH)).refused(422, "Invalid")
    assert "fieldManager: Required value: is required for apply patch" in message


async def test_an_applied_object_is_validated(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one", size=0), "me")).refused(422, "Invalid")
    (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    (await rest.apply(widgets.at("one"), widgets.make("one", size=0), "me")).refused(422, "Invalid")


async def test_undeclared_fields_are_refused(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.apply(widgets.at("one"), widgets.make("one", wight=1), "me")
    assert reply.code == 500
    assert ".spec.wight: field not declared in schema" in reply.body["message"]


async def test_managed_fields_cannot_be_applied(rest: Rest, widgets: Widgets) -> None:
    manifest = widgets.make("one", metadata={"managedFields": [{"manager": "x", "operation": "Apply"}]})
    message = (await rest.apply(widgets.at("one"), manifest, "me")).refused(400, "BadRequest")
    assert message == "metadata.managedFields must be nil"


async def test_yaml_is_applied(rest: Rest, namespace: str) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata:\n  a: b\n"
    applied = (await rest.apply(f"{config_maps(namespace)}/one", text, "me")).ok()
    assert applied["data"] == {"a": "b"}


async def test_a_dry_run_shows_conflicts_and_stores_nothing(rest: Rest, widgets: Widgets) -> None:
    shown = await rest.apply(widgets.at("one"), widgets.make("one"), "me", dryRun="All")
    assert shown.code == 201
    assert (await rest.get(widgets.at("one"))).code == 404
    (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    (await rest.apply(widgets.at("one"), widgets.make("one", size=2), "you", dryRun="All")).refused(409, "Conflict")


async def test_ownership_can_be_reset(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    reset = (await rest.patch(widgets.at("one"), {"metadata": {"managedFields": [{}]}})).ok()
    assert "managedFields" not in reset["metadata"]


async def test_the_last_owner_of_anything_may_give_up_a_status(rest: Rest, widgets: Widgets) -> None:
    """Nobody owns anything then, which is not the same as leaving all as it was."""
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    status = widgets.make("one") | {"status": {"seen": 1, "note": "x"}}
    (await rest.apply(widgets.at("one", "status"), status, "me")).ok()
    (await rest.patch(widgets.at("one"), [{"op": "remove", "path": "/spec"}], JSON_PATCH)).ok()
    given_up = (await rest.apply(widgets.at("one", "status"), widgets.make("one"), "me")).ok()
    assert ("status" in given_up, "managedFields" in given_up["metadata"]) == (False, False)


async def test_what_names_a_uid_is_not_made_anew(rest: Rest, namespace: str) -> None:
    path = f"{config_maps(namespace)}/one"
    reply = await rest.apply(path, config_map("one", metadata={"uid": "of-another"}), "me")
    assert "uid mismatch" in reply.refused(409, "Conflict")
    made = (await rest.apply(path, config_map("one"), "me")).ok()
    (await rest.apply(path, config_map("one", metadata={"uid": made["metadata"]["uid"]}), "me")).ok()


async def test_labels_are_owned_by_key(rest: Rest, namespace: str) -> None:
    path = f"{config_maps(namespace)}/one"
    (await rest.apply(path, config_map("one", metadata={"labels": {"a": "1"}}, x="1"), "me")).ok()
    applied = (await rest.apply(path, config_map("one", metadata={"labels": {"b": "2"}}, y="2"), "you")).ok()
    assert applied["metadata"]["labels"] == {"a": "1", "b": "2"}


async def test_what_is_applied_says_what_it_is(rest: Rest, widgets: Widgets) -> None:
    (await rest.apply(widgets.at("one"), widgets.make("one"), "me")).ok()
    for kind in (None, "", "Gadget"):
        reply = await rest.apply(widgets.at("one"), widgets.make("one", size=7) | {"kind": kind}, "me")
        assert "invalid object type" in reply.refused(400, "BadRequest")
    nameless = widgets.make("new") | {"metadata": {}}
    assert "name must be provided" in (await rest.apply(widgets.at("new"), nameless, "me")).refused(400, "BadRequest")


async def test_apply_finds_or_makes_the_object_whoever_deletes_it_meanwhile(rest: Rest, namespace: str) -> None:
    path = f"{config_maps(namespace)}/one"
    for number in range(60):
        body = config_map("one", n=str(number))
        replies = await asyncio.gather(
            rest.apply(path, body, "me"), rest.delete(path), rest.apply(path, body, "me"), rest.delete(path)
        )
        assert all(reply.code in (200, 201) for reply in replies[::2]), replies
