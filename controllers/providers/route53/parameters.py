"""ZoneClass parameters of the Route 53 provider, what makes them wrong, and the tags of a zone that follow from them.

Pure. The Provider's schema catches most faults at admission; `parse_parameters` is the controller's own word, which stands when admission
was not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import orjson
from pydantic import ConfigDict, Field, ValidationError

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import UnitZone
from controllers.core.providercontract.fault import Fault, FaultReason, describe, tell
from controllers.ledger.ownership import OwnershipParameter
from controllers.ledger.zone_policy import CreationPolicy, DeletionPolicy
from zonemodel.model import Model

PATH: Final = "spec.parameters"
TAGS_LIMIT: Final = 45
KEY_LIMIT_CHARS: Final = 128
VALUE_LIMIT_CHARS: Final = 256
AWS_PREFIX: Final = "aws:"

MANAGED_BY: Final = "appthrust.io/managed-by"
MANAGER: Final = "dns-api"
ZONE_NAMESPACE: Final = "appthrust.io/zone-namespace"
ZONE_NAME: Final = "appthrust.io/zone-name"
CLASS_NAMESPACE: Final = "appthrust.io/zone-class-namespace"
CLASS_NAME: Final = "appthrust.io/zone-class-name"
RESERVED_TAGS: Final = frozenset({MANAGED_BY, ZONE_NAMESPACE, ZONE_NAME, CLASS_NAMESPACE, CLASS_NAME})


class SameNamePolicy(StrEnum):
    """Whether a hosted zone may be created beside another one of its name."""

    ALLOW = "Allow"
    DENY = "Deny"


class Parameters(Model):
    """Parameters of a Route 53 ZoneClass."""

    model_config = ConfigDict(extra="forbid")

    zone_creation_policy: Annotated[
        CreationPolicy,
        Field(
            description="Whether dns-api may create a public hosted zone for a Zone that adopts none: Create (the default) or Deny.",
        ),
    ] = CreationPolicy.CREATE
    zone_deletion_policy: Annotated[
        DeletionPolicy,
        Field(
            description="What becomes of the hosted zone when its Zone is deleted: Retain (the default) leaves it, Delete deletes it.",
        ),
    ] = DeletionPolicy.RETAIN
    same_name_zone_policy: Annotated[
        SameNamePolicy,
        Field(
            description=(
                "Whether dns-api may create a hosted zone when the account has a public one of that name already: "
                "Deny (the default) or Allow."
            ),
        ),
    ] = SameNamePolicy.DENY
    tags: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            max_length=TAGS_LIMIT,
            description="Tags to put on created hosted zones, beside those that dns-api keeps for itself.",
            json_schema_extra={
                "additionalProperties": {
                    "type": "string",
                    "maxLength": VALUE_LIMIT_CHARS,
                    "description": "Value of the tag with this key.",
                }
            },
        ),
    ]
    ownership: Annotated[
        OwnershipParameter, Field(description="Ownership in zones that several programs write to; none when left out.")
    ] = OwnershipParameter()


def class_parameters(zone_class: ZoneClass) -> Parameters | Verdict:
    """Return the parameters of a class, or the verdict against them."""
    found = parse_parameters(zone_class.spec.parameters)
    if not isinstance(found, Parameters):
        return refused(Reason.INVALID_PARAMETERS, tell(found))
    reserved = sorted(RESERVED_TAGS & found.tags.keys())
    if reserved:
        message = f"{PATH}.tags: found {', '.join(reserved)}, which dns-api keeps for itself; allowed: other keys."
        return refused(Reason.DENIED_BY_POLICY, message)
    if fault := found.ownership.fault:
        return refused(Reason.INVALID_PARAMETERS, f"{PATH}.ownership.{fault}.")
    return found


def parse_parameters(payload: Mapping[str, Any] | None) -> Parameters | tuple[Fault, ...]:
    """Return the parameters, or every fault of the payload; a null counts as left out."""
    given = {key: value for key, value in (payload or {}).items() if value is not None}
    try:
        parameters = Parameters.model_validate_json(orjson.dumps(given), strict=True)
    except ValidationError as error:
        return tuple(_fault(".".join(map(str, each["loc"])), each["input"]) for each in error.errors(include_url=False))
    return tuple(_tag_faults(parameters.tags)) or parameters


def wanted_tags(parameters: Parameters, zone: UnitZone) -> dict[str, str]:
    """Return the tags of a created hosted zone: whose it is, and what its class asks for."""
    zone_class = zone.zone_class_ref
    own = {CLASS_NAMESPACE: zone_class.namespace, CLASS_NAME: zone_class.name}
    return {**parameters.tags, **owner_tags(zone), **own}


def owner_tags(zone: UnitZone) -> dict[str, str]:
    """Return the tags that say which Zone a hosted zone belongs to."""
    return {MANAGED_BY: MANAGER, ZONE_NAMESPACE: zone.ref.namespace, ZONE_NAME: zone.ref.name}


def _fault(field: str, found: object) -> Fault:
    allowed = {
        "zoneCreationPolicy": "Create or Deny",
        "zoneDeletionPolicy": "Delete or Retain",
        "sameNameZonePolicy": "Allow or Deny",
        "tags": f"at most {TAGS_LIMIT} tags, each with a text as its value",
        "ownership": "mode Disabled, or mode Snapshot with an ownerID of printable text without commas",
    }
    name = field.partition(".")[0]
    known = name in allowed
    words = allowed.get(name, "nothing, since there is no such parameter")
    return Fault(f"{PATH}.{field}", describe(found), words, FaultReason.INVALID if known else FaultReason.FORBIDDEN)


def _tag_faults(tags: Mapping[str, str]) -> Iterator[Fault]:
    for key, value in tags.items():
        if not 1 <= len(key) <= KEY_LIMIT_CHARS or key.lower().startswith(AWS_PREFIX):
            allowed = f"keys of 1 to {KEY_LIMIT_CHARS} characters that do not begin with {AWS_PREFIX}"
            yield Fault(f"{PATH}.tags", describe(key), allowed)
        if len(value) > VALUE_LIMIT_CHARS:
            yield Fault(f"{PATH}.tags.{key[:40]}", describe(value), f"at most {VALUE_LIMIT_CHARS} characters")
