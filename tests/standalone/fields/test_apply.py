"""Server-side apply: merging, ownership, conflicts, removal."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from standalone.fields.apply import LAST_APPLIED, ApplyConflict, ApplyError, server_side_apply
from standalone.schema.structural import StructuralSchema
from tests.standalone.fields.builder import (
    API_VERSION,
    OBJECTS,
    SCHEMA,
    apply,
    content,
    obj,
    owners,
    update,
    with_status,
)
from tests.standalone.vector import vectors


@pytest.mark.parametrize("case", vectors(Path(__file__).parent / "apply_vectors.jsonl"))
def test_sequences_of_applies_and_updates_end_as_recorded(case: dict[str, Any]) -> None:
    schema = StructuralSchema.parse(case["schema"])
    live: dict[str, Any] | None = None
    for step in case["steps"]:
        expected = step["expected"]
        options: dict[str, Any] = {"subresource": step["subresource"], "schema": schema}
        if step["kind"] == "update":
            live = update(live, step["obj"], step["manager"], **options)
        elif "causes" in expected:
            with pytest.raises(ApplyConflict) as refused:
                apply(live, step["obj"], step["manager"], force=step["force"], **options)
            assert sorted([each["field"], each["message"]] for each in refused.value.causes) == expected["causes"]
            continue
        else:
            live = apply(live, step["obj"], step["manager"], force=step["force"], **options)
        assert _without_times(live) == _without_times(expected["object"])


def _without_times(made: dict[str, Any]) -> dict[str, Any]:
    """Objects as recorded: the recorder kept no times and no order among entries of one time."""
    kept = copy.deepcopy(made)
    kept["metadata"].pop("uid", None)
    for entry in kept["metadata"].get("managedFields", []):
        entry.pop("time", None)
    kept["metadata"].get("managedFields", []).sort(key=lambda entry: json.dumps(entry, sort_keys=True))
    return kept


def test_creating_by_apply_owns_what_is_applied() -> None:
    live = apply(None, obj(zone="z", records=[{"name": "www", "ttl": 5}], labels={"x": "y"}))
    assert owners(live) == {
        ("alice", "Apply"): {
            "f:spec": {
                "f:zone": {},
                "f:labels": {"f:x": {}},
                "f:records": {'k:{"name":"www","type":"A"}': {".": {}, "f:name": {}, "f:ttl": {}}},
            }
        }
    }
    (entry,) = live["metadata"]["managedFields"]
    assert {name: entry[name] for name in entry if name != "fieldsV1"} == {
        "manager": "alice",
        "operation": "Apply",
        "apiVersion": "example.org/v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
    }


def test_a_second_applier_adds_its_fields_and_leaves_the_first_ones() -> None:
    live = apply(None, obj(zone="z", tags=["a"], records=[{"name": "www", "ttl": 5}]))
    live = apply(live, obj(ttl=7, tags=["b"], records=[{"name": "mail"}, {"name": "www", "values": ["x"]}]), "bob")
    assert live["spec"] == {
        "zone": "z",
        "ttl": 7,
        "tags": ["a", "b"],
        "records": [{"name": "mail"}, {"name": "www", "ttl": 5, "values": ["x"]}],
    }


def test_another_value_for_an_owned_field_is_a_conflict_that_names_owner_and_field() -> None:
    live = apply(None, obj(zone="z", records=[{"name": "www", "ttl": 5}]))
    with pytest.raises(ApplyConflict) as refused:
        apply(live, obj(zone="other", records=[{"name": "www", "ttl": 6}]), "bob")
    assert refused.value.status_code == 409
    assert refused.value.message == (
        'Apply failed with 2 conflicts: conflicts with "alice":\n- .spec.records[name="www",type="A"].ttl\n- .spec.zone'
    )
    assert refused.value.causes[1] == {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "alice"',
        "field": ".spec.zone",
    }


def test_one_conflict_is_told_in_one_line_and_updaters_with_their_version() -> None:
    live = update(None, obj(zone="z"), "kubectl-edit")
    with pytest.raises(ApplyConflict) as refused:
        apply(live, obj(zone="other"), "bob")
    assert refused.value.message == (
        'Apply failed with 1 conflict: conflict with "kubectl-edit" using example.org/v1: .spec.zone'
    )


def test_force_takes_the_field_over() -> None:
    live = apply(None, obj(zone="z", ttl=1))
    live = apply(live, obj(zone="other"), "bob", force=True)
    assert live["spec"] == {"zone": "other", "ttl": 1}
    assert owners(live) == {
        ("alice", "Apply"): {"f:spec": {"f:ttl": {}}},
        ("bob", "Apply"): {"f:spec": {"f:zone": {}}},
    }


def test_equal_values_are_owned_together_and_stay_until_the_last_owner_lets_go() -> None:
    live = apply(None, obj(zone="z", ttl=1))
    live = apply(live, obj(zone="z"), "bob")
    live = apply(live, obj(ttl=1))
    assert live["spec"] == {"zone": "z", "ttl": 1}
    live = apply(live, obj(), "bob")
    assert live["spec"] == {"ttl": 1}


def test_fields_no_longer_applied_are_removed_and_emptied_items_with_them() -> None:
    live = apply(
        None, obj(zone="z", labels={"a": "1", "b": "2"}, records=[{"name": "www"}, {"name": "mail"}], tags=["x", "y"])
    )
    live = apply(live, obj(zone="z", labels={"a": "1"}, records=[{"name": "mail"}], tags=["y"]))
    assert live["spec"] == {"zone": "z", "labels": {"a": "1"}, "records": [{"name": "mail"}], "tags": ["y"]}


def test_fields_of_updaters_are_not_removed_with_those_of_appliers() -> None:
    live = apply(None, obj(zone="z", labels={"a": "1"}))
    live = update(live, {**live, "spec": {**live["spec"], "labels": {"a": "1", "b": "2"}}}, "bob")
    live = apply(live, obj(zone="z"))
    assert live["spec"] == {"zone": "z", "labels": {"b": "2"}}


def test_atomic_lists_and_maps_are_replaced_as_units() -> None:
    live = apply(None, obj(values=["a", "b"], selector={"a": "1", "b": "2"}))
    live = apply(live, obj(values=["c"], selector={"c": "3"}))
    assert live["spec"] == {"values": ["c"], "selector": {"c": "3"}}
    assert owners(live)[("alice", "Apply")] == {"f:spec": {"f:values": {}, "f:selector": {}}}


def test_free_form_maps_are_owned_member_by_member() -> None:
    live = apply(None, obj(free={"a": {"b": 1}, "l": [1]}))
    live = apply(live, obj(free={"c": 2}), "bob")
    assert live["spec"]["free"] == {"a": {"b": 1}, "l": [1], "c": 2}
    live = apply(live, obj(free={"l": [1]}))
    assert live["spec"]["free"] == {"l": [1], "c": 2}


def test_status_belongs_to_the_status_subresource() -> None:
    live = apply(None, with_status(obj(zone="z"), "Ready"))
    assert owners(live) == {("alice", "Apply"): {"f:spec": {"f:zone": {}}}}
    live = apply(live, with_status(obj(), "Ready"), "controller", subresource="status")
    entry = next(each for each in live["metadata"]["managedFields"] if each["manager"] == "controller")
    assert entry["subresource"] == "status"
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}


def test_the_first_apply_gives_unowned_fields_a_manager() -> None:
    live = {**obj(zone="z", ttl=1)}
    live["metadata"]["uid"] = "uid-1"
    live = apply(live, obj(zone="z"))
    assert owners(live) == {
        ("alice", "Apply"): {"f:spec": {"f:zone": {}}},
        ("before-first-apply", "Update"): {"f:spec": {".": {}, "f:zone": {}, "f:ttl": {}}},
    }


def test_kubectl_takes_over_what_it_applied_from_the_client() -> None:
    """`kubectl apply --server-side` after plain `kubectl apply`: no conflict with itself, and the annotation follows."""
    configuration = obj(zone="z", ttl=1)
    created = obj(zone="z", ttl=1)
    created["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(configuration)}
    live = update(None, created, "kubectl-client-side-apply")
    changed = obj(zone="other", ttl=1)
    with pytest.raises(ApplyConflict):
        apply(live, changed, "somebody-else")
    live = apply(live, changed, "kubectl")
    assert live["spec"]["zone"] == "other"
    noted = json.loads(live["metadata"]["annotations"][LAST_APPLIED])
    assert (noted["spec"], "annotations" in noted["metadata"]) == ({"zone": "other", "ttl": 1}, False)


def test_kubectl_does_not_take_over_what_others_changed_since() -> None:
    created = obj(zone="z", ttl=1)
    created["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(obj(zone="z", ttl=1))}
    live = update(None, created, "kubectl-client-side-apply")
    live = update(live, {**live, "spec": {"zone": "z", "ttl": 2}}, "kubectl-edit")
    with pytest.raises(ApplyConflict) as refused:
        apply(live, obj(zone="other", ttl=3), "kubectl")
    assert [conflict.field for conflict in refused.value.conflicts] == [".spec.ttl"]


@pytest.mark.parametrize(
    ("applied", "status", "said"),
    [
        ({**obj(zone="z"), "apiVersion": "example.org/v2"}, 400, "Incorrect version specified in apply patch"),
        (obj(zoen="z"), 500, ".spec.zoen: field not declared in schema"),
        (obj(zone=5), 500, ".spec.zone: expected string, got numeric"),
        (obj(tags=["a", "a"]), 500, '.spec.tags: duplicate entries for key [="a"]'),
        (
            obj(records=[{"name": "a"}, {"name": "a", "type": "A"}]),
            500,
            'duplicate entries for key [name="a",type="A"]',
        ),
        (obj(records=[5]), 500, "element 0: associative list with keys may not have non-map elements"),
        (
            obj(zone=5, zoen=1),
            500,
            "errors:\n  .spec.zone: expected string, got numeric\n  .spec.zoen: field not declared",
        ),
    ],
)
def test_a_configuration_that_cannot_be_applied_is_refused(applied: dict[str, Any], status: int, said: str) -> None:
    with pytest.raises(ApplyError) as refused:
        server_side_apply(
            None,
            applied,
            manager="alice",
            force=False,
            schema=SCHEMA,
            api_version=API_VERSION,
            kind="Thing",
            subresource="",
            now="2026-01-01T00:00:00Z",
        )
    assert refused.value.status_code == status
    assert said in refused.value.message


def test_managed_fields_cannot_be_applied() -> None:
    applied = obj(zone="z")
    applied["metadata"]["managedFields"] = []
    with pytest.raises(ApplyError, match="managedFields must be nil"):
        apply(None, applied)


@given(OBJECTS)
def test_applying_again_changes_nothing(applied: dict[str, Any]) -> None:
    first = apply(None, applied, now="2026-01-01T00:00:00Z")
    assert apply(first, applied, now="2026-01-02T00:00:00Z") == first


@given(OBJECTS, OBJECTS)
def test_applying_again_over_another_owner_changes_nothing(one: dict[str, Any], two: dict[str, Any]) -> None:
    live = apply(None, one, "alice")
    live = apply(live, two, "bob", force=True)
    assert apply(live, two, "bob", now="2026-01-02T00:00:00Z") == live


@given(OBJECTS, OBJECTS)
def test_force_never_conflicts_and_the_applied_values_win(one: dict[str, Any], two: dict[str, Any]) -> None:
    live = apply(apply(None, one, "alice"), two, "bob", force=True)
    for name, value in two["spec"].items():
        if not isinstance(value, dict | list):
            assert live["spec"][name] == value
    if two["spec"].get("values") is not None:
        assert live["spec"]["values"] == two["spec"]["values"]


@given(OBJECTS, OBJECTS)
def test_a_conflict_is_raised_exactly_when_something_owned_would_change(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    live = apply(None, one, "alice")
    forced = apply(live, two, "bob", force=True)
    try:
        assert apply(live, two, "bob") == forced
        conflicted = False
    except ApplyConflict:
        conflicted = True
    lost = owners(live).get(("alice", "Apply")) != owners(forced).get(("alice", "Apply"))
    assert conflicted == lost


@given(OBJECTS, OBJECTS)
def test_what_only_one_manager_applied_goes_when_it_applies_nothing(one: dict[str, Any], two: dict[str, Any]) -> None:
    live = apply(apply(None, one, "alice"), two, "bob", force=True)
    alone = apply(live, obj(), "alice", force=True)
    assert owners(alone)[("alice", "Apply")] == {"f:spec": {}}
    expected = apply(None, two, "bob")
    assert _unordered(content(alone)) == _unordered(content(expected))


def _unordered(value: Any) -> Any:
    """Lists as bags, and empty containers as nothing: an emptied container may stay behind as null."""
    if isinstance(value, dict):
        members = {name: _unordered(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in (None, {}, [])}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
