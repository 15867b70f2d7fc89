"""ZoneClass admission: one row for each line of its validation order."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.core.admission.zone_class import validate_zone_class
from controllers.core.providercontract.fault import Fault
from tests.controllers.core.admission.build import ABSENT, RESOLUTION, contract, told, zone_class

NAMESPACES = "spec.allowedZones.namespaces"


def judge(changes: dict[str, Any]) -> list[Fault]:
    return validate_zone_class(zone_class(changes), None, RESOLUTION)


def test_a_class_is_allowed() -> None:
    assert judge({}) == []


REFUSED: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("require spec.provider.name", {"spec.provider.name": ABSENT}, {("spec.provider.name", "REQUIRED")}),
    ("require spec.provider.version", {"spec.provider.version": ABSENT}, {("spec.provider.version", "REQUIRED")}),
    ("require spec.controllerName", {"spec.controllerName": ABSENT}, {("spec.controllerName", "REQUIRED")}),
    ("controllerName has a slash", {"spec.controllerName": "edge.example.com"}, {("spec.controllerName", "INVALID")}),
    ("controllerName has a path", {"spec.controllerName": "edge.example.com/"}, {("spec.controllerName", "INVALID")}),
    ("controllerName has a prefix", {"spec.controllerName": "/controller"}, {("spec.controllerName", "INVALID")}),
    (
        "controllerName: DNS subdomain",
        {"spec.controllerName": "Edge_1/controller"},
        {("spec.controllerName", "INVALID")},
    ),
    ("require spec.identityRef", {"spec.identityRef": ABSENT}, {("spec.identityRef", "REQUIRED")}),
    ("identityRef has a name", {"spec.identityRef": {}}, {("spec.identityRef.name", "REQUIRED")}),
    ("identityRef names something", {"spec.identityRef.name": ""}, {("spec.identityRef.name", "REQUIRED")}),
    ("identityRef names an object", {"spec.identityRef.name": "A B"}, {("spec.identityRef.name", "INVALID")}),
    ("identityRef by its resource", {"spec.identityRef.namespace": "x"}, {("spec.identityRef.namespace", "FORBIDDEN")}),
    ("parameters by schema", {"spec.parameters": {"policy": "Keep"}}, {("spec.parameters.policy", "NOT_SUPPORTED")}),
    ("parameters: unknown field", {"spec.parameters": {"polcy": "Retain"}}, {("spec.parameters.polcy", "FORBIDDEN")}),
    ("validationRules", {"spec.controllerName": "forbidden.example.com/x"}, {("spec", "INVALID")}),
    (
        "allowedZones: from",
        {f"{NAMESPACES}.from": "Some"},
        {(f"{NAMESPACES}.from", "NOT_SUPPORTED"), (f"{NAMESPACES}.selector", "FORBIDDEN")},
    ),
    ("allowedZones: selector missing", {f"{NAMESPACES}.selector": ABSENT}, {(f"{NAMESPACES}.selector", "REQUIRED")}),
    ("allowedZones: selector empty", {f"{NAMESPACES}.selector": {}}, {(f"{NAMESPACES}.selector", "INVALID")}),
    ("allowedZones: selector with Same", {f"{NAMESPACES}.from": "Same"}, {(f"{NAMESPACES}.selector", "FORBIDDEN")}),
    ("allowedZones: selector with All", {f"{NAMESPACES}.from": "All"}, {(f"{NAMESPACES}.selector", "FORBIDDEN")}),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_each_line_refuses_what_breaks_it(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert told(judge(changes)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"spec.parameters": ABSENT},
        {"spec.allowedZones": ABSENT},
        {NAMESPACES: {"from": "All"}},
        {NAMESPACES: {"from": "Same"}},
        {f"{NAMESPACES}.selector": {"matchExpressions": [{"key": "a.b/c", "operator": "NotIn", "values": ["d"]}]}},
        {"spec.controllerName": "edge.example.com/a/b"},
    ],
)
def test_what_the_lines_leave_open_is_allowed(changes: dict[str, Any]) -> None:
    assert judge(changes) == []


def test_a_provider_without_identity_takes_no_reference_to_one() -> None:
    without = contract({"spec.versions.0.identity": ABSENT})

    assert told(validate_zone_class(zone_class(), None, without)) == {("spec.identityRef", "FORBIDDEN")}
    assert validate_zone_class(zone_class({"spec.identityRef": ABSENT}), None, without) == []


def test_parameters_that_a_schema_requires_are_missed_without_any() -> None:
    strict = contract({"spec.versions.0.zoneClass.schemas.parameters.openAPIV3Schema.required": ["policy"]})

    faults = validate_zone_class(zone_class({"spec.parameters": ABSENT}), None, strict)

    assert told(faults) == {("spec.parameters.policy", "REQUIRED")}


@pytest.mark.parametrize(
    ("name", "other"), [("provider", {"name": "a.b", "version": "v1"}), ("controllerName", "a.b/c")]
)
def test_what_says_who_serves_the_class_is_immutable(name: str, other: object) -> None:
    faults = validate_zone_class(zone_class(), zone_class({f"spec.{name}": other}), RESOLUTION)

    assert told(faults) == {(f"spec.{name}", "FORBIDDEN")}


def test_everything_else_may_change() -> None:
    old = zone_class(
        {"spec.parameters": {"policy": "Delete"}, "spec.identityRef.name": "b", NAMESPACES: {"from": "All"}}
    )

    assert validate_zone_class(zone_class(), old, RESOLUTION) == []


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ({}, set()),
        ({"maxPercent": 1, "minRecords": 0}, set()),
        ({"maxPercent": 100, "minRecords": 5000}, set()),
        (
            {"maxPercent": 0, "minRecords": -1},
            {("spec.changeGuard.maxPercent", "INVALID"), ("spec.changeGuard.minRecords", "INVALID")},
        ),
        ({"maxPercent": 101}, {("spec.changeGuard.maxPercent", "INVALID")}),
        ({"maxPercent": "30"}, {("spec.changeGuard.maxPercent", "TYPE_INVALID")}),
        ({"minRecords": 1.5}, {("spec.changeGuard.minRecords", "TYPE_INVALID")}),
        (30, {("spec.changeGuard", "TYPE_INVALID")}),
    ],
)
def test_a_change_guard_has_its_bounds(guard: Any, expected: set[tuple[str, str]]) -> None:
    assert told(judge({"spec.changeGuard": guard})) == expected
