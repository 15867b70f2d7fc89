"""`ZoneClass`: how the zones of a kind are provided, and from which namespaces they may be claimed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.reference import LabelSelector, ProviderRef
from zonemodel.model import Model


class NamespacesFrom(StrEnum):
    """Which namespaces a grant covers."""

    SAME = "Same"
    SELECTOR = "Selector"
    ALL = "All"


class AllowedNamespaces(Model):
    """Namespaces whose Zones may use the class."""

    from_: Annotated[
        NamespacesFrom,
        Field(
            alias="from",
            description="Same for the class's own namespace, Selector for those with matching labels, All for every one.",
            json_schema_extra={"default": "Same"},
        ),
    ] = NamespacesFrom.SAME
    selector: Annotated[
        LabelSelector | None, Field(description="Labels of the namespaces; needed with from: Selector and only then.")
    ] = None


class AllowedZones(Model):
    """Who may claim zones of the class."""

    namespaces: Annotated[AllowedNamespaces, Field(description="Namespaces whose Zones may use the class.")] = (
        AllowedNamespaces()
    )


class IdentityRef(Model):
    """The identity that the provider acts with, in the class's namespace."""

    name: Annotated[str, Field(description="Name of the provider's identity object.")]


class ChangeGuard(Model):
    """How much of a zone may be deleted or altered in one step without a confirmation."""

    max_percent: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="Share of a zone's programmed record sets, 1 to 100, that one step may delete or change.",
            json_schema_extra={"default": 30},
        ),
    ] = 30
    min_records: Annotated[
        int,
        Field(
            ge=0,
            description="Zones with fewer programmed record sets than this are not guarded.",
            json_schema_extra={"default": 10},
        ),
    ] = 10


class ZoneClassSpec(Model):
    """What a class says."""

    provider: Annotated[
        ProviderRef, Field(description="Provider and version that the parameters are written for; immutable.")
    ]
    controller_name: Annotated[
        str,
        Field(description="Controller that serves the class, such as hosted.dns.appthrust.io/controller; immutable."),
    ]
    identity_ref: Annotated[
        IdentityRef | None,
        Field(description="Identity of the provider; required exactly when the Provider version has an identity kind."),
    ] = None
    parameters: Annotated[
        dict[str, Any] | None, Field(description="Settings of the provider; their schema stands in the Provider.")
    ] = None
    allowed_zones: Annotated[
        AllowedZones, Field(description="Who may claim zones of this class; the own namespace when left out.")
    ] = AllowedZones()
    change_guard: Annotated[
        ChangeGuard | None,
        Field(
            description=(
                "Holds a step that would delete or change too many of a zone's programmed record sets until the Zone carries "
                "the annotation dns.appthrust.io/confirm-change with the hash from its Programmed condition. No guard when left out."
            )
        ),
    ] = None


class ZoneClassStatus(Model):
    """What the provider's controller says of the class."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    conditions: Conditions = ()


ZoneClass = ApiObject[ZoneClassSpec, ZoneClassStatus]
parse_zone_class = parser(ZoneClassSpec, ZoneClassStatus)
