"""RecordSet admission: one row for each line of its validation order, and manifests with several faults at once."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.core.admission.record_set import validate_record_set
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.resolution import no_provider
from tests.controllers.core.admission.build import ABSENT, BODIES, RESOLUTION, TYPES, contract, record_set, told
from zonemodel.rrset import ANSWER_MAX_OCTETS


def judge(record_type: str, changes: dict[str, Any], domain: str | None = "example.com") -> list[Fault]:
    return validate_record_set(record_set(record_type, changes), None, RESOLUTION, domain)


def test_the_largest_set_that_a_message_holds_is_allowed() -> None:
    assert judge("TXT", {"spec.txt.values": MOST_TEXT[:-1]}) == []
    ruleless = contract({f"spec.versions.0.recordSet.{name}": [] for name in ("disableValidations", "validationRules")})
    for count, expected in ((len(MOST_ADDRESSES) - 1, set()), (len(MOST_ADDRESSES), {("spec.a", "TOO_LONG")})):
        manifest = record_set("A", {"spec.a.addresses": MOST_ADDRESSES[:count]})
        assert told(validate_record_set(manifest, None, ruleless, None)) == expected
    manifest = record_set("CAA", {"spec.caa.records.0.value": "x" * 65240})
    assert told(validate_record_set(manifest, None, ruleless, None)) == {("spec.caa", "TOO_LONG")}


def test_what_no_message_holds_is_told_in_octets() -> None:
    (fault,) = judge("TXT", {"spec.txt.values": MOST_TEXT})
    assert str(ANSWER_MAX_OCTETS) in fault.allowed


@pytest.mark.parametrize("record_type", TYPES)
def test_a_record_set_of_each_type_is_allowed(record_type: str) -> None:
    assert judge(record_type, {}) == []


MOST_ADDRESSES = [f"10.0.{number // 256}.{number % 256}" for number in range(ANSWER_MAX_OCTETS // 16 + 1)]
MOST_TEXT = [f"{number:05}" + "x" * 3995 for number in range(17)]

REFUSED: list[tuple[str, str, dict[str, Any], set[tuple[str, str]]]] = [
    ("require spec.zoneRef", "A", {"spec.zoneRef": ABSENT}, {("spec.zoneRef", "REQUIRED")}),
    ("zoneRef is an object", "A", {"spec.zoneRef": "example"}, {("spec.zoneRef", "TYPE_INVALID")}),
    ("zoneRef has a name", "A", {"spec.zoneRef": {}}, {("spec.zoneRef.name", "REQUIRED")}),
    ("zoneRef names an object", "A", {"spec.zoneRef.name": "Example"}, {("spec.zoneRef.name", "INVALID")}),
    ("zoneRef names a namespace", "A", {"spec.zoneRef.namespace": "a.b"}, {("spec.zoneRef.namespace", "INVALID")}),
    ("require spec.provider", "A", {"spec.provider": ABSENT}, {("spec.provider", "REQUIRED")}),
    ("require spec.provider.name", "A", {"spec.provider.name": ""}, {("spec.provider.name", "REQUIRED")}),
    ("require spec.provider.version", "A", {"spec.provider.version": ABSENT}, {("spec.provider.version", "REQUIRED")}),
    ("require spec.type", "A", {"spec.type": ABSENT}, {("spec.type", "REQUIRED")}),
    ("a type that has a body", "A", {"spec.type": "SRV"}, {("spec.type", "NOT_SUPPORTED")}),
    ("require spec.name", "A", {"spec.name": ABSENT}, {("spec.name", "REQUIRED")}),
    ("spec.name is not empty", "A", {"spec.name": ""}, {("spec.name", "REQUIRED")}),
    ("spec.options by schema: type", "A", {"spec.options": {"raw": "yes"}}, {("spec.options.raw", "TYPE_INVALID")}),
    ("spec.options by schema: unknown", "A", {"spec.options": {"rwa": True}}, {("spec.options.rwa", "FORBIDDEN")}),
    ("spec.adoption by schema", "A", {"spec.adoption": {"recordID": 1}}, {("spec.adoption.recordID", "TYPE_INVALID")}),
    ("name: uppercase", "A", {"spec.name": "WWW"}, {("spec.name", "INVALID")}),
    ("name: Unicode", "A", {"spec.name": "bücher"}, {("spec.name", "INVALID")}),
    ("name: empty label", "A", {"spec.name": "a..b"}, {("spec.name", "INVALID")}),
    ("name: trailing dot", "A", {"spec.name": "www."}, {("spec.name", "INVALID")}),
    ("name: long label", "A", {"spec.name": "a" * 64}, {("spec.name", "INVALID")}),
    ("name: hyphen at the end", "A", {"spec.name": "a-"}, {("spec.name", "INVALID")}),
    ("name: wildcard inside", "A", {"spec.name": "a.*.b"}, {("spec.name", "INVALID")}),
    ("name: underscore on A", "A", {"spec.name": "_dmarc"}, {("spec.name", "INVALID")}),
    ("require spec.ttl", "A", {"spec.ttl": ABSENT}, {("spec.ttl", "REQUIRED")}),
    ("spec.ttl at least 1", "A", {"spec.ttl": 0}, {("spec.ttl", "INVALID")}),
    ("spec.ttl at most 2147483647", "A", {"spec.ttl": 2**31}, {("spec.ttl", "INVALID")}),
    ("spec.ttl is an integer", "A", {"spec.ttl": True}, {("spec.ttl", "TYPE_INVALID")}),
    ("A: require addresses", "A", {"spec.a": ABSENT}, {("spec.a.addresses", "REQUIRED")}),
    ("A: addresses not empty", "A", {"spec.a.addresses": []}, {("spec.a.addresses", "REQUIRED")}),
    ("A: IPv4", "A", {"spec.a.addresses": ["2001:db8::1"]}, {("spec.a.addresses[0]", "INVALID")}),
    ("A: dotted decimal", "A", {"spec.a.addresses": ["192.0.2.01"]}, {("spec.a.addresses[0]", "INVALID")}),
    ("A: an item of another type", "A", {"spec.a.addresses": [{}]}, {("spec.a.addresses[0]", "INVALID")}),
    ("A: duplicate", "A", {"spec.a.addresses": ["192.0.2.1"] * 2}, {("spec.a.addresses[1]", "DUPLICATE")}),
    ("AAAA: require addresses", "AAAA", {"spec.aaaa": {}}, {("spec.aaaa.addresses", "REQUIRED")}),
    ("AAAA: IPv6", "AAAA", {"spec.aaaa.addresses": ["192.0.2.1"]}, {("spec.aaaa.addresses[0]", "INVALID")}),
    ("AAAA: no zone", "AAAA", {"spec.aaaa.addresses": ["fe80::1%eth0"]}, {("spec.aaaa.addresses[0]", "INVALID")}),
    (
        "AAAA: duplicates are compared as addresses",
        "AAAA",
        {"spec.aaaa.addresses": ["2001:db8::1", "2001:DB8:0:0::1"]},
        {("spec.aaaa.addresses[1]", "DUPLICATE")},
    ),
    ("TXT: require values", "TXT", {"spec.txt": ABSENT}, {("spec.txt.values", "REQUIRED")}),
    ("TXT: non-empty", "TXT", {"spec.txt.values": [""]}, {("spec.txt.values[0]", "REQUIRED")}),
    ("TXT: 4000 octets", "TXT", {"spec.txt.values": ["a" * 4001]}, {("spec.txt.values[0]", "TOO_LONG")}),
    ("TXT: duplicate", "TXT", {"spec.txt.values": ["a", "b", "a"]}, {("spec.txt.values[2]", "DUPLICATE")}),
    ("TXT: printable ASCII", "TXT", {"spec.txt.values": ["a\tb"]}, {("spec.txt.values[0]", "INVALID")}),
    ("TXT: ASCII", "TXT", {"spec.txt.values": ["é"]}, {("spec.txt.values[0]", "INVALID")}),
    ("CNAME: apex", "CNAME", {"spec.name": "@"}, {("spec.name", "FORBIDDEN")}),
    ("CNAME: require target", "CNAME", {"spec.cname": {}}, {("spec.cname.target", "REQUIRED")}),
    ("CNAME: lowercase", "CNAME", {"spec.cname.target": "WWW.example.net"}, {("spec.cname.target", "INVALID")}),
    ("CNAME: no trailing dot", "CNAME", {"spec.cname.target": "a.example."}, {("spec.cname.target", "INVALID")}),
    ("CNAME: no address", "CNAME", {"spec.cname.target": "192.0.2.1"}, {("spec.cname.target", "INVALID")}),
    ("CNAME: no IPv6 address", "CNAME", {"spec.cname.target": "2001:db8::1"}, {("spec.cname.target", "INVALID")}),
    ("CNAME: no URL", "CNAME", {"spec.cname.target": "https://example.net/"}, {("spec.cname.target", "INVALID")}),
    ("CNAME: no URI", "CNAME", {"spec.cname.target": "mailto:a@example.net"}, {("spec.cname.target", "INVALID")}),
    ("MX: require records", "MX", {"spec.mx": ABSENT}, {("spec.mx.records", "REQUIRED")}),
    ("MX: not empty", "MX", {"spec.mx.records": []}, {("spec.mx.records", "REQUIRED")}),
    ("MX: preference", "MX", {"spec.mx.records.0.preference": 65536}, {("spec.mx.records[0].preference", "INVALID")}),
    (
        "MX: no preference",
        "MX",
        {"spec.mx.records.0.preference": ABSENT},
        {("spec.mx.records[0].preference", "REQUIRED")},
    ),
    ("MX: exchange", "MX", {"spec.mx.records.0.exchange": ABSENT}, {("spec.mx.records[0].exchange", "REQUIRED")}),
    (
        "MX: canonical",
        "MX",
        {"spec.mx.records.0.exchange": "Mail.example"},
        {("spec.mx.records[0].exchange", "INVALID")},
    ),
    ("MX: no address", "MX", {"spec.mx.records.0.exchange": "192.0.2.1"}, {("spec.mx.records[0].exchange", "INVALID")}),
    ("MX: no URL", "MX", {"spec.mx.records.0.exchange": "smtp://a"}, {("spec.mx.records[0].exchange", "INVALID")}),
    (
        "MX: Null MX is alone",
        "MX",
        {"spec.mx.records": [{"preference": 0, "exchange": "."}, {"preference": 10, "exchange": "a.example"}]},
        {("spec.mx.records", "INVALID")},
    ),
    (
        "MX: Null MX has preference 0",
        "MX",
        {"spec.mx.records": [{"preference": 10, "exchange": "."}]},
        {("spec.mx.records[0].preference", "INVALID")},
    ),
    (
        "MX: duplicate pair",
        "MX",
        {"spec.mx.records": [{"preference": 10, "exchange": "a.example"}] * 2},
        {("spec.mx.records[1]", "DUPLICATE")},
    ),
    ("CAA: require records", "CAA", {"spec.caa": ABSENT}, {("spec.caa.records", "REQUIRED")}),
    ("CAA: not empty", "CAA", {"spec.caa.records": []}, {("spec.caa.records", "REQUIRED")}),
    ("CAA: flags", "CAA", {"spec.caa.records.0.flags": 256}, {("spec.caa.records[0].flags", "INVALID")}),
    ("CAA: no flags", "CAA", {"spec.caa.records.0.flags": ABSENT}, {("spec.caa.records[0].flags", "REQUIRED")}),
    ("CAA: tag", "CAA", {"spec.caa.records.0.tag": "Issue"}, {("spec.caa.records[0].tag", "INVALID")}),
    ("CAA: tag alphabet", "CAA", {"spec.caa.records.0.tag": "is-sue"}, {("spec.caa.records[0].tag", "INVALID")}),
    ("CAA: value", "CAA", {"spec.caa.records.0.value": ""}, {("spec.caa.records[0].value", "REQUIRED")}),
    (
        "CAA: duplicate triple",
        "CAA",
        {"spec.caa.records": [{"flags": 0, "tag": "issue", "value": "a"}] * 2},
        {("spec.caa.records[1]", "DUPLICATE")},
    ),
    ("NS: apex", "NS", {"spec.name": "@"}, {("spec.name", "FORBIDDEN")}),
    ("NS: wildcard", "NS", {"spec.name": "*"}, {("spec.name", "FORBIDDEN")}),
    ("NS: wildcard below", "NS", {"spec.name": "*.sub"}, {("spec.name", "FORBIDDEN")}),
    ("NS: require servers", "NS", {"spec.ns": ABSENT}, {("spec.ns.nameServers", "REQUIRED")}),
    ("NS: not empty", "NS", {"spec.ns.nameServers": []}, {("spec.ns.nameServers", "REQUIRED")}),
    ("NS: canonical", "NS", {"spec.ns.nameServers": ["NS1.example"]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("NS: no address", "NS", {"spec.ns.nameServers": ["192.0.2.1"]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("NS: no URL", "NS", {"spec.ns.nameServers": ["dns://a"]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("NS: duplicate", "NS", {"spec.ns.nameServers": ["a.example"] * 2}, {("spec.ns.nameServers[1]", "DUPLICATE")}),
    ("TXT: no message holds it", "TXT", {"spec.txt.values": MOST_TEXT}, {("spec.txt", "TOO_LONG")}),
    ("A: a null item", "A", {"spec.a.addresses": [None]}, {("spec.a.addresses[0]", "INVALID")}),
    ("A: no list", "A", {"spec.a.addresses": "192.0.2.1"}, {("spec.a.addresses", "TYPE_INVALID")}),
    ("AAAA: not empty", "AAAA", {"spec.aaaa.addresses": []}, {("spec.aaaa.addresses", "REQUIRED")}),
    ("TXT: not empty", "TXT", {"spec.txt.values": []}, {("spec.txt.values", "REQUIRED")}),
    (
        "TXT: octets, not characters",
        "TXT",
        {"spec.txt.values": ["é" * 2001], "spec.options": {"raw": True}},
        {("spec.txt.values[0]", "TOO_LONG")},
    ),
    (
        "MX: preference below",
        "MX",
        {"spec.mx.records.0.preference": -1},
        {("spec.mx.records[0].preference", "INVALID")},
    ),
    (
        "MX: no URI",
        "MX",
        {"spec.mx.records.0.exchange": "mailto:a@example.net"},
        {("spec.mx.records[0].exchange", "INVALID")},
    ),
    ("MX: no dot", "MX", {"spec.mx.records.0.exchange": "a.example."}, {("spec.mx.records[0].exchange", "INVALID")}),
    ("CAA: flags below", "CAA", {"spec.caa.records.0.flags": -1}, {("spec.caa.records[0].flags", "INVALID")}),
    ("CAA: no tag", "CAA", {"spec.caa.records.0.tag": ABSENT}, {("spec.caa.records[0].tag", "REQUIRED")}),
    ("CAA: no value", "CAA", {"spec.caa.records.0.value": ABSENT}, {("spec.caa.records[0].value", "REQUIRED")}),
    ("NS: no dot", "NS", {"spec.ns.nameServers": ["a.example."]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("NS: no IPv6 address", "NS", {"spec.ns.nameServers": ["2001:db8::1"]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("NS: no URI", "NS", {"spec.ns.nameServers": ["mailto:a@b.c"]}, {("spec.ns.nameServers[0]", "INVALID")}),
    ("CNAME: not empty", "CNAME", {"spec.cname.target": ""}, {("spec.cname.target", "REQUIRED")}),
    ("CNAME: Unicode", "CNAME", {"spec.cname.target": "bücher.example"}, {("spec.cname.target", "INVALID")}),
    ("validationRules", "A", {"spec.options": {"alias": True}}, {("spec", "INVALID")}),
    ("FQDN length", "A", {"spec.name": ".".join(["a" * 60] * 4)}, {("spec.name", "INVALID")}),
]


@pytest.mark.parametrize(
    ("record_type", "changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_each_line_refuses_what_breaks_it(
    record_type: str, changes: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    assert told(judge(record_type, changes)) == expected


@pytest.mark.parametrize("record_type", TYPES)
@pytest.mark.parametrize("other", TYPES)
def test_no_type_takes_the_body_of_another(record_type: str, other: str) -> None:
    expected = set() if record_type == other else {(f"spec.{other.lower()}", "FORBIDDEN")}

    assert told(judge(record_type, {f"spec.{key}": body for key, body in BODIES[other].items()})) == expected


ALLOWED: list[tuple[str, str, dict[str, Any]]] = [
    ("the apex", "A", {"spec.name": "@"}),
    ("a wildcard", "A", {"spec.name": "*"}),
    ("a wildcard below a name", "A", {"spec.name": "*.app"}),
    ("underscores on TXT", "TXT", {"spec.name": "_dmarc"}),
    (
        "underscores on CNAME and its target",
        "CNAME",
        {"spec.name": "_acme-challenge", "spec.cname.target": "_a.example"},
    ),
    ("4000 octets of text", "TXT", {"spec.txt.values": ["a" * 4000]}),
    ("Null MX", "MX", {"spec.mx.records": [{"preference": 0, "exchange": "."}]}),
    ("the highest ttl", "A", {"spec.ttl": 2**31 - 1}),
    ("an explicit namespace of the zone", "A", {"spec.zoneRef.namespace": "dns"}),
]


@pytest.mark.parametrize(("record_type", "changes"), [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_what_the_lines_leave_open_is_allowed(record_type: str, changes: dict[str, Any]) -> None:
    assert judge(record_type, changes) == []


ALIAS = {"spec.options": {"alias": True}, "spec.ttl": ABSENT}
SWITCHED_OFF: list[tuple[str, str, dict[str, Any]]] = [
    ("require-ttl", "A", ALIAS),
    ("require-a-addresses", "A", {**ALIAS, "spec.a": ABSENT}),
    ("require-aaaa-addresses", "AAAA", {**ALIAS, "spec.aaaa": ABSENT}),
    ("require-txt-values", "TXT", {**ALIAS, "spec.txt": ABSENT}),
    ("forbid-cname-apex", "CNAME", {**ALIAS, "spec.name": "@"}),
    ("forbid-txt-non-printable-ascii", "TXT", {"spec.options": {"raw": True}, "spec.txt.values": ["bücher\n"]}),
]


@pytest.mark.parametrize(
    ("record_type", "changes"), [row[1:] for row in SWITCHED_OFF], ids=[row[0] for row in SWITCHED_OFF]
)
def test_a_provider_switches_each_validation_off_where_its_expression_is_true(
    record_type: str, changes: dict[str, Any]
) -> None:
    assert judge(record_type, changes) == []
    assert judge(record_type, {**changes, "spec.options": ABSENT}) != []


@pytest.mark.parametrize(
    ("record_type", "changes"), [row[1:] for row in SWITCHED_OFF], ids=[row[0] for row in SWITCHED_OFF]
)
def test_each_validation_is_on_where_the_provider_has_no_expressions_at_all(
    record_type: str, changes: dict[str, Any]
) -> None:
    record_contract = "spec.versions.0.recordSet"
    plain = contract({f"{record_contract}.disableValidations": ABSENT, f"{record_contract}.validationRules": ABSENT})
    manifest = record_set(record_type, {**changes, "spec.options": ABSENT})

    assert told(validate_record_set(manifest, None, plain, None)) == told(
        judge(record_type, {**changes, "spec.options": ABSENT})
    )


def test_a_ttl_that_need_not_be_there_has_to_be_right_all_the_same() -> None:
    fault = told(validate_record_set(record_set("A", {"spec.ttl": 0}), None, None, None))

    assert fault == {("spec.ttl", "INVALID")}


def test_an_unsupported_type_names_the_supported_ones() -> None:
    few = contract({"spec.versions.0.recordSet.supportedTypes": ["A", "TXT"]})

    (fault,) = validate_record_set(record_set("MX"), None, few, None)

    assert (fault.field, fault.found) == ("spec.type", '"MX"')
    assert fault.allowed.endswith("A, TXT")


def test_a_missing_provider_is_named_and_what_it_could_switch_off_is_not_complained_of() -> None:
    manifest = record_set("A", {"spec.ttl": ABSENT, "spec.a.addresses": ["x"]})

    faults = validate_record_set(manifest, None, no_provider("edge.example.com"), None)

    assert told(faults) == {("spec.provider.name", "INVALID_PROVIDER"), ("spec.a.addresses[0]", "INVALID")}
    assert "InvalidProvider" in faults[0].message


def test_a_payload_that_the_version_has_no_schema_for_is_an_invalid_provider() -> None:
    bare = contract(
        {
            "spec.versions.0.recordSet.schemas": {},
            "spec.versions.0.recordSet.validationRules": [],
            "spec.versions.0.recordSet.disableValidations": [],
        }
    )

    faults = validate_record_set(record_set("A", {"spec.options": {"x": 1}}), None, bare, None)

    assert told(faults) == {("spec.options", "INVALID_PROVIDER")}


def test_a_rule_that_fails_is_a_refusal_that_names_it() -> None:
    rule = {"rule": "self.spec.options.alias", "message": "unused"}
    careless = contract({"spec.versions.0.recordSet.validationRules": [rule]})

    (fault,) = validate_record_set(record_set(), None, careless, None)

    assert fault.field == "spec"
    assert "recordSet.validationRules[0]" in fault.found
    assert "self.spec.options.alias" in fault.found


def test_the_failure_of_a_rule_is_not_told_beside_the_fault_that_causes_it() -> None:
    rule = {"rule": "self.spec.ttl > 10", "message": "unused"}
    strict = contract({"spec.versions.0.recordSet.validationRules": [rule]})

    assert told(validate_record_set(record_set("A", {"spec.ttl": ABSENT}), None, strict, None)) == {
        ("spec.ttl", "REQUIRED")
    }


def test_every_fault_of_a_manifest_is_told_in_the_order_of_validation() -> None:
    manifest = record_set(
        "A",
        {
            "spec.zoneRef": ABSENT,
            "spec.provider.version": "v9",
            "spec.options": {"raw": 1},
            "spec.name": "WWW.",
            "spec.ttl": 0,
            "spec.txt": {"values": ["x"]},
            "spec.a.addresses": ["nonsense", "192.0.2.1", "192.0.2.1"],
        },
    )

    faults = validate_record_set(manifest, None, RESOLUTION, None)

    assert [fault.field for fault in faults] == [
        "spec.zoneRef",
        "spec.options.raw",
        "spec.name",
        "spec.ttl",
        "spec.txt",
        "spec.a.addresses[0]",
        "spec.a.addresses[2]",
    ]


@pytest.mark.parametrize("name", ["zoneRef", "provider", "type", "name"])
def test_identity_is_immutable(name: str) -> None:
    other = {
        "zoneRef": {"name": "other"},
        "provider": {"name": "edge.example.com", "version": "v2"},
        "type": "AAAA",
        "name": "x",
    }
    old = record_set("A", {f"spec.{name}": other[name]})

    faults = validate_record_set(record_set(), old, RESOLUTION, None)

    assert told(faults) == {(f"spec.{name}", "FORBIDDEN")}


def test_ttl_and_body_may_change() -> None:
    assert (
        validate_record_set(
            record_set(), record_set("A", {"spec.ttl": 5, "spec.a.addresses": ["192.0.2.9"]}), RESOLUTION, None
        )
        == []
    )


@pytest.mark.parametrize("spec", [None, [], "x", 7, {"type": [], "name": {}, "zoneRef": 1, "provider": "x"}])
def test_a_spec_of_any_shape_is_judged(spec: object) -> None:
    faults = validate_record_set({"metadata": {}, "spec": spec}, None, None, None)

    assert {"spec.zoneRef", "spec.provider", "spec.type", "spec.name"} <= {fault.field for fault in faults}
