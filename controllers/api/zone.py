"""`Zone`: the claim to a DNS zone."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.reference import LabelSelector, NamespacedRef, ProviderRef
from zonemodel.model import Model

ATOMIC = {"x-kubernetes-list-type": "atomic"}


class ProviderData(Model):
    """What the provider tells about the object for everybody to read."""

    data: Annotated[
        dict[str, Any] | None, Field(description="Public facts about the object; their schema stands in the Provider.")
    ] = None


class GrantNamespaces(Model):
    """Namespaces that a grant speaks to."""

    selector: Annotated[LabelSelector, Field(description="Labels of the namespaces; an empty selector is refused.")]


class NamePattern(Model):
    """Record names that a grant covers."""

    pattern: Annotated[
        str, Field(description="RE2 expression that the whole relative name must match: @, *, *.foo or www.")
    ]


class RecordGrant(Model):
    """Names and types of record sets that a grant covers."""

    name: Annotated[NamePattern, Field(description="Names that the grant covers.")]
    types: Annotated[
        tuple[str, ...], Field(description="Record types that the grant covers.", json_schema_extra=ATOMIC)
    ]


class AllowedRecordSets(Model):
    """One grant to RecordSets of other namespaces; grants are alternatives."""

    namespaces: Annotated[GrantNamespaces, Field(description="Namespaces that may attach record sets.")]
    records: Annotated[
        tuple[RecordGrant, ...],
        Field(description="Names and types they may attach, as alternatives.", json_schema_extra=ATOMIC),
    ]


class ZoneSpec(Model):
    """What a Zone claims."""

    domain_name: Annotated[
        str, Field(description="Apex of the zone: lowercase ASCII, no trailing dot, xn-- for IDN; immutable.")
    ]
    zone_class_ref: Annotated[NamespacedRef, Field(description="ZoneClass that provides the zone; immutable.")]
    provider: Annotated[
        ProviderRef,
        Field(description="Provider and version that this claim is written for, as in its class; immutable."),
    ]
    adoption: Annotated[
        dict[str, Any] | None,
        Field(description="Existing zone of the provider to take over; its schema stands in the Provider."),
    ] = None
    allowed_record_sets: Annotated[
        tuple[AllowedRecordSets, ...],
        Field(
            description="Grants to RecordSets of other namespaces; the own namespace needs none.",
            json_schema_extra=ATOMIC,
        ),
    ] = ()


class ZoneStatus(Model):
    """What is so with the zone."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    conditions: Conditions = ()
    name_servers: Annotated[
        tuple[str, ...],
        Field(
            description="Names of the zone's authoritative servers, to be delegated to.",
            json_schema_extra={"x-kubernetes-list-type": "set"},
        ),
    ] = ()
    provider: Annotated[ProviderData | None, Field(description="Provider's public facts about the zone.")] = None


Zone = ApiObject[ZoneSpec, ZoneStatus]
parse_zone = parser(ZoneSpec, ZoneStatus)
