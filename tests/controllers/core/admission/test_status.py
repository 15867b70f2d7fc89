"""Status admission of Zones, RecordSets and ZoneClasses: one row for each line of its validation order."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.condition import ConditionStatus, ConditionType
from controllers.api.reason import RECORD_SET_REASONS, ZONE_CLASS_REASONS, ZONE_REASONS
from controllers.core.admission.status import (
    validate_record_set_status,
    validate_zone_class_status,
    validate_zone_status,
)
from controllers.core.providercontract.resolution import no_provider
from tests.controllers.core.admission.build import (
    ABSENT,
    STORAGE,
    condition,
    contract,
    record_set,
    told,
    zone,
    zone_class,
)

ACCEPTED = condition("Accepted", "True", "Accepted")
STATUS = {
    "observedGeneration": 3,
    "conditions": [ACCEPTED, condition("Programmed", "False", "EdgeQuotaExceeded")],
    "provider": {"data": {}},
}
ZONE_STATUS = {**STATUS, "nameServers": ["ns1.example.net"], "provider": {"data": {"zoneID": "z1"}}}
RECORD_STATUS = {
    **STATUS,
    "zone": {"ref": {"namespace": "app", "name": "example"}},
    "provider": {"data": {"recordID": "r1"}},
}


def judge_zone(changes: dict[str, Any]) -> set[tuple[str, str]]:
    return told(validate_zone_status(zone({"status": ZONE_STATUS, **changes}), zone(), STORAGE))


def judge_record_set(changes: dict[str, Any]) -> set[tuple[str, str]]:
    return told(
        validate_record_set_status(record_set("A", {"status": RECORD_STATUS, **changes}), record_set(), STORAGE)
    )


def judge_zone_class(changes: dict[str, Any]) -> set[tuple[str, str]]:
    status = {"observedGeneration": 3, "conditions": [ACCEPTED]}
    return told(validate_zone_class_status(zone_class({"status": status, **changes})))


def test_a_status_is_allowed() -> None:
    assert judge_zone({}) == judge_record_set({}) == judge_zone_class({}) == set()


CONDITIONS: list[tuple[str, Any, set[tuple[str, str]]]] = [
    ("a list", {}, {("status.conditions", "TYPE_INVALID")}),
    ("type", [condition("", "True", "Accepted")], {("status.conditions[0].type", "REQUIRED")}),
    ("known type", [condition("Ready", "True", "Accepted")], {("status.conditions[0].type", "NOT_SUPPORTED")}),
    ("status", [condition("Accepted", "Yes", "Accepted")], {("status.conditions[0].status", "NOT_SUPPORTED")}),
    ("reason", [condition("Accepted", "True", "")], {("status.conditions[0].reason", "REQUIRED")}),
    ("combination", [condition("Accepted", "False", "Accepted")], {("status.conditions[0].reason", "NOT_SUPPORTED")}),
    (
        "generation",
        [condition("Accepted", "True", "Accepted", observedGeneration=4)],
        {("status.conditions[0].observedGeneration", "INVALID")},
    ),
    (
        "message",
        [condition("Accepted", "True", "Accepted", message="x" * 32769)],
        {("status.conditions[0].message", "TOO_LONG")},
    ),
    ("each type once", [ACCEPTED, ACCEPTED], {("status.conditions[1]", "DUPLICATE")}),
]


@pytest.mark.parametrize(
    ("conditions", "expected"), [row[1:] for row in CONDITIONS], ids=[f"conditions: {row[0]}" for row in CONDITIONS]
)
@pytest.mark.parametrize("judge", [judge_zone, judge_record_set, judge_zone_class])
def test_each_line_about_conditions(judge: Any, conditions: object, expected: set[tuple[str, str]]) -> None:
    assert judge({"status.conditions": conditions}) == expected


@pytest.mark.parametrize("judge", [judge_zone, judge_record_set, judge_zone_class])
def test_an_observed_generation_past_the_objects_is_refused(judge: Any) -> None:
    assert judge({"status.observedGeneration": 4}) == {("status.observedGeneration", "INVALID")}
    assert judge({"status.observedGeneration": ABSENT}) == set()


ZONE_LINES: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("nameServers: canonical", {"status.nameServers": ["NS.example."]}, {("status.nameServers[0]", "INVALID")}),
    ("nameServers: not empty", {"status.nameServers": [""]}, {("status.nameServers[0]", "REQUIRED")}),
    ("nameServers: once", {"status.nameServers": ["a.example"] * 2}, {("status.nameServers[1]", "DUPLICATE")}),
    ("data by schema", {"status.provider.data.zoneID": 7}, {("status.provider.data.zoneID", "TYPE_INVALID")}),
    ("data: unknown field", {"status.provider.data": {"id": "x"}}, {("status.provider.data.id", "FORBIDDEN")}),
    ("no state", {"status.provider.state": {}}, {("status.provider.state", "FORBIDDEN")}),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in ZONE_LINES], ids=[row[0] for row in ZONE_LINES])
def test_each_line_of_a_zones_status(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judge_zone(changes) == expected


RECORD_LINES: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("zone.ref.name", {"status.zone.ref.name": "other"}, {("status.zone.ref.name", "INVALID")}),
    ("zone.ref.namespace", {"status.zone.ref.namespace": "other"}, {("status.zone.ref.namespace", "INVALID")}),
    ("zone.ref is whole", {"status.zone.ref": {"name": "example"}}, {("status.zone.ref.namespace", "INVALID")}),
    ("zone.ref holds no more", {"status.zone.ref.uid": "x"}, {("status.zone.ref.uid", "FORBIDDEN")}),
    ("no controllerName", {"status.zone.controllerName": "a/b"}, {("status.zone.controllerName", "FORBIDDEN")}),
    ("data by schema", {"status.provider.data": {"recordID": 1}}, {("status.provider.data.recordID", "TYPE_INVALID")}),
    ("no state", {"status.provider.state": {}}, {("status.provider.state", "FORBIDDEN")}),
]


@pytest.mark.parametrize(
    ("changes", "expected"), [row[1:] for row in RECORD_LINES], ids=[row[0] for row in RECORD_LINES]
)
def test_each_line_of_a_record_sets_status(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judge_record_set(changes) == expected


def test_the_zone_of_another_namespace_is_named_as_the_spec_names_it() -> None:
    reference = {"spec.zoneRef.namespace": "dns"}

    assert judge_record_set({**reference, "status.zone.ref.namespace": "dns"}) == set()
    assert judge_record_set(reference) == {("status.zone.ref.namespace", "INVALID")}


@pytest.mark.parametrize(("kind", "status"), list(ZONE_REASONS))
def test_every_core_reason_may_stand_in_a_status(kind: ConditionType, status: ConditionStatus) -> None:
    for name in ZONE_REASONS[kind, status]:
        assert judge_zone({"status.conditions": [condition(kind, status, name)]}) == set()
    for name in RECORD_SET_REASONS[kind, status]:
        assert judge_record_set({"status.conditions": [condition(kind, status, name)]}) == set()
    for name in ZONE_CLASS_REASONS.get((kind, status), ()):
        assert judge_zone_class({"status.conditions": [condition(kind, status, name)]}) == set()


def test_a_reason_of_the_provider_stands_with_the_kind_and_status_it_was_declared_for() -> None:
    own = contract({"spec.versions.0.recordSet.additionalConditionReasons": []})
    status = {"status": {**RECORD_STATUS, "conditions": [condition("Programmed", "False", "EdgeQuotaExceeded")]}}

    assert told(validate_record_set_status(record_set("A", status), record_set(), own)) == {
        ("status.conditions[0].reason", "NOT_SUPPORTED")
    }
    assert judge_zone({"status.conditions": [condition("Programmed", "Unknown", "EdgeQuotaExceeded")]}) == {
        ("status.conditions[0].reason", "NOT_SUPPORTED")
    }


def test_a_class_has_no_programmed_condition() -> None:
    assert judge_zone_class({"status.conditions": [condition("Programmed", "True", "Programmed")]}) == {
        ("status.conditions[0].type", "NOT_SUPPORTED")
    }


def test_without_its_provider_core_can_still_say_so() -> None:
    gone = no_provider("edge.example.com")
    conditions = {"conditions": [condition("Accepted", "False", "InvalidProvider")]}
    before = zone({"status": ZONE_STATUS})

    assert validate_zone_status(zone({"status": {**ZONE_STATUS, **conditions}}), before, gone) == []
    data = {"provider": {"data": {"zoneID": "z2"}}}
    assert told(validate_zone_status(zone({"status": {**conditions, **data}}), before, gone)) == {
        ("status.provider.data", "INVALID_PROVIDER")
    }


def test_data_that_the_version_has_no_schema_for_is_refused_unless_it_is_empty() -> None:
    bare = contract({"spec.versions.0.zone": {}})

    def judge(data: dict[str, Any]) -> set[tuple[str, str]]:
        return told(validate_zone_status(zone({"status": {"provider": {"data": data}}}), zone(), bare))

    assert judge({}) == set()
    assert judge({"zoneID": "x"}) == {("status.provider.data", "INVALID_PROVIDER")}


def test_every_fault_of_a_status_is_told_at_once() -> None:
    found = judge_record_set(
        {
            "status.observedGeneration": 9,
            "status.zone.ref.name": "other",
            "status.conditions": [condition("Accepted", "True", "Wrong")],
            "status.provider.data": {"x": 1},
        }
    )

    assert {field for field, _ in found} == {
        "status.observedGeneration",
        "status.zone.ref.name",
        "status.conditions[0].reason",
        "status.provider.data.x",
    }
