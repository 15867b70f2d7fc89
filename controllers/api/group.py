"""The API group of the core kinds and the names that stand in annotations, labels and finalizers."""

from __future__ import annotations

from typing import Final

from kube.resource import ResourceRef
from zonemodel.hosted_zone import GROUP as HOSTED_GROUP
from zonemodel.hosted_zone import KIND as HOSTED_KIND
from zonemodel.hosted_zone import PLURAL as HOSTED_PLURAL
from zonemodel.hosted_zone import VERSION as HOSTED_VERSION

GROUP: Final = "dns.appthrust.io"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"

PROVIDERS: Final = ResourceRef(GROUP, VERSION, "providers", "Provider", namespaced=False)
ZONE_CLASSES: Final = ResourceRef(GROUP, VERSION, "zoneclasses", "ZoneClass")
ZONES: Final = ResourceRef(GROUP, VERSION, "zones", "Zone")
RECORD_SETS: Final = ResourceRef(GROUP, VERSION, "recordsets", "RecordSet")
ZONE_UNITS: Final = ResourceRef(GROUP, VERSION, "zoneunits", "ZoneUnit")
HOSTED_ZONES: Final = ResourceRef(HOSTED_GROUP, HOSTED_VERSION, HOSTED_PLURAL, HOSTED_KIND)

NAMESPACES: Final = ResourceRef("", "v1", "namespaces", "Namespace", namespaced=False)
ENDPOINT_SLICES: Final = ResourceRef("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
SECRETS: Final = ResourceRef("", "v1", "secrets", "Secret")
LEASES: Final = ResourceRef("coordination.k8s.io", "v1", "leases", "Lease")

CORE_FINALIZER: Final = f"{GROUP}/core"
PROVIDER_FINALIZER: Final = f"{GROUP}/provider"
RECONCILE_REQUEST: Final = f"{GROUP}/reconcile-request"
DESCRIPTION: Final = f"{GROUP}/description"
CONFIRM_CHANGE: Final = f"{GROUP}/confirm-change"
