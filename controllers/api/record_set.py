"""`RecordSet`: the claim to the records of one name and type in a zone."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.reference import FullRef, NamespacedRef, ProviderRef
from controllers.api.zone import ProviderData
from zonemodel.model import Model
from zonemodel.record import TTL_MAX_S, RecordBodies, RecordType


class RecordSetSpec(RecordBodies):
    """What a RecordSet claims: identity, TTL and exactly one body."""

    zone_ref: Annotated[NamespacedRef, Field(description="Zone that the records belong to; immutable.")]
    provider: Annotated[
        ProviderRef,
        Field(description="Provider and version that this claim is written for, as in its zone; immutable."),
    ]
    type: Annotated[RecordType, Field(description="Record type: A, AAAA, TXT, CNAME, MX, CAA or NS; immutable.")]
    name: Annotated[
        str, Field(description="Name relative to the zone: @ for the apex, *, *.rel or rel; lowercase; immutable.")
    ]
    ttl: Annotated[int | None, Field(ge=1, le=TTL_MAX_S, description="Time to live in seconds.")] = None
    options: Annotated[
        dict[str, Any] | None, Field(description="Settings of the provider; their schema stands in the Provider.")
    ] = None
    adoption: Annotated[
        dict[str, Any] | None,
        Field(description="Existing records of the provider to take over; its schema stands in the Provider."),
    ] = None


class RecordSetZoneStatus(Model):
    """The zone that the record set was composed into."""

    ref: Annotated[FullRef, Field(description="The Zone.")]


class RecordSetStatus(Model):
    """What is so with the records."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    zone: Annotated[RecordSetZoneStatus | None, Field(description="Zone that the record set belongs to.")] = None
    provider: Annotated[ProviderData | None, Field(description="Provider's public facts about the records.")] = None
    conditions: Conditions = ()


RecordSet = ApiObject[RecordSetSpec, RecordSetStatus]
parse_record_set = parser(RecordSetSpec, RecordSetStatus)
