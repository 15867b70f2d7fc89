"""HostedZone objects as the controller remembers them: everything but their record sets.

Owns trimming at ingest; a manifest's or page's digest stands for what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kube.object import ObjectKey, ObjectMeta
from zonemodel.hosted_zone import HostedZoneSpec, HostedZoneStatus, ServerStatus


@dataclass(frozen=True, slots=True)
class Manifest:
    """The HostedZone that names a zone's snapshot; `spec.record_sets` is always empty here."""

    meta: ObjectMeta
    spec: HostedZoneSpec
    servers: tuple[ServerStatus, ...]

    @property
    def zone_key(self) -> ObjectKey:
        return self.meta.key


@dataclass(frozen=True, slots=True)
class PageObject:
    """A HostedZone that holds one page of a zone."""

    meta: ObjectMeta
    zone_key: ObjectKey
    digest: str


HostedObject = Manifest | PageObject


def parse_hosted_object(obj: Mapping[str, Any]) -> HostedObject:
    """Parse a HostedZone; raises ValueError when it is neither a manifest nor a page."""
    meta = ObjectMeta.parse(obj)
    spec: Mapping[str, Any] = obj.get("spec") or {}
    page = spec.get("page")
    if page is not None:
        return PageObject(meta, ObjectKey(meta.namespace, str(page["zone"])), str(page["digest"]))
    trimmed = {name: value for name, value in spec.items() if name != "recordSets"}
    status = HostedZoneStatus.model_validate(obj.get("status") or {})
    return Manifest(meta, HostedZoneSpec.model_validate(trimmed), status.servers)
