"""What Zones and RecordSets say to the Route 53 provider alone: adoption and alias targets.

Pure. Owns the types and their reading from the ledger. Admission has judged them by the Provider's schemas; what cannot be read here is
told to the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, ValidationError

from zonemodel.model import Model

HOSTED_ZONE_ID: Final = "^Z[A-Z0-9]{1,31}$"
DNS_NAME: Final = "^[!-~]+$"
DNS_NAME_LIMIT_CHARS: Final = 1024


class Payload(Model):
    """A payload: a field that it does not know is an error, since it would be without effect."""

    model_config = ConfigDict(extra="forbid")


class ZoneAdoption(Payload):
    """An existing hosted zone to take over."""

    hosted_zone_id: Annotated[
        str,
        Field(
            pattern=HOSTED_ZONE_ID,
            description="ID of the existing public hosted zone to take over, such as Z10219583PPQMV0U1KGN2: no path, no ARN.",
        ),
    ]


class ZoneData(Model):
    """Public facts about a hosted zone."""

    hosted_zone_id: Annotated[
        str, Field(alias="hostedZoneID", description="ID of the Route 53 hosted zone that is managed for this Zone.")
    ]


class AliasTarget(Payload):
    """What an alias record points to."""

    dns_name: Annotated[
        str,
        Field(
            pattern=DNS_NAME,
            max_length=DNS_NAME_LIMIT_CHARS,
            description="DNS name of the alias target; write it with its last dot.",
        ),
    ]
    hosted_zone_id: Annotated[
        str,
        Field(
            alias="hostedZoneID",
            pattern=HOSTED_ZONE_ID,
            description=(
                "Hosted zone ID of the resource that the alias points to, such as the CanonicalHostedZoneId of an Elastic "
                "Load Balancer; not the one of the Zone, unless the target is a record in it."
            ),
        ),
    ]
    evaluate_target_health: Annotated[
        bool, Field(description="Whether Route 53 answers with the alias only while its target is healthy.")
    ]


class Options(Payload):
    """Settings of a record set."""

    alias: Annotated[
        AliasTarget | None,
        Field(
            description="Target of a Route 53 alias in an A or AAAA RecordSet, which then has neither TTL nor addresses."
        ),
    ] = None


class RecordAdoption(Payload):
    """Whether an existing record set may be taken over."""

    enabled: Annotated[
        bool,
        Field(
            description="Whether dns-api may take over an existing record set that has this name, type, TTL and these values."
        ),
    ] = False


def adopted_zone(payload: Mapping[str, Any] | None) -> str | None:
    """Return the ID of the hosted zone to take over, None when there is none. Raises ValueError, naming the field."""
    if not payload:
        return None
    try:
        return ZoneAdoption.model_validate(payload, strict=True).hosted_zone_id
    except ValidationError as error:
        raise ValueError(_first(error, "adoption")) from error


def alias_target(payload: Mapping[str, Any] | None) -> AliasTarget | None:
    """Return the alias target of a record set's options, None when it has none. Raises ValueError, naming the field."""
    if not payload:
        return None
    try:
        return Options.model_validate(payload, strict=True).alias
    except ValidationError as error:
        raise ValueError(_first(error, "options")) from error


def may_adopt(payload: Mapping[str, Any] | None) -> bool:
    """Say whether a record set may be taken over; in doubt it may not."""
    return bool(payload) and dict(payload or {}) == {"enabled": True}


def _first(error: ValidationError, payload: str) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    field = ".".join((payload, *map(str, fault["loc"])))
    return f"{field}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
