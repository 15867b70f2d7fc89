"""Provider admission: one row for each line of its validation order."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from controllers.core.admission.provider import validate_provider
from tests.controllers.core.admission.build import ABSENT, Manifest, changed, provider, reason, schema, told

V = "spec.versions.0"
P = "spec.versions[0]"
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n").decode()


def second(changes: dict[str, Any]) -> list[Manifest]:
    """The version, and an older one that is converted to it; `changes` are made to the older one."""
    storage = provider()["spec"]["versions"][0]
    older = {
        "name": "v0",
        "served": True,
        "storage": False,
        "recordSet": {
            "supportedTypes": ["A"],
            "schemas": {"options": schema(mode={"type": "string"})},
            "conversion": {"toStorage": {"cel": "{'options': {'raw': self.options.mode == 'raw'}}"}},
        },
    }
    return [storage, changed(older, changes)]


WEBHOOK = {
    "clientConfig": {"service": {"namespace": "system", "name": "converter"}, "caBundle": PEM},
    "timeoutSeconds": 5,
}


def judge(changes: dict[str, Any]) -> set[tuple[str, str]]:
    return told(validate_provider(provider(changes)))


def test_a_provider_is_allowed() -> None:
    assert validate_provider(provider()) == []


def webhook(changes: dict[str, Any]) -> dict[str, Any]:
    return {"spec.versions": second({"recordSet.conversion.toStorage": {"webhook": changed(WEBHOOK, changes)}})}


def converted(expression: str) -> dict[str, Any]:
    return {"spec.versions": second({"recordSet.conversion.toStorage.cel": expression})}


def rule(target: str, expression: str) -> dict[str, Any]:
    return {f"{V}.{target}.validationRules": [{"rule": expression, "message": "No."}]}


def toggle(name: str, when: str) -> dict[str, Any]:
    return {f"{V}.recordSet.disableValidations": [{"name": name, "when": when}]}


TO_STORAGE = "spec.versions[1].recordSet.conversion.toStorage"
RULE = "validationRules[0].rule"
REASONS = "additionalConditionReasons"
REFUSED: list[tuple[str, dict[str, Any], set[tuple[str, str]]]] = [
    ("require spec.display.name", {"spec.display": {}}, {("spec.display.name", "REQUIRED")}),
    ("require spec.versions", {"spec.versions": ABSENT}, {("spec.versions", "REQUIRED")}),
    ("versions not empty", {"spec.versions": []}, {("spec.versions", "REQUIRED")}),
    ("every version has a name", {f"{V}.name": ABSENT}, {(f"{P}.name", "REQUIRED")}),
    ("a name is a label", {f"{V}.name": "V 1"}, {(f"{P}.name", "INVALID")}),
    ("one storage version: none", {f"{V}.storage": False, f"{V}.served": False}, {("spec.versions", "INVALID")}),
    (
        "one storage version: two",
        {"spec.versions": second({"storage": True, "recordSet.conversion": ABSENT})},
        {("spec.versions", "INVALID")},
    ),
    ("names are different", {"spec.versions": second({"name": "v1"})}, {("spec.versions[1]", "DUPLICATE")}),
    ("served is said", {f"{V}.served": ABSENT}, {(f"{P}.served", "REQUIRED")}),
    (
        "require supportedTypes",
        {f"{V}.recordSet.supportedTypes": ABSENT},
        {(f"{P}.recordSet.supportedTypes", "REQUIRED")},
    ),
    (
        "supportedTypes not empty",
        {f"{V}.recordSet.supportedTypes": []},
        {(f"{P}.recordSet.supportedTypes", "REQUIRED")},
    ),
    (
        "supportedTypes are of the seven",
        {f"{V}.recordSet.supportedTypes": ["A", "SRV"]},
        {(f"{P}.recordSet.supportedTypes[1]", "NOT_SUPPORTED")},
    ),
    (
        "no duplicate supportedTypes",
        {f"{V}.recordSet.supportedTypes": ["A", "A"]},
        {(f"{P}.recordSet.supportedTypes[1]", "DUPLICATE")},
    ),
    (
        "zone reasons: conditionType",
        {f"{V}.zone.{REASONS}": [reason("Ready", "False", "X")]},
        {(f"{P}.zone.{REASONS}[0].conditionType", "NOT_SUPPORTED")},
    ),
    (
        "zone reasons: status",
        {f"{V}.zone.{REASONS}": [reason("Accepted", "Maybe", "X")]},
        {(f"{P}.zone.{REASONS}[0].status", "NOT_SUPPORTED")},
    ),
    (
        "zone reasons: CamelCase",
        {f"{V}.zone.{REASONS}": [reason("Accepted", "False", "not_so")]},
        {(f"{P}.zone.{REASONS}[0].reason", "INVALID")},
    ),
    (
        "zone reasons: description",
        {f"{V}.zone.{REASONS}": [{**reason("Accepted", "False", "X"), "description": ""}]},
        {(f"{P}.zone.{REASONS}[0].description", "REQUIRED")},
    ),
    (
        "record set reasons: conditionType",
        {f"{V}.recordSet.{REASONS}": [{"status": "False", "reason": "X", "description": "x"}]},
        {(f"{P}.recordSet.{REASONS}[0].conditionType", "REQUIRED")},
    ),
    (
        "record set reasons: reason",
        {f"{V}.recordSet.{REASONS}": [reason("Accepted", "False", "")]},
        {(f"{P}.recordSet.{REASONS}[0].reason", "REQUIRED")},
    ),
    (
        "no core combination: zone",
        {f"{V}.zone.{REASONS}": [reason("Accepted", "False", "InvalidAdoption")]},
        {(f"{P}.zone.{REASONS}[0].reason", "DUPLICATE")},
    ),
    (
        "no core combination: record set",
        {f"{V}.recordSet.{REASONS}": [reason("Accepted", "False", "RecordSetConflict")]},
        {(f"{P}.recordSet.{REASONS}[0].reason", "DUPLICATE")},
    ),
    (
        "no duplicate reasons",
        {f"{V}.zone.{REASONS}": [reason("Accepted", "False", "X")] * 2},
        {(f"{P}.zone.{REASONS}[1]", "DUPLICATE")},
    ),
    (
        "schemas: type",
        {f"{V}.zone.schemas.adoption.openAPIV3Schema.type": "obj"},
        {(f"{P}.zone.schemas.adoption.openAPIV3Schema.type", "NOT_SUPPORTED")},
    ),
    (
        "schemas: missing",
        {f"{V}.zone.schemas.adoption": {}},
        {(f"{P}.zone.schemas.adoption.openAPIV3Schema", "TYPE_INVALID")},
    ),
    (
        "schemas: an object's",
        {f"{V}.zoneClass.schemas.parameters.openAPIV3Schema": {"type": "string"}},
        {(f"{P}.zoneClass.schemas.parameters.openAPIV3Schema.type", "INVALID")},
    ),
    (
        "schemas: descriptions",
        {
            f"{V}.zone.schemas.statusProviderData": {
                "openAPIV3Schema": {"type": "object", "properties": {"id": {"type": "string"}}}
            }
        },
        {(f"{P}.zone.schemas.statusProviderData.openAPIV3Schema.properties.id.description", "REQUIRED")},
    ),
    (
        "schemas: no references",
        {f"{V}.recordSet.schemas.adoption": schema(id={"$ref": "https://example.com/x"})},
        {(f"{P}.recordSet.schemas.adoption.openAPIV3Schema.properties.id.$ref", "FORBIDDEN")},
    ),
    (
        "schemas: RE2 patterns",
        {f"{V}.recordSet.schemas.statusProviderData": schema(id={"type": "string", "pattern": "(?<=a)b"})},
        {(f"{P}.recordSet.schemas.statusProviderData.openAPIV3Schema.properties.id.pattern", "INVALID")},
    ),
    (
        "schemas: withdrawals",
        {f"{V}.recordWithdrawal": {"schemas": {"statusProviderData": {"openAPIV3Schema": {"type": "array"}}}}},
        {(f"{P}.recordWithdrawal.schemas.statusProviderData.openAPIV3Schema.items", "REQUIRED")},
    ),
    ("zoneClass rule: syntax", rule("zoneClass", "self.spec ==="), {(f"{P}.zoneClass.{RULE}", "INVALID")}),
    (
        "zoneClass rule: a field",
        rule("zoneClass", "self.spec.parameters.polcy == 'x'"),
        {(f"{P}.zoneClass.{RULE}", "INVALID")},
    ),
    ("zoneClass rule: bool", rule("zoneClass", "self.spec.controllerName"), {(f"{P}.zoneClass.{RULE}", "INVALID")}),
    ("zone rule: a type", rule("zone", "self.spec.domainName > 3"), {(f"{P}.zone.{RULE}", "INVALID")}),
    ("zone rule: bool", rule("zone", "self.spec.domainName"), {(f"{P}.zone.{RULE}", "INVALID")}),
    ("record set rule: bool", rule("recordSet", "self.spec.type"), {(f"{P}.recordSet.{RULE}", "INVALID")}),
    ("record set rule: not dynamic", rule("recordSet", "dyn(true)"), {(f"{P}.recordSet.{RULE}", "INVALID")}),
    (
        "record set rule: a payload",
        rule("recordSet", "self.spec.options.alais"),
        {(f"{P}.recordSet.{RULE}", "INVALID")},
    ),
    (
        "record set rule: no message types",
        rule("recordSet", "self_spec{} == self.spec"),
        {(f"{P}.recordSet.{RULE}", "INVALID")},
    ),
    (
        "a rule is there",
        {f"{V}.recordSet.validationRules": [{"message": "x"}]},
        {(f"{P}.recordSet.{RULE}", "REQUIRED")},
    ),
    (
        "disableValidations when: bool",
        toggle("require-ttl", "self.spec.ttl"),
        {(f"{P}.recordSet.disableValidations[0].when", "INVALID")},
    ),
    (
        "disableValidations when: there",
        {f"{V}.recordSet.disableValidations": [{"name": "require-ttl"}]},
        {(f"{P}.recordSet.disableValidations[0].when", "REQUIRED")},
    ),
    (
        "disableValidations name",
        toggle("require-name", "true"),
        {(f"{P}.recordSet.disableValidations[0].name", "NOT_SUPPORTED")},
    ),
    (
        "pair rules: bool",
        {f"{V}.zoneUnit.validationRules": [{"rule": "self.type"}]},
        {(f"{P}.zoneUnit.{RULE}", "INVALID")},
    ),
    (
        "pair toggles: name",
        {f"{V}.zoneUnit.disableValidations": [{"name": "require-ttl", "when": "true"}]},
        {(f"{P}.zoneUnit.disableValidations[0].name", "NOT_SUPPORTED")},
    ),
    ("conversion: object", converted("self.options.mode"), {(f"{TO_STORAGE}.cel", "INVALID")}),
    ("conversion: its own payload", converted("{'options': self.options.raw}"), {(f"{TO_STORAGE}.cel", "INVALID")}),
    (
        "conversion: one of two, not none",
        {"spec.versions": second({"recordSet.conversion.toStorage": {}})},
        {(TO_STORAGE, "REQUIRED")},
    ),
    (
        "conversion: one of two, not both",
        {"spec.versions": second({"recordSet.conversion.toStorage.webhook": WEBHOOK})},
        {(TO_STORAGE, "FORBIDDEN")},
    ),
    (
        "conversion: not on the storage version",
        {f"{V}.recordSet.conversion": {"toStorage": {"cel": "{'options': self.options}"}}},
        {(f"{P}.recordSet.conversion", "FORBIDDEN")},
    ),
    (
        "conversion: wherever there is a payload",
        {"spec.versions": second({"recordSet.conversion": ABSENT})},
        {("spec.versions[1].recordSet.conversion", "REQUIRED")},
    ),
    (
        "webhook: CA bundle",
        webhook({"clientConfig.caBundle": "AA=="}),
        {(f"{TO_STORAGE}.webhook.clientConfig.caBundle", "INVALID")},
    ),
    (
        "webhook: CA bundle there",
        webhook({"clientConfig.caBundle": ABSENT}),
        {(f"{TO_STORAGE}.webhook.clientConfig.caBundle", "REQUIRED")},
    ),
    (
        "webhook: service",
        webhook({"clientConfig.service": ABSENT}),
        {(f"{TO_STORAGE}.webhook.clientConfig.service", "REQUIRED")},
    ),
    ("webhook: timeout", webhook({"timeoutSeconds": 31}), {(f"{TO_STORAGE}.webhook.timeoutSeconds", "INVALID")}),
    ("identity: kind", {f"{V}.identity.resource.kind": ABSENT}, {(f"{P}.identity.resource.kind", "REQUIRED")}),
    (
        "identity: scope",
        {f"{V}.identity.resource.scope": "Cluster"},
        {(f"{P}.identity.resource.scope", "NOT_SUPPORTED")},
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_each_line_refuses_what_breaks_it(changes: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judge(changes) == expected


ALLOWED: list[tuple[str, dict[str, Any]]] = [
    ("several versions", {"spec.versions": second({})}),
    ("a conversion by webhook", {"spec.versions": second({"recordSet.conversion.toStorage": {"webhook": WEBHOOK}})}),
    (
        "a version that is no longer served",
        {"spec.versions": second({"served": False, "recordSet.conversion": ABSENT})},
    ),
    ("no identity", {f"{V}.identity": ABSENT}),
    (
        "no schemas and no rules",
        {"spec.versions": [{"name": "v1", "served": True, "storage": True, "recordSet": {"supportedTypes": ["A"]}}]},
    ),
    (
        "a core reason with another status",
        {f"{V}.zone.{REASONS}": [reason("Programmed", "Unknown", "ProviderConflict")]},
    ),
    (
        "rules over pairs",
        {
            f"{V}.zoneUnit.validationRules": [
                {"rule": "self.type != other.type || zone.domainName == toVersion || provider.name == 'x'"}
            ]
        },
    ),
    (
        "coexistence switched off",
        {
            f"{V}.zoneUnit.disableValidations": [
                {"name": "forbid-cname-coexistence", "when": "self.type == 'CNAME' && other.type in ['TXT', 'MX']"}
            ]
        },
    ),
]


@pytest.mark.parametrize("changes", [row[1] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_what_the_lines_leave_open_is_allowed(changes: dict[str, Any]) -> None:
    assert judge(changes) == set()


def test_a_rule_of_another_type_is_refused_with_its_path_and_type() -> None:
    (fault,) = validate_provider(provider(rule("recordSet", "self.spec.type")))

    assert str(fault).startswith("spec.versions[0].recordSet.validationRules[0].rule: ")
    assert "STRING" in fault.allowed


def test_every_fault_of_a_provider_is_told_at_once() -> None:
    changes = {
        "spec.display.name": "",
        f"{V}.recordSet.supportedTypes": ["A", "A"],
        f"{V}.zone.schemas.adoption.openAPIV3Schema.type": "obj",
        f"{V}.zone.validationRules": [{"rule": "1 +"}, {"rule": "self.spec.nothing"}],
        f"{V}.recordSet.disableValidations": [{"name": "x", "when": "1"}],
    }

    assert {field for field, _ in judge(changes)} == {
        "spec.display.name",
        f"{P}.recordSet.supportedTypes[1]",
        f"{P}.zone.schemas.adoption.openAPIV3Schema.type",
        f"{P}.zone.validationRules[0].rule",
        f"{P}.zone.validationRules[1].rule",
        f"{P}.recordSet.disableValidations[0].name",
        f"{P}.recordSet.disableValidations[0].when",
    }


def nested(depth: int) -> str:
    """Eight times the text at each level, by lists of one item."""
    inner = f"x{depth}.size() > 0"
    for level in range(depth, 0, -1):
        inner = f"[{' + '.join([f'x{level - 1}'] * 8)}].all(x{level}, {inner})"
    return inner.replace("x0", "self.spec.name")


HOSTILE = {
    "quadratic over unbounded lists": "self.spec.txt.values.all(a, self.spec.txt.values.exists(b, a == b + 'x'))",
    "a pattern out of a value": "self.spec.txt.values.all(v, v.matches(v))",
    "a heavy pattern over many texts": "self.spec.txt.values.all(v, v.matches('(a?){400}b'))",
    "an oversized pattern": "self.spec.name.matches('\\\\pL{900}')",
    "growth by replacement": "self.spec.name.replace('', self.spec.name).replace('', self.spec.name).size() > 1",
    "growth by nesting": nested(8),
    "formatting": "'%s'.format([self.spec.name]) == 'x'",
    "a very long expression": " && ".join(["true"] * 2000),
    "very deep nesting": "(" * 200 + "true" + ")" * 200,
}


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_expression_that_could_hold_the_webhook_is_refused_when_it_is_applied(expression: str) -> None:
    assert judge(rule("recordSet", expression)) == {(f"{P}.recordSet.{RULE}", "INVALID")}


def test_many_expressions_together_are_bounded_too() -> None:
    heavy = {"rule": "self.spec.txt.values.map(v, v + v).size() > 1"}

    assert judge({f"{V}.recordSet.validationRules": [heavy]}) == set()
    assert judge({f"{V}.recordSet.validationRules": [heavy] * 10}) == {(f"{P}.recordSet", "TOO_MANY")}
    assert judge({f"{V}.recordSet.validationRules": [heavy] * 65}) == {(f"{P}.recordSet.validationRules", "TOO_MANY")}


@pytest.mark.parametrize(
    "spec", [None, [], {"versions": {}}, {"versions": [1, "x", None]}, {"versions": [{"recordSet": []}]}]
)
def test_a_spec_of_any_shape_is_judged(spec: object) -> None:
    assert validate_provider({"metadata": {"name": "x"}, "spec": spec}) != []
