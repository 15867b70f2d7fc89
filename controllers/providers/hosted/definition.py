"""The CustomResourceDefinition of HostedZone."""

from __future__ import annotations

from typing import Final

from controllers.api.crd import AGE, Column, Kind
from controllers.api.group import HOSTED_ZONES
from zonemodel.hosted_zone import HostedZoneSpec, HostedZoneStatus

HOSTED_ZONE: Final = Kind(
    HOSTED_ZONES,
    "Snapshot of a zone for the authoritative name servers, or one page of it. Written by controllers and servers only.",
    HostedZoneSpec,
    HostedZoneStatus,
    (
        Column("Domain", ".spec.domainName"),
        Column("Serial", ".spec.serial", "integer"),
        Column("Digest", ".spec.digest", wide=True),
        Column("Servers", ".status.servers[*].name", wide=True),
        AGE,
    ),
    immutable=("page.zone", "page.digest"),
)
