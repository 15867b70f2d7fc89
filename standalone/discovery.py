"""Discovery documents: what `/api`, `/apis` and everything directly below them say about the served resources.

Owns the legacy documents (APIVersions, APIGroupList, APIGroup, APIResourceList), the aggregated form
(apidiscovery.k8s.io/v2) and `/version`. Pure: resources in, documents out; never knows which of them are stored where.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
from collections.abc import Iterable, Sequence
from typing import Any

from standalone.resource import Resource

AGGREGATED_CONTENT_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
KUBERNETES_VERSION = (1, 37)
"""The release whose API behaviour is served; clients choose features by it."""

_STATUS_VERBS = ("get", "patch", "update")
_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_MATURITY = {None: 0, "beta": 1, "alpha": 2}
_BUILT_IN_ORDER = (
    "",
    "apiregistration.k8s.io",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
)


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Sort key that puts the preferred version first: v2, v1, v1beta2, v1beta1, v1alpha1, then any other name.

    The order is the one Kubernetes documents for the versions of a CustomResourceDefinition.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    major, maturity, minor = match.groups()
    return (_MATURITY[maturity], -int(major), -int(minor or 0), version)


def api_versions(resources: Iterable[Resource], server_address: str = "") -> dict[str, Any]:
    """The document of `GET /api`: the versions of the core group."""
    versions = _versions(resource for resource in resources if not resource.group)
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}]
    return {"kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": addresses}


def legacy_groups(resources: Sequence[Resource]) -> dict[str, Any]:
    """The APIGroupList of `GET /apis`; the core group is not part of it."""
    names = [name for name in _group_names(resources) if name]
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(resources, name) for name in names],
    }


def api_group(resources: Sequence[Resource], group: str) -> dict[str, Any] | None:
    """The APIGroup of `GET /apis/GROUP`, or None when no resource is in that group."""
    if not group or all(resource.group != group for resource in resources):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(resources, group)}


def resource_list(resources: Sequence[Resource], group_version: str) -> dict[str, Any] | None:
    """The APIResourceList of `GET /api/v1` or `GET /apis/GROUP/VERSION`, or None when nothing has that version."""
    served = _sorted(resource for resource in resources if resource.api_version == group_version)
    if not served:
        return None
    entries = [entry for resource in served for entry in _legacy_entries(resource)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}


def aggregated_v2(resources: Sequence[Resource], *, core: bool) -> dict[str, Any]:
    """The APIGroupDiscoveryList of `/api` (core=True) or `/apis`, answered under AGGREGATED_CONTENT_TYPE."""
    names = [name for name in _group_names(resources) if (name == "") is core]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(resources, name) for name in names],
    }


def version_info() -> dict[str, str]:
    """The document of `GET /version`."""
    major, minor = (str(part) for part in KUBERNETES_VERSION)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{major}.{minor}.0+dns-api",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{machine}",
    }


def _group_names(resources: Iterable[Resource]) -> list[str]:
    """Built-in groups in a fixed order, then the others by name: kubectl takes the first match of a short name."""
    rank = {name: position for position, name in enumerate(_BUILT_IN_ORDER)}
    names = {resource.group for resource in resources}
    return sorted(names, key=lambda name: (rank.get(name, len(rank)), name))


def _versions(resources: Iterable[Resource]) -> list[str]:
    return sorted({resource.version for resource in resources}, key=version_priority)


def _sorted(resources: Iterable[Resource]) -> list[Resource]:
    return sorted(resources, key=lambda resource: resource.plural)


def _group(resources: Iterable[Resource], name: str) -> dict[str, Any]:
    versions = _versions(resource for resource in resources if resource.group == name)
    entries = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": entries, "preferredVersion": entries[0]}


def _legacy_entries(resource: Resource) -> list[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if "list" in resource.verbs:
        entry["storageVersionHash"] = _storage_version_hash(resource)
    subresources = [
        {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(verbs),
        }
        for name, verbs in _subresources(resource).items()
    ]
    return [entry, *subresources]


def _subresources(resource: Resource) -> dict[str, Sequence[str]]:
    """The verbs of each."""
    finalize = {"finalize": ("update",)} if resource.storage_key == ("", "namespaces") else {}
    return {**finalize, **({"status": _STATUS_VERBS} if resource.has_status else {})}


def _aggregated_group(resources: Iterable[Resource], name: str) -> dict[str, Any]:
    members = [resource for resource in resources if resource.group == name]
    versions = [
        {
            "version": version,
            "resources": [_aggregated_entry(each) for each in _sorted(r for r in members if r.version == version)],
            "freshness": "Current",
        }
        for version in _versions(members)
    ]
    return {"metadata": {"name": name} if name else {}, "versions": versions}


def _aggregated_entry(resource: Resource) -> dict[str, Any]:
    response_kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    entry: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": response_kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if subresources := _subresources(resource):
        entry["subresources"] = [
            {"subresource": name, "responseKind": response_kind, "verbs": list(verbs)}
            for name, verbs in subresources.items()
        ]
    return entry


def _storage_version_hash(resource: Resource) -> str:
    """An opaque token that changes when the stored form may have: eight bytes in base64, as Kubernetes makes it."""
    identity = f"{resource.group}/{resource.version}/{resource.kind}".encode()
    return base64.b64encode(hashlib.sha256(identity).digest()[:8]).decode()
