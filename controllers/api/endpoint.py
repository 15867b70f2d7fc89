"""Endpoint kinds (group endpoint.dns.appthrust.io): names to publish with what they point at, and who converts them for a provider.

Owns the types, labels, annotations and reasons. Knows no provider.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.reference import FullRef, ProviderRef
from kube.resource import ResourceRef
from zonemodel.model import Model

ENDPOINT_GROUP: Final = "endpoint.dns.appthrust.io"
ENDPOINT_VERSION: Final = "v1alpha1"

ENDPOINT_RECORD_SETS: Final = ResourceRef(ENDPOINT_GROUP, ENDPOINT_VERSION, "endpointrecordsets", "EndpointRecordSet")
ENDPOINT_PROVIDER_CAPABILITIES: Final = ResourceRef(
    ENDPOINT_GROUP, ENDPOINT_VERSION, "endpointprovidercapabilities", "EndpointProviderCapability", namespaced=False
)

MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
ENDPOINT_MANAGER: Final = "dns-api-endpoint"
"""Field manager of generated RecordSets, and the value of their managed-by label."""
OWNER_NAMESPACE_LABEL: Final = f"{ENDPOINT_GROUP}/endpointrecordset-namespace"
OWNER_NAME_LABEL: Final = f"{ENDPOINT_GROUP}/endpointrecordset-name"
HOSTNAME_ANNOTATION: Final = f"{ENDPOINT_GROUP}/hostname"
"""On a generated RecordSet: the hostname that it was made for."""
ADOPTION_ANNOTATION: Final = f"{ENDPOINT_GROUP}/route53-recordset-adoption"
"""On a Zone, with the value `enabled`: generated RecordSets take records over that are there already."""
RETIREMENT_ANNOTATION: Final = f"{ENDPOINT_GROUP}/retirement"
"""On a Zone, a source or an EndpointRecordSet, with the value `disabled`: addresses are given up without a RecordWithdrawal."""
LEFT_OUT_ANNOTATION: Final = f"{ENDPOINT_GROUP}/left-out"
"""On an EndpointRecordSet: hostnames that its source did not put in, with reason and message, as JSON."""

HOSTNAMES_LIMIT: Final = 500
TARGETS_LIMIT: Final = 100
LABEL_LIMIT_CHARS: Final = 63
"""Names of EndpointRecordSets stand in a label of what is made for them, so they are no longer than a label's value."""

_SET: Final = {"x-kubernetes-list-type": "set"}
_ATOMIC: Final = {"x-kubernetes-list-type": "atomic"}
RESOLVED: Final = "Resolved"


class TargetType(StrEnum):
    """What an endpoint is reached by."""

    HOSTNAME = "Hostname"
    IP_ADDRESS = "IPAddress"


class EndpointReason(StrEnum):
    """Reasons of the condition Resolved."""

    RESOLVED = "Resolved"
    HOSTNAMES_NOT_RESOLVED = "HostnamesNotResolved"
    INVALID_HOSTNAME = "InvalidHostname"
    TOO_MANY_HOSTNAMES = "TooManyHostnames"
    ROUTE_NOT_ACCEPTED = "RouteNotAccepted"
    NO_MATCHING_LISTENER = "NoMatchingListener"
    UNSUPPORTED_ANNOTATION = "UnsupportedAnnotation"
    ZONE_NOT_FOUND = "ZoneNotFound"
    ZONE_DELETING = "ZoneDeleting"
    ZONE_NOT_ACCEPTED = "ZoneNotAccepted"
    NAMESPACE_NOT_RESOLVED = "NamespaceNotResolved"
    NOT_ALLOWED_BY_ZONE = "NotAllowedByZone"
    RECORD_SET_NOT_OWNED = "RecordSetNotOwned"
    RECORD_SET_REJECTED = "RecordSetRejected"
    CAPABILITY_CONFLICT = "EndpointProviderCapabilityConflict"
    CONVERSION_UNSUPPORTED = "EndpointRecordSetConversionUnsupported"
    CONVERSION_UNAVAILABLE = "EndpointRecordSetConversionUnavailable"
    CONVERSION_DENIED = "EndpointRecordSetConversionDenied"
    CONVERSION_INVALID = "EndpointRecordSetConversionInvalid"
    CONVERSION_FAILED = "EndpointRecordSetConversionFailed"


UNKNOWN_REASONS: Final = frozenset({EndpointReason.CONVERSION_UNAVAILABLE, EndpointReason.NAMESPACE_NOT_RESOLVED})
"""Reasons that stand with Unknown: what is missing may come by itself. All others but Resolved stand with False."""


class Target(Model):
    """What a hostname points at."""

    type: Annotated[TargetType, Field(description="Hostname or IPAddress.")]
    value: Annotated[
        str,
        Field(
            min_length=1,
            max_length=253,
            description="Canonical address, or a lowercase name without the trailing dot.",
        ),
    ]


class EndpointRecordSetSpec(Model):
    """Names and the targets that all of them point at."""

    hostnames: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=HOSTNAMES_LIMIT,
            description="Absolute names: lowercase, no trailing dot; the first label may be *.",
            json_schema_extra=_SET,
        ),
    ]
    targets: Annotated[
        tuple[Target, ...],
        Field(
            min_length=1,
            max_length=TARGETS_LIMIT,
            description="Addresses, or one name.",
            json_schema_extra=_ATOMIC,
        ),
    ]


class HostnameZone(Model):
    """The zone that a hostname was found to belong to."""

    ref: Annotated[FullRef, Field(description="The Zone.")]
    domain_name: Annotated[str, Field(description="Apex of the zone.")]
    provider: Annotated[ProviderRef, Field(description="Provider of the zone.")]


class HostnameRecordSet(Model):
    """One RecordSet that was made for a hostname."""

    ref: Annotated[FullRef, Field(description="The RecordSet.")]
    name: Annotated[str, Field(description="Name relative to the zone.")]
    type: Annotated[str, Field(description="Record type.")]
    fragment: Annotated[int, Field(ge=0, description="Place of its content among the fragments of the conversion.")]
    conditions: Conditions = ()


class HostnameStatus(Model):
    """What became of one hostname."""

    hostname: Annotated[str, Field(description="The hostname.")]
    zone: Annotated[HostnameZone | None, Field(description="Zone that it belongs to.")] = None
    record_sets: Annotated[
        tuple[HostnameRecordSet, ...],
        Field(description="RecordSets that were made for it.", json_schema_extra=_ATOMIC),
    ] = ()
    conditions: Conditions = ()


class EndpointRecordSetStatus(Model):
    """What became of the hostnames."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    hostname_count: Annotated[int | None, Field(ge=0, description="How many hostnames the spec has.")] = None
    hostnames: Annotated[
        tuple[HostnameStatus, ...],
        Field(
            description="Each hostname, those that were left out too.",
            json_schema_extra=_ATOMIC,
        ),
    ] = ()
    conditions: Conditions = ()


class ConversionResource(Model):
    """The API that converts."""

    group: Annotated[str, Field(min_length=1, max_length=253, description="Group of the conversion API.")]
    version: Annotated[
        str | None, Field(max_length=63, description="Version of the conversion API; that of the provider by default.")
    ] = None
    resource: Annotated[str, Field(min_length=1, max_length=63, description="Plural name of the resource.")]


class EndpointProviderCapabilitySpec(Model):
    """Who converts endpoints for a provider version."""

    provider: Annotated[ProviderRef, Field(description="Provider and version that zones name.")]
    conversion: Annotated[ConversionResource, Field(description="API that endpoints are converted by.")]


class NoStatus(Model):
    """Capabilities have no status."""


EndpointRecordSet = ApiObject[EndpointRecordSetSpec, EndpointRecordSetStatus]
parse_endpoint_record_set = parser(EndpointRecordSetSpec, EndpointRecordSetStatus)
EndpointProviderCapability = ApiObject[EndpointProviderCapabilitySpec, NoStatus]
parse_endpoint_provider_capability = parser(EndpointProviderCapabilitySpec, NoStatus)
