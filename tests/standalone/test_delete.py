"""Deleting: preconditions, finalizers, collections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standalone.rest import Rest
from tests.standalone.widget import Widgets, config_map, config_maps

HELD: dict[str, Any] = {"finalizers": ["example.com/hold"]}


async def test_delete_answers_what_went(rest: Rest, widgets: Widgets) -> None:
    stored = (await rest.post(widgets.path, widgets.make("one"))).ok()
    body = (await rest.delete(widgets.at("one"))).ok()
    assert (body["kind"], body["status"]) == ("Status", "Success")
    uid = stored["metadata"]["uid"]
    assert body["details"] == {"name": "one", "group": widgets.group, "kind": "widgets", "uid": uid}
    (await rest.get(widgets.at("one"))).refused(404, "NotFound")
    (await rest.delete(widgets.at("one"))).refused(404, "NotFound")


async def test_finalizers_hold_an_object(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one", metadata=HELD))).ok()
    marked = (await rest.delete(widgets.at("one"))).ok()
    assert marked["kind"] == "Widget"
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert marked["metadata"]["generation"] == 2
    assert (await rest.get(widgets.at("one"))).ok() == marked
    assert (await rest.delete(widgets.at("one"))).ok() == marked
    again = await rest.post(widgets.path, widgets.make("one"))
    assert again.refused(409, "AlreadyExists").startswith("object is being deleted: ")


async def test_the_last_finalizer_lets_it_go(rest: Rest, widgets: Widgets) -> None:
    two = {"finalizers": ["example.com/a", "example.com/b"]}
    (await rest.post(widgets.path, widgets.make("one", metadata=two))).ok()
    (await rest.delete(widgets.at("one"))).ok()
    (await rest.patch(widgets.at("one"), {"metadata": {"finalizers": ["example.com/b"]}})).ok()
    (await rest.get(widgets.at("one"))).ok()
    last = (await rest.patch(widgets.at("one"), {"metadata": {"finalizers": []}})).ok()
    assert last["metadata"]["name"] == "one"
    assert (await rest.get(widgets.at("one"))).code == 404


async def test_a_terminating_object_takes_no_new_finalizers(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one", metadata=HELD))).ok()
    (await rest.delete(widgets.at("one"))).ok()
    patch = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    message = (await rest.patch(widgets.at("one"), patch)).refused(422, "Invalid")
    assert (
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"example.com/more"}'
    ) in message


@pytest.mark.parametrize("zone", ["+00:00", ".000Z", ".000000+00:00"])
async def test_finalizers_are_taken_away_by_a_client_that_writes_times_in_another_form(
    rest: Rest, namespace: str, zone: str
) -> None:
    path = config_maps(namespace)
    manifest = config_map("one")
    manifest["metadata"]["finalizers"] = ["example.com/hold"]
    (await rest.post(path, manifest)).ok()
    marked = (await rest.delete(f"{path}/one")).ok()
    metadata = marked["metadata"]
    for name in ("creationTimestamp", "deletionTimestamp"):
        metadata[name] = metadata[name].replace("Z", zone)
    del metadata["finalizers"]
    (await rest.put(f"{path}/one", marked)).ok()
    assert (await rest.get(f"{path}/one")).code == 404


async def test_a_terminating_object_can_still_be_changed(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one", metadata=HELD))).ok()
    marked = (await rest.delete(widgets.at("one"))).ok()
    patch = {"metadata": {"deletionTimestamp": None}, "spec": {"size": 4}, "status": {"seen": 1}}
    patched = (await rest.patch(widgets.at("one"), patch)).ok()
    assert patched["spec"]["size"] == 4
    assert patched["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]


async def test_a_name_is_free_again(rest: Rest, widgets: Widgets) -> None:
    first = (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.delete(widgets.at("one"))).ok()
    second = (await rest.post(widgets.path, widgets.make("one"))).ok()
    assert second["metadata"]["uid"] != first["metadata"]["uid"]


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
async def test_preconditions_must_hold(rest: Rest, widgets: Widgets, field: str) -> None:
    stored = (await rest.post(widgets.path, widgets.make("one"))).ok()
    wrong = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {field: "1"}}
    message = (await rest.delete(widgets.at("one"), wrong)).refused(409, "Conflict")
    assert f'Operation cannot be fulfilled on Widget.{widgets.group} "one": the ' in message
    assert "in the precondition (1) does not match" in message
    right = wrong | {"preconditions": {field: stored["metadata"][field]}}
    (await rest.delete(widgets.at("one"), right)).ok()


async def test_a_dry_run_deletes_nothing(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.delete(widgets.at("one"), dryRun="All")).ok()
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}
    (await rest.delete(widgets.at("one"), options)).ok()
    (await rest.get(widgets.at("one"))).ok()


async def test_an_unknown_propagation_is_refused(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.delete(widgets.at("one"), propagationPolicy="Sideways")).refused(422, "Invalid")


async def test_a_collection_is_deleted_by_selector(rest: Rest, widgets: Widgets) -> None:
    for name, color in (("a", "red"), ("b", "blue"), ("c", "red")):
        (await rest.post(widgets.path, widgets.make(name, metadata={"labels": {"color": color}}))).ok()
    body = (await rest.delete(widgets.path, labelSelector="color=red")).ok()
    assert [item["metadata"]["name"] for item in body["items"]] == ["a", "c"]
    assert [item["metadata"]["name"] for item in (await rest.get(widgets.path)).ok()["items"]] == ["b"]


async def test_a_collection_marks_what_finalizers_hold(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("held", metadata=HELD))).ok()
    (await rest.post(widgets.path, widgets.make("free"))).ok()
    (await rest.delete(widgets.path)).ok()
    (left,) = (await rest.get(widgets.path)).ok()["items"]
    assert left["metadata"]["name"] == "held"
    assert "deletionTimestamp" in left["metadata"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "ConfigMap", "apiVersion": "v1"}, 400),
        ({"gracePeriodSeconds": "soon"}, 400),
        ({"preconditions": "none"}, 400),
        ({"dryRun": "All"}, 400),
        ({"dryRun": ["Some"]}, 422),
        ({"propagationPolicy": "Sideways"}, 422),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, 422),
    ],
)
async def test_options_that_cannot_be_read_delete_nothing(
    rest: Rest, namespace: str, options: dict[str, Any], code: int
) -> None:
    """What was sent may have asked for a dry run."""
    path = config_maps(namespace)
    (await rest.post(path, config_map("one"))).ok()
    refusal = await rest.delete(f"{path}/one", options)
    assert refusal.code == code, refusal.body
    assert (await rest.get(f"{path}/one")).code == 200
