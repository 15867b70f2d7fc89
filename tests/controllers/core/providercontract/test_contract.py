"""Resolution of versions, compiled contracts, and the contracts of two real providers as their documentation describes them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from controllers.api.provider import Provider, parse_provider
from controllers.api.reference import ProviderRef
from controllers.core.admission.provider import validate_provider
from controllers.core.admission.record_set import validate_record_set
from controllers.core.cel.expression import Failure
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.resolution import Unresolved, resolve_version, storage_version
from controllers.core.providercontract.target import Target
from tests.controllers.core.admission.build import ABSENT, PROVIDER, provider, record_set, schema


def parsed(changes: dict[str, Any] | None = None) -> Provider:
    return parse_provider(provider(changes))


def ref(version: str = "v1", name: str = PROVIDER) -> ProviderRef:
    return ProviderRef(name=name, version=version)


def test_a_reference_means_the_served_version_of_its_name() -> None:
    version = resolve_version(parsed(), ref())

    assert not isinstance(version, Unresolved)
    assert version.name == "v1"


@pytest.mark.parametrize(
    ("found", "wanted", "field", "words"),
    [
        (None, ref(), "name", "does not exist"),
        (parsed(), ref("v2"), "version", "no version of it"),
        (parsed({"spec.versions.0.served": False}), ref(), "version", "no longer served"),
    ],
    ids=["no Provider", "no version", "not served"],
)
def test_a_reference_that_means_nothing_says_why(
    found: Provider | None, wanted: ProviderRef, field: str, words: str
) -> None:
    unresolved = resolve_version(found, wanted)

    assert isinstance(unresolved, Unresolved)
    assert unresolved.field == field
    assert words in unresolved.message


def test_the_storage_version_is_the_only_one_that_says_so() -> None:
    one, none = parsed(), parsed({"spec.versions.0.storage": False})

    assert (version := storage_version(one)) is not None
    assert version.name == "v1"
    assert storage_version(none) is None
    assert storage_version(None) is None


def test_a_version_is_compiled_once_for_as_long_as_it_says_the_same() -> None:
    contracts = Contracts()

    first = contracts.resolve(parsed(), ref())
    same = contracts.resolve(parsed(), ref())
    other = contracts.resolve(parsed({"spec.versions.0.recordSet.supportedTypes": ["A"]}), ref())

    assert isinstance(first, Contract)
    assert first is same
    assert other is not first


def test_a_provider_without_one_storage_version_has_no_storage_contract() -> None:
    found = Contracts().storage(parsed({"spec.versions.0.storage": False}), PROVIDER)

    assert isinstance(found, Unresolved)
    assert "storage" in found.message


def converting(expression: str) -> Contract:
    old = {
        "name": "v0",
        "served": True,
        "storage": False,
        "recordSet": {
            "supportedTypes": ["A"],
            "schemas": {"options": schema(mode={"type": "string"}), "adoption": schema(id={"type": "string"})},
            "conversion": {"toStorage": {"cel": expression}},
        },
    }
    manifest = provider()
    manifest["spec"]["versions"].append(old)
    assert validate_provider(manifest) == []
    found = Contracts().resolve(parse_provider(manifest), ref("v0"))
    assert isinstance(found, Contract)
    return found


def test_a_payload_is_converted_by_the_expression_of_its_version() -> None:
    conversion = converting("{'options': {'raw': self.options.mode == 'raw'}}").conversion(Target.RECORD_SET)

    assert conversion is not None
    assert conversion.convert({"options": {"mode": "raw"}}) == {"options": {"raw": True}}
    assert conversion.convert({"options": {"mode": "plain"}}) == {"options": {"raw": False}}


def test_a_conversion_that_fails_says_why() -> None:
    conversion = converting("{'options': {'raw': self.options.mode == 'raw'}}").conversion(Target.RECORD_SET)

    assert conversion is not None
    failed = conversion.convert({})
    assert isinstance(failed, Failure)
    assert "options" in failed.reason


def test_rules_over_pairs_read_both_items_and_what_they_stand_in() -> None:
    when = (
        "self.type == 'CNAME' && other.type in ['TXT', 'MX'] && zone.domainName == 'example.com' && toVersion == 'v1'"
    )
    toggles = [{"name": "forbid-cname-coexistence", "when": when}]
    contract = Contracts().resolve(parsed({"spec.versions.0.zoneUnit.disableValidations": toggles}), ref())
    assert isinstance(contract, Contract)
    book = contract.pairs
    assert book is not None

    def off(other: str) -> list[tuple[str, Any]]:
        values = book.admit(
            {
                "self": {"name": "www", "type": "CNAME"},
                "other": {"name": "www", "type": other},
                "zone": {"namespace": "app", "name": "example", "domainName": "example.com"},
                "provider": {"name": PROVIDER, "version": "v1"},
                "toVersion": "v1",
            }
        )
        return list(book.switched_off(values))  # type: ignore[arg-type] # a fault would fail the assertion below

    assert off("MX") == [("forbid-cname-coexistence", True)]
    assert off("A") == [("forbid-cname-coexistence", False)]


def test_a_contract_without_expressions_has_no_books() -> None:
    bare = {"name": "v1", "served": True, "storage": True, "recordSet": {"supportedTypes": ["A"]}}
    contract = Contracts().resolve(parsed({"spec.versions": [bare]}), ref())

    assert isinstance(contract, Contract)
    assert contract.pairs is None
    assert [contract.book(target) for target in Target] == [None, None, None]


ALIAS: Final = "has(self.spec.options) && has(self.spec.options.alias)"
BODIES: Final = ("a", "aaaa", "txt", "cname", "mx", "caa", "ns")
WITH_ALIASES: Final[dict[str, Any]] = {
    "supportedTypes": ["A", "AAAA", "TXT", "CNAME", "MX", "CAA", "NS"],
    "schemas": {
        "options": schema(
            alias={
                "type": "object",
                "required": ["dnsName", "hostedZoneID", "evaluateTargetHealth"],
                "properties": {
                    "dnsName": {"type": "string", "maxLength": 255, "description": "Name of the target."},
                    "hostedZoneID": {"type": "string", "maxLength": 32, "description": "Zone of the target."},
                    "evaluateTargetHealth": {"type": "boolean", "description": "Whether health counts."},
                },
            }
        ),
    },
    "disableValidations": [
        {"name": name, "when": ALIAS} for name in ("require-ttl", "require-a-addresses", "require-aaaa-addresses")
    ],
    "validationRules": [
        {"rule": f"!({ALIAS}) || self.spec.type in ['A', 'AAAA']", "message": "An alias is of type A or AAAA."},
        {"rule": f"!({ALIAS}) || !has(self.spec.ttl)", "message": "An alias has no ttl."},
        *({"rule": f"!({ALIAS}) || !has(self.spec.{body})", "message": f"An alias has no {body}."} for body in BODIES),
    ],
}
OPTIONS: Final = "!has(self.spec.options) || "
WITH_PROXY: Final[dict[str, Any]] = {
    "supportedTypes": ["A", "AAAA", "TXT", "CNAME", "MX", "CAA", "NS"],
    "schemas": {
        "options": schema(
            ttl={"type": "string", "enum": ["Auto"]},
            proxied={"type": "boolean"},
            comment={"type": "string", "maxLength": 100},
            tags={
                "type": "array",
                "maxItems": 20,
                "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,32}:[^\\n]{0,100}$", "maxLength": 133},
            },
        )
    },
    "disableValidations": [
        {"name": "require-ttl", "when": "self.spec.?options.?ttl.orValue('') == 'Auto'"},
        {"name": "forbid-cname-apex", "when": "true"},
    ],
    "validationRules": [
        {"rule": "self.spec.?options.?ttl.orValue('') != 'Auto' || !has(self.spec.ttl)", "message": "One ttl."},
        {"rule": "!has(self.spec.ttl) || (self.spec.ttl >= 60 && self.spec.ttl <= 86400)", "message": "60 to 86400."},
        {
            "rule": "!self.spec.?options.?proxied.orValue(false) || (self.spec.type in ['A', 'AAAA', 'CNAME']"
            " && self.spec.?options.?ttl.orValue('') == 'Auto')",
            "message": "Only A, AAAA and CNAME with ttl Auto are proxied.",
        },
        {
            "rule": OPTIONS + "!has(self.spec.options.tags) || self.spec.options.tags.all(t, !t.startsWith('cf-')"
            " && self.spec.options.tags.exists_one(u, u.lowerAscii() == t.lowerAscii()))",
            "message": "Tags stand once and do not begin with cf-.",
        },
        {
            "rule": "self.spec.type != 'MX' || !has(self.spec.mx) || !has(self.spec.mx.records)"
            " || self.spec.mx.records.all(r, r.exchange != '.')",
            "message": "No Null MX.",
        },
    ],
}


def contract_with(record_sets: dict[str, Any]) -> Contract:
    manifest = provider({"spec.versions.0.recordSet": record_sets})
    assert validate_provider(manifest) == []
    found = Contracts().resolve(parse_provider(manifest), ref())
    assert isinstance(found, Contract)
    return found


TARGET: Final = {"dnsName": "lb.example.net.", "hostedZoneID": "Z1", "evaluateTargetHealth": True}
ALIASED: Final = {"spec.options": {"alias": TARGET}, "spec.ttl": ABSENT, "spec.a": ABSENT}


@pytest.mark.parametrize(
    ("record_type", "changes", "words"),
    [
        ("A", {}, None),
        ("A", ALIASED, None),
        ("AAAA", {**ALIASED, "spec.aaaa": ABSENT}, None),
        ("A", {**ALIASED, "spec.ttl": 60}, "An alias has no ttl."),
        ("A", {"spec.options": {"alias": TARGET}, "spec.ttl": ABSENT}, "An alias has no a."),
        ("TXT", {"spec.options": {"alias": TARGET}}, "An alias is of type A or AAAA."),
        ("A", {**ALIASED, "spec.options": {"alias": {"dnsName": "x."}}}, "hostedZoneID"),
        ("A", {"spec.ttl": ABSENT}, "an integer from 1"),
    ],
)  # fmt: skip
def test_a_contract_with_aliases(record_type: str, changes: dict[str, Any], words: str | None) -> None:
    faults = validate_record_set(record_set(record_type, changes), None, contract_with(WITH_ALIASES), None)

    told = "\n".join(str(fault) for fault in faults)
    assert (told == "") if words is None else (words in told)


@pytest.mark.parametrize(
    ("record_type", "changes", "words"),
    [
        ("A", {"spec.options": {"ttl": "Auto", "proxied": True}, "spec.ttl": ABSENT}, None),
        ("CNAME", {"spec.name": "@"}, None),
        ("A", {"spec.options": {"tags": ["a:b", "c:d"]}}, None),
        ("A", {"spec.options": {"ttl": "Auto"}}, "One ttl."),
        ("A", {"spec.ttl": 59}, "60 to 86400."),
        ("TXT", {"spec.options": {"ttl": "Auto", "proxied": True}, "spec.ttl": ABSENT}, "are proxied"),
        ("A", {"spec.options": {"tags": ["a:b", "A:B"]}}, "Tags stand once"),
        ("A", {"spec.options": {"tags": ["cf-a:b"]}}, "do not begin with cf-"),
        ("A", {"spec.options": {"tags": ["nocolon"]}}, "a text that matches"),
        ("MX", {"spec.mx.records": [{"preference": 0, "exchange": "."}]}, "No Null MX."),
    ],
)
def test_a_contract_with_a_proxy(record_type: str, changes: dict[str, Any], words: str | None) -> None:
    faults = validate_record_set(record_set(record_type, changes), None, contract_with(WITH_PROXY), None)

    told = "\n".join(str(fault) for fault in faults)
    assert (told == "") if words is None else (words in told)
