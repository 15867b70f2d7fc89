"""Zone admission: one row for each line of its validation order."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.core.admission.zone import validate_zone
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.resolution import no_provider
from tests.controllers.core.admission.build import ABSENT, RESOLUTION, contract, told, zone

GRANT = "spec.allowedRecordSets.0"
GRANT_PATH = "spec.allowedRecordSets[0]"


def judge(changes: dict[str, Any]) -> list[Fault]:
    return validate_zone(zone(changes), None, RESOLUTION)


def test_a_zone_is_allowed() -> None:
    assert judge({}) == []


REFUSED: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("require spec.domainName", {"spec.domainName": ABSENT}, {("spec.domainName", "REQUIRED")}),
    ("require spec.zoneClassRef", {"spec.zoneClassRef": ABSENT}, {("spec.zoneClassRef", "REQUIRED")}),
    ("zoneClassRef has a name", {"spec.zoneClassRef": {}}, {("spec.zoneClassRef.name", "REQUIRED")}),
    ("require spec.provider", {"spec.provider": ABSENT}, {("spec.provider", "REQUIRED")}),
    ("spec.adoption by schema", {"spec.adoption": {"zoneID": "XYZ"}}, {("spec.adoption.zoneID", "INVALID")}),
    ("validationRules", {"spec.domainName": "forbidden.example.com"}, {("spec", "INVALID")}),
    ("domainName: uppercase", {"spec.domainName": "Example.com"}, {("spec.domainName", "INVALID")}),
    ("domainName: Unicode", {"spec.domainName": "bücher.example"}, {("spec.domainName", "INVALID")}),
    ("domainName: trailing dot", {"spec.domainName": "example.com."}, {("spec.domainName", "INVALID")}),
    ("domainName: empty label", {"spec.domainName": "a..example"}, {("spec.domainName", "INVALID")}),
    ("domainName: underscore", {"spec.domainName": "_a.example"}, {("spec.domainName", "INVALID")}),
    ("domainName: long label", {"spec.domainName": "a" * 64 + ".example"}, {("spec.domainName", "INVALID")}),
    ("domainName: 255 octets", {"spec.domainName": ".".join(["a" * 60] * 5)}, {("spec.domainName", "INVALID")}),
    ("domainName: no address", {"spec.domainName": "192.0.2.1"}, {("spec.domainName", "INVALID")}),
    ("domainName: no URL", {"spec.domainName": "https://example.com"}, {("spec.domainName", "INVALID")}),
    ("allowedRecordSets: a list", {"spec.allowedRecordSets": {}}, {("spec.allowedRecordSets", "TYPE_INVALID")}),
    ("allowedRecordSets: namespaces", {f"{GRANT}.namespaces": ABSENT}, {(f"{GRANT_PATH}.namespaces", "REQUIRED")}),
    (
        "allowedRecordSets: selector",
        {f"{GRANT}.namespaces.selector": ABSENT},
        {(f"{GRANT_PATH}.namespaces.selector", "REQUIRED")},
    ),
    (
        "allowedRecordSets: empty selector",
        {f"{GRANT}.namespaces.selector": {}},
        {(f"{GRANT_PATH}.namespaces.selector", "INVALID")},
    ),
    (
        "allowedRecordSets: selector with empty parts",
        {f"{GRANT}.namespaces.selector": {"matchLabels": {}, "matchExpressions": []}},
        {(f"{GRANT_PATH}.namespaces.selector", "INVALID")},
    ),
    (
        "allowedRecordSets: label value",
        {f"{GRANT}.namespaces.selector.matchLabels": {"team": "a b"}},
        {(f"{GRANT_PATH}.namespaces.selector.matchLabels[team]", "INVALID")},
    ),
    (
        "allowedRecordSets: label key",
        {f"{GRANT}.namespaces.selector.matchLabels": {"a b": "c"}},
        {(f"{GRANT_PATH}.namespaces.selector.matchLabels", "INVALID")},
    ),
    (
        "allowedRecordSets: operator",
        {f"{GRANT}.namespaces.selector": {"matchExpressions": [{"key": "a", "operator": "Like", "values": ["b"]}]}},
        {(f"{GRANT_PATH}.namespaces.selector.matchExpressions[0].operator", "NOT_SUPPORTED")},
    ),
    (
        "allowedRecordSets: In without values",
        {f"{GRANT}.namespaces.selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        {(f"{GRANT_PATH}.namespaces.selector.matchExpressions[0].values", "REQUIRED")},
    ),
    (
        "allowedRecordSets: Exists with values",
        {f"{GRANT}.namespaces.selector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
        {(f"{GRANT_PATH}.namespaces.selector.matchExpressions[0].values", "FORBIDDEN")},
    ),
    ("allowedRecordSets: records", {f"{GRANT}.records": ABSENT}, {(f"{GRANT_PATH}.records", "REQUIRED")}),
    ("allowedRecordSets: empty records", {f"{GRANT}.records": []}, {(f"{GRANT_PATH}.records", "REQUIRED")}),
    (
        "allowedRecordSets: pattern",
        {f"{GRANT}.records.0.name": ABSENT},
        {(f"{GRANT_PATH}.records[0].name.pattern", "REQUIRED")},
    ),
    (
        "allowedRecordSets: RE2",
        {f"{GRANT}.records.0.name.pattern": "(?=www)"},
        {(f"{GRANT_PATH}.records[0].name.pattern", "INVALID")},
    ),
    (
        "allowedRecordSets: bounded pattern",
        {f"{GRANT}.records.0.name.pattern": "a" * 513},
        {(f"{GRANT_PATH}.records[0].name.pattern", "INVALID")},
    ),
    (
        "allowedRecordSets: bounded program",
        {f"{GRANT}.records.0.name.pattern": "\\pL{900}"},
        {(f"{GRANT_PATH}.records[0].name.pattern", "INVALID")},
    ),
    (
        "allowedRecordSets: types",
        {f"{GRANT}.records.0.types": ABSENT},
        {(f"{GRANT_PATH}.records[0].types", "REQUIRED")},
    ),
    (
        "allowedRecordSets: empty types",
        {f"{GRANT}.records.0.types": []},
        {(f"{GRANT_PATH}.records[0].types", "REQUIRED")},
    ),
    (
        "allowedRecordSets: known types",
        {f"{GRANT}.records.0.types": ["A", "SOA"]},
        {(f"{GRANT_PATH}.records[0].types[1]", "NOT_SUPPORTED")},
    ),
    (
        "allowedRecordSets: number of patterns",
        {f"{GRANT}.records": [{"name": {"pattern": "a"}, "types": ["A"]}] * 129},
        {("spec.allowedRecordSets", "TOO_MANY")},
    ),
    (
        "allowedRecordSets: size of all patterns",
        {f"{GRANT}.records": [{"name": {"pattern": "(a?){200}.*b"}, "types": ["A"]}] * 24},
        {("spec.allowedRecordSets", "TOO_MANY")},
    ),
    ("no name of a ledger's part", {"metadata.name": "example.part-12"}, {("metadata.name", "INVALID")}),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_each_line_refuses_what_breaks_it(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert told(judge(changes)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"spec.domainName": "xn--bcher-kva.example"},
        {"spec.domainName": "2.0.192.in-addr.arpa"},
        {"spec.zoneClassRef": {"name": "edge"}},
        {"spec.adoption": {"zoneID": "00ff"}},
        {"spec.allowedRecordSets": ABSENT},
        {"spec.allowedRecordSets": []},
        {f"{GRANT}.records": [{"name": {"pattern": "[a-z]([a-z-]{0,61}[a-z])?[.]team-a"}, "types": ["A"]}] * 50},
        {f"{GRANT}.records": [{"name": {"pattern": "(.*[.])?(api|www|mx[0-9])-team-a"}, "types": ["A"]}] * 128},
        {"metadata.name": "example.part-a"},
        {"metadata.name": "part-1"},
    ],
)
def test_what_the_lines_leave_open_is_allowed(changes: dict[str, Any]) -> None:
    assert judge(changes) == []


def test_a_missing_provider_is_refused() -> None:
    faults = validate_zone(zone(), None, no_provider("edge.example.com"))

    assert told(faults) == {("spec.provider.name", "INVALID_PROVIDER")}


def test_adoption_without_a_schema_is_an_invalid_provider() -> None:
    faults = validate_zone(zone({"spec.adoption": {"x": 1}}), None, contract({"spec.versions.0.zone": {}}))

    assert told(faults) == {("spec.adoption", "INVALID_PROVIDER")}


@pytest.mark.parametrize(
    ("name", "other"),
    [("domainName", "example.net"), ("zoneClassRef", {"name": "x"}), ("provider", {"name": "a.b", "version": "v1"})],
)
def test_identity_is_immutable(name: str, other: object) -> None:
    assert told(validate_zone(zone(), zone({f"spec.{name}": other}), RESOLUTION)) == {(f"spec.{name}", "FORBIDDEN")}


def test_adoption_and_grants_may_change() -> None:
    assert (
        validate_zone(zone({"spec.adoption": {"zoneID": "00ff"}}), zone({"spec.allowedRecordSets": []}), RESOLUTION)
        == []
    )


def test_a_zone_that_got_a_parts_name_before_may_be_changed() -> None:
    name = {"metadata.name": "example.part-1"}

    assert validate_zone(zone(name), zone(name), RESOLUTION) == []


def test_every_fault_is_told_in_the_order_of_validation() -> None:
    changes = {
        "spec.zoneClassRef": ABSENT,
        "spec.adoption": {"zoneID": 7},
        "spec.domainName": "UPPER.example",
        f"{GRANT}.records.0.name.pattern": "(",
    }

    assert [fault.field for fault in judge(changes)] == [
        "spec.zoneClassRef",
        "spec.adoption.zoneID",
        "spec.domainName",
        f"{GRANT_PATH}.records[0].name.pattern",
    ]
