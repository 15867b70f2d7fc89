"""ZoneUnit admission: the ledger's spec, its status, and when it may be deleted."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.core.admission.ledger import object_to_delete, validate_zone_unit, validate_zone_unit_status
from controllers.core.providercontract.resolution import no_provider
from tests.controllers.core.admission.build import ABSENT, STORAGE, changed, condition, ledger, told

ITEM = "spec.recordSets.0"
AT = "spec.recordSets[0]"


def judge(changes: dict[str, Any]) -> set[tuple[str, str]]:
    return told(validate_zone_unit(ledger(changes), None, STORAGE))


def test_a_ledger_is_allowed() -> None:
    assert judge({}) == set()


REFUSED: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("provider", {"spec.provider": ABSENT}, {("spec.provider", "REQUIRED")}),
    ("zone", {"spec.zone": ABSENT}, {("spec.zone", "REQUIRED")}),
    ("zone.ref", {"spec.zone.ref": ABSENT}, {("spec.zone.ref", "REQUIRED")}),
    ("zone.ref.name", {"spec.zone.ref.name": "X"}, {("spec.zone.ref.name", "INVALID"), ("metadata.name", "INVALID")}),
    ("zone.zoneClassRef", {"spec.zone.zoneClassRef.namespace": ""}, {("spec.zone.zoneClassRef.namespace", "REQUIRED")}),
    ("zone.observedGeneration", {"spec.zone.observedGeneration": -1}, {("spec.zone.observedGeneration", "INVALID")}),
    ("zone.domainName", {"spec.zone.domainName": "Example.com"}, {("spec.zone.domainName", "INVALID")}),
    ("zone.adoption", {"spec.zone.adoption": {"zoneID": 1}}, {("spec.zone.adoption.zoneID", "TYPE_INVALID")}),
    ("the name of part 0", {"metadata.name": "other"}, {("metadata.name", "INVALID")}),
    ("the name of part 2", {"spec.part": 2}, {("metadata.name", "INVALID")}),
    ("the zone's namespace", {"metadata.namespace": "other"}, {("metadata.namespace", "INVALID")}),
    ("part", {"spec.part": -1}, {("spec.part", "INVALID"), ("metadata.name", "INVALID")}),
    ("parts", {"spec.parts": [0, 1, 1]}, {("spec.parts[0]", "INVALID"), ("spec.parts[2]", "DUPLICATE")}),
    ("item: key", {f"{ITEM}.recordSetName": ""}, {(f"{AT}.recordSetName", "REQUIRED")}),
    ("item: generation", {f"{ITEM}.observedGeneration": ABSENT}, {(f"{AT}.observedGeneration", "REQUIRED")}),
    ("item: name", {f"{ITEM}.name": "WWW"}, {(f"{AT}.name", "INVALID")}),
    ("item: type", {f"{ITEM}.type": "SRV"}, {(f"{AT}.type", "NOT_SUPPORTED")}),
    ("item: ttl", {f"{ITEM}.ttl": 0}, {(f"{AT}.ttl", "INVALID")}),
    ("item: body", {f"{ITEM}.a.addresses": ["x"]}, {(f"{AT}.a.addresses[0]", "INVALID")}),
    ("item: another body", {f"{ITEM}.txt": {"values": ["x"]}}, {(f"{AT}.txt", "FORBIDDEN")}),
    ("item: options", {f"{ITEM}.options": {"raw": 1}}, {(f"{AT}.options.raw", "TYPE_INVALID")}),
    ("item: adoption", {f"{ITEM}.adoption": {"x": 1}}, {(f"{AT}.adoption.x", "FORBIDDEN")}),
    (
        "each claim once",
        {"spec.recordSets": [{**ledger()["spec"]["recordSets"][0], "name": n} for n in "ab"]},
        {("spec.recordSets[1]", "DUPLICATE")},
    ),
    (
        "each owner and type once",
        {"spec.recordSets": [{**ledger()["spec"]["recordSets"][0], "recordSetName": n} for n in "ab"]},
        {("spec.recordSets[1]", "DUPLICATE")},
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_each_line_refuses_what_breaks_it(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judge(changes) == expected


def test_a_further_part_is_named_after_its_number_and_lists_no_parts() -> None:
    part = {"spec.part": 2, "metadata.name": "example.part-2"}

    assert judge(part) == set()
    assert judge({**part, "spec.parts": [3]}) == {("spec.parts", "FORBIDDEN")}


def test_an_item_without_ttl_or_body_may_stand_in_a_ledger() -> None:
    assert judge({f"{ITEM}.ttl": ABSENT, f"{ITEM}.a": ABSENT, f"{ITEM}.options": {"alias": True}}) == set()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("zone.ref", {"namespace": "app", "name": "other"}),
        ("zone.domainName", "other.example"),
        ("zone.zoneClassRef", {"namespace": "app", "name": "other"}),
        ("provider.name", "other.example"),
        ("part", 3),
    ],
)
def test_what_the_ledger_belongs_to_is_immutable(name: str, other: object) -> None:
    found = told(validate_zone_unit(ledger({f"spec.{name}": other}), ledger(), STORAGE))

    assert (f"spec.{name}", "FORBIDDEN") in found


def test_an_old_item_that_would_be_refused_today_does_not_hold_up_a_new_one() -> None:
    old = ledger({f"{ITEM}.a.addresses": ["x"], f"{ITEM}.options": {"gone": 1}})
    item = {**ledger()["spec"]["recordSets"][0], "recordSetName": "new", "name": "new"}
    new = changed(old, {"spec.recordSets": [*old["spec"]["recordSets"], item]})

    assert validate_zone_unit(new, old, STORAGE) == []


@pytest.mark.parametrize("decision", [{"allowed": False}, {"deletionRequested": True}, {"observedGeneration": 9}])
def test_an_old_item_that_would_be_refused_today_can_be_decided_on(decision: dict[str, Any]) -> None:
    old = ledger({f"{ITEM}.a.addresses": ["x"]})
    new = changed(old, {f"{ITEM}.{name}": value for name, value in decision.items()})

    assert validate_zone_unit(new, old, STORAGE) == []


def test_a_provider_that_has_gone_stops_no_clean_up() -> None:
    new = ledger({f"{ITEM}.deletionRequested": True})

    assert validate_zone_unit(new, ledger(), no_provider("edge.example.com")) == []


RESULT = {
    "recordSetNamespace": "app",
    "recordSetName": "www",
    "observedGeneration": 1,
    "conditions": [condition("Programmed", "False", "EdgeQuotaExceeded")],
    "provider": {"data": {"recordID": "r1"}, "state": {"anything": [1]}},
}
STATUS = {
    "observedGeneration": 3,
    "conditions": [condition("Programmed", "False", "ProviderChangeDeferred")],
    "provider": {"state": {"cursor": 1}},
    "zone": {
        "conditions": [condition("Accepted", "True", "Accepted", observedGeneration=99)],
        "nameServers": ["ns1.example.net"],
        "provider": {"data": {"zoneID": "z1"}, "state": {}},
    },
    "recordSets": [RESULT],
}
RESULT_AT = "status.recordSets[0]"


def judge_status(changes: dict[str, Any]) -> set[tuple[str, str]]:
    return told(validate_zone_unit_status(ledger({"status": STATUS, **changes}), ledger(), STORAGE))


def test_a_ledgers_status_is_allowed() -> None:
    assert judge_status({}) == set()


STATUS_LINES: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("generation", {"status.observedGeneration": 4}, {("status.observedGeneration", "INVALID")}),
    (
        "type of the unit's condition",
        {"status.conditions": [condition("Accepted", "True", "Accepted")]},
        {("status.conditions[0].type", "NOT_SUPPORTED")},
    ),
    (
        "reason of the unit's condition",
        {"status.conditions.0.reason": "Wrong"},
        {("status.conditions[0].reason", "NOT_SUPPORTED")},
    ),
    (
        "zone: reason",
        {"status.zone.conditions.0.reason": "RecordSetConflict"},
        {("status.zone.conditions[0].reason", "NOT_SUPPORTED")},
    ),
    ("zone: name servers", {"status.zone.nameServers": ["A.example"]}, {("status.zone.nameServers[0]", "INVALID")}),
    ("zone: data", {"status.zone.provider.data.zoneID": 1}, {("status.zone.provider.data.zoneID", "TYPE_INVALID")}),
    ("zone: state is an object", {"status.zone.provider.state": []}, {("status.zone.provider.state", "TYPE_INVALID")}),
    (
        "item: reason",
        {"status.recordSets.0.conditions.0.reason": "Wrong"},
        {(f"{RESULT_AT}.conditions[0].reason", "NOT_SUPPORTED")},
    ),
    ("item: data", {"status.recordSets.0.provider.data": {"x": 1}}, {(f"{RESULT_AT}.provider.data.x", "FORBIDDEN")}),
    (
        "item: state is an object",
        {"status.recordSets.0.provider.state": "x"},
        {(f"{RESULT_AT}.provider.state", "TYPE_INVALID")},
    ),
    ("each item once", {"status.recordSets": [RESULT, RESULT]}, {("status.recordSets[1]", "DUPLICATE")}),
    ("state is an object", {"status.provider.state": 1}, {("status.provider.state", "TYPE_INVALID")}),
]


@pytest.mark.parametrize(
    ("changes", "expected"), [row[1:] for row in STATUS_LINES], ids=[row[0] for row in STATUS_LINES]
)
def test_each_line_of_a_ledgers_status(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judge_status(changes) == expected


def test_an_old_result_that_would_be_refused_today_does_not_hold_up_a_new_one() -> None:
    old = ledger({"status": {**STATUS, "recordSets": [{**RESULT, "provider": {"data": {"old": 1}}}]}})
    result = {**RESULT, "recordSetName": "new"}
    new = changed(old, {"status.recordSets": [*old["status"]["recordSets"], result]})

    assert validate_zone_unit_status(new, old, STORAGE) == []


def test_a_ledger_is_not_deleted_under_a_zone_that_lives() -> None:
    objection = object_to_delete(ledger(), zone_lives=True)

    assert objection is not None
    assert "app/example" in objection


@pytest.mark.parametrize(
    ("unit", "zone_lives"),
    [
        (ledger(), False),
        (ledger({"spec.part": 2, "spec.recordSets": []}), True),
        (ledger({"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"}), True),
    ],
    ids=["its zone has gone or goes", "a further part that is empty", "it is being deleted already"],
)
def test_a_ledger_may_be_deleted_when_nothing_needs_it(unit: dict[str, Any], zone_lives: bool) -> None:
    assert object_to_delete(unit, zone_lives) is None


def test_a_further_part_that_holds_records_is_not_deleted_under_a_zone_that_lives() -> None:
    assert object_to_delete(ledger({"spec.part": 2}), zone_lives=True) is not None
