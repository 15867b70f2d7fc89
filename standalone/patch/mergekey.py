"""Which lists of built-in kinds strategic merge patch merges, and by which key.

Owns the tables that Kubernetes' types carry as `patchStrategy` and `patchMergeKey`. Never patches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from standalone.resource import Resource


@dataclass(frozen=True, slots=True)
class MergedList:
    """A list that is merged: by `key` for maps, by value when `key` is empty."""

    key: str
    items: MergeFields


@dataclass(frozen=True, slots=True)
class MergeFields:
    """The merged lists of one map, and the maps in it that have such lists."""

    lists: Mapping[str, MergedList] = field(default_factory=dict)
    maps: Mapping[str, MergeFields] = field(default_factory=dict)

    def below(self, name: str) -> MergeFields:
        return self.maps.get(name, NO_MERGED_LISTS)


NO_MERGED_LISTS: Final = MergeFields()


def _by(key: str, items: MergeFields = NO_MERGED_LISTS) -> MergedList:
    return MergedList(key, items)


_METADATA: Final = MergeFields({"ownerReferences": _by("uid"), "finalizers": _by("")})
_CONDITIONS: Final = MergeFields({"conditions": _by("type")})
_KINDS: Final[Mapping[tuple[str, str], MergeFields]] = {
    ("", "Namespace"): MergeFields(maps={"status": _CONDITIONS}),
    ("", "Service"): MergeFields(maps={"spec": MergeFields({"ports": _by("port")}), "status": _CONDITIONS}),
    ("", "ServiceAccount"): MergeFields({"secrets": _by("name")}),
    ("apiregistration.k8s.io", "APIService"): MergeFields(maps={"status": _CONDITIONS}),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): MergeFields(
        {"webhooks": _by("name", MergeFields({"matchConditions": _by("name")}))}
    ),
}


def merge_fields(resource: Resource) -> MergeFields:
    """Return the merged lists of a kind, those of its metadata included."""
    own = _KINDS.get((resource.group, resource.kind), NO_MERGED_LISTS)
    return MergeFields(own.lists, {**own.maps, "metadata": _METADATA})
