"""Field ownership of writes that are not applies."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given

from standalone.fields.managed import UPDATERS_LIMIT
from standalone.fields.trie import contains, union
from tests.standalone.fields.builder import OBJECTS, apply, obj, owners, update, with_status


def test_creating_owns_everything_containers_included() -> None:
    live = update(None, obj(zone="z", records=[{"name": "www", "type": "A"}], nested={}, labels={"a": "b"}))
    assert owners(live) == {
        ("alice", "Update"): {
            "f:spec": {
                ".": {},
                "f:zone": {},
                "f:records": {".": {}, 'k:{"name":"www","type":"A"}': {".": {}, "f:name": {}, "f:type": {}}},
                "f:nested": {},
                "f:labels": {".": {}, "f:a": {}},
            }
        }
    }


def test_what_identifies_an_object_is_never_owned() -> None:
    made = obj()
    made["metadata"] |= {"labels": {"a": "b"}, "resourceVersion": "5", "generation": 1, "finalizers": ["f"]}
    live = update(None, made)
    assert owners(live)[("alice", "Update")] == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:finalizers": {".": {}, 'v:"f"': {}}},
        "f:spec": {},
    }


def test_changing_a_field_takes_it_from_its_owner() -> None:
    live = update(None, obj(zone="z", ttl=1), now="2026-01-01T00:00:00Z")
    live = update(live, {**live, "spec": {"zone": "other", "ttl": 1}}, "bob", now="2026-01-02T00:00:00Z")
    assert owners(live) == {
        ("alice", "Update"): {"f:spec": {".": {}, "f:ttl": {}}},
        ("bob", "Update"): {"f:spec": {"f:zone": {}}},
    }
    assert [entry["time"] for entry in live["metadata"]["managedFields"]] == [
        "2026-01-01T00:00:00Z",
        "2026-01-02T00:00:00Z",
    ]


def test_removing_a_field_removes_it_from_every_owner() -> None:
    live = apply(apply(None, obj(zone="z", ttl=1)), obj(zone="z"), "bob")
    live = update(live, {**live, "spec": {"ttl": 1}}, "carol")
    assert owners(live) == {("alice", "Apply"): {"f:spec": {"f:ttl": {}}}}


def test_moving_an_item_in_a_map_list_changes_no_owner() -> None:
    live = update(None, obj(records=[{"name": "a", "type": "A"}, {"name": "b", "type": "A"}]))
    moved = {**live, "spec": {"records": [{"name": "b", "type": "A"}, {"name": "a", "type": "A"}]}}
    assert update(live, moved, "bob")["metadata"] == live["metadata"]


def test_status_changes_are_not_counted_for_the_main_resource() -> None:
    live = update(None, with_status(obj(zone="z"), "a"))
    assert owners(live) == {("alice", "Update"): {"f:spec": {".": {}, "f:zone": {}}}}
    live = update(live, {**live, "status": {"phase": "b"}}, "controller", subresource="status")
    entry = live["metadata"]["managedFields"][-1]
    assert (entry["manager"], entry["subresource"], entry["fieldsV1"]) == (
        "controller",
        "status",
        {"f:status": {"f:phase": {}}},
    )


def test_kinds_without_a_status_subresource_own_status_like_any_field() -> None:
    live = update(None, with_status(obj(), "a"), has_status=False)
    assert owners(live)[("alice", "Update")]["f:status"] == {".": {}, "f:phase": {}}


def test_a_client_that_drops_managed_fields_does_not_lose_them() -> None:
    live = apply(None, obj(zone="z"))
    dropped = copy.deepcopy(live)
    del dropped["metadata"]["managedFields"]
    assert update(live, dropped, "bob")["metadata"] == live["metadata"]
    spoilt = copy.deepcopy(live)
    spoilt["metadata"]["managedFields"][0]["operation"] = "Spam"
    assert update(live, spoilt, "bob")["metadata"] == live["metadata"]


def test_a_client_may_start_ownership_anew() -> None:
    live = apply(None, obj(zone="z"))
    cleared = copy.deepcopy(live)
    cleared["metadata"]["managedFields"] = [{}]
    assert "managedFields" not in update(live, cleared, "bob")["metadata"]
    cleared["metadata"]["managedFields"] = []
    assert update(live, cleared, "bob") == live, "no entry asks for nothing"


def test_objects_without_owners_stay_so_until_the_first_apply() -> None:
    live = obj(zone="z")
    live["metadata"]["uid"] = "uid-1"
    live = update(live, {**live, "spec": {"zone": "other"}}, "bob")
    assert "managedFields" not in live["metadata"]


def test_the_oldest_updaters_are_merged_when_there_are_too_many() -> None:
    live = update(None, obj(labels={}))
    for number in range(UPDATERS_LIMIT + 3):
        labels = {**live["spec"]["labels"], f"l{number}": "x"}
        live = update(
            live, {**live, "spec": {"labels": labels}}, f"m{number}", now=f"2026-01-{number + 2:02d}T00:00:00Z"
        )
    entries = live["metadata"]["managedFields"]
    assert len(entries) == UPDATERS_LIMIT
    merged = next(entry for entry in entries if entry["manager"] == "ancient-changes")
    assert {"f:l0", "f:l1"} <= set(merged["fieldsV1"]["f:spec"]["f:labels"])


def test_built_in_kinds_know_their_lists() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "dns"},
        "spec": {
            "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53}],
            "selector": {"app": "dns"},
            "externalIPs": ["::1"],
        },
    }
    live = update(None, service, schema=None)
    assert owners(live)[("alice", "Update")]["f:spec"] == {
        ".": {},
        "f:ports": {
            ".": {},
            'k:{"port":53,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:protocol": {}},
            'k:{"port":53,"protocol":"TCP"}': {".": {}, "f:port": {}},
        },
        "f:selector": {},
        "f:externalIPs": {},
    }


def test_secrets_and_config_maps_are_owned_key_by_key() -> None:
    first = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    live = apply(None, first, schema=None)
    live = apply(live, {**first, "data": {"b": "2"}}, "bob", schema=None)
    assert live["data"] == {"a": "1", "b": "2"}
    assert owners(live)[("bob", "Apply")] == {"f:data": {"f:b": {}}}


@given(OBJECTS, OBJECTS)
def test_an_update_that_changes_nothing_keeps_managed_fields(one: dict[str, Any], two: dict[str, Any]) -> None:
    live = update(update(None, one), two, "bob")
    assert update(live, live, "carol", now="2026-02-01T00:00:00Z") == live


@given(OBJECTS, OBJECTS)
def test_after_an_update_every_field_has_an_owner(one: dict[str, Any], two: dict[str, Any]) -> None:
    live = update(update(None, one), two, "bob")
    fresh = update(None, two)
    together: dict[str, Any] = {}
    for fields in owners(live).values():
        together = union(together, fields)
    assert contains(together, owners(fresh)[("alice", "Update")])
    assert contains(owners(fresh)[("alice", "Update")], together)
