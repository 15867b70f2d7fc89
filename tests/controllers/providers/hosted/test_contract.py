"""The Provider object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from controllers.api.provider import parse_provider
from controllers.core.providercontract.resolution import storage_version
from controllers.providers.hosted.contract import provider_manifest

VERSION: Mapping[str, Any] = provider_manifest()["spec"]["versions"][0]


def schemas() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for kind in ("zoneClass", "zone", "recordSet"):
        for name, payload in VERSION[kind]["schemas"].items():
            yield f"{kind}.{name}", payload["openAPIV3Schema"]


def test_one_served_storage_version_without_an_identity() -> None:
    provider = parse_provider(provider_manifest())
    version = storage_version(provider)
    assert provider.meta.name == "hosted.dns.appthrust.io"
    assert version is not None
    assert (version.name, version.served, version.identity) == ("v1alpha1", True, None)
    assert [each.value for each in version.record_set.supported_types] == [
        "A",
        "AAAA",
        "TXT",
        "CNAME",
        "MX",
        "CAA",
        "NS",
    ]


def test_every_payload_has_a_schema() -> None:
    assert {name for name, _ in schemas()} == {
        "zoneClass.parameters",
        "zone.adoption",
        "zone.statusProviderData",
        "recordSet.options",
        "recordSet.adoption",
        "recordSet.statusProviderData",
    }


def test_every_property_is_described() -> None:
    def undescribed(path: str, schema: Mapping[str, Any]) -> Iterator[str]:
        if not schema.get("description"):
            yield path
        for name, child in schema.get("properties", {}).items():
            yield from undescribed(f"{path}.{name}", child)
        if schema.get("items", {}).get("type") == "object":
            yield from undescribed(f"{path}[]", schema["items"])

    assert [fault for name, schema in schemas() for fault in undescribed(name, schema)] == []


def test_payloads_that_the_provider_has_no_use_for_have_no_fields() -> None:
    found = dict(schemas())
    for name in ("zone.adoption", "recordSet.options", "recordSet.adoption"):
        assert found[name]["properties"] == {}
