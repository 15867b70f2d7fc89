"""What claims, classes and results say about Cloudflare: the payloads whose schemas stand in the Provider.

Owns the types and their words. What makes a payload wrong beyond its schema is said in `payload_rule`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from controllers.ledger.ownership import OwnershipParameter
from controllers.ledger.zone_policy import CreationPolicy, DeletionPolicy
from zonemodel.model import Model

ID_PATTERN: Final = "^[0-9a-f]{32}$"
COMMENT_LIMIT: Final = 100
TAG_LIMIT: Final = 20
TAG_VALUE_LIMIT: Final = 100
TAG_PATTERN: Final = "^[A-Za-z0-9_-]{1,32}:[^\\r\\n]{0,100}$"
LINE_PATTERN: Final = "^[^\\r\\n]*$"
IDS_LIMIT: Final = 1000


class Payload(Model):
    """A part of a payload: a field that it does not know is an error, since it would be without effect."""

    model_config = ConfigDict(extra="forbid")


class Parameters(Payload):
    """Settings of a Cloudflare ZoneClass."""

    zone_creation_policy: Annotated[
        CreationPolicy,
        Field(
            description="Create: a zone is created at Cloudflare when a Zone adopts none. Deny: Zones have to adopt one.",
            json_schema_extra={"default": "Create"},
        ),
    ] = CreationPolicy.CREATE
    zone_deletion_policy: Annotated[
        DeletionPolicy,
        Field(
            description="Retain: the zone stays at Cloudflare when its Zone is deleted. Delete: it is deleted with it.",
            json_schema_extra={"default": "Retain"},
        ),
    ] = DeletionPolicy.RETAIN
    ownership: Annotated[
        OwnershipParameter, Field(description="Ownership in zones that several programs write to; none when left out.")
    ] = OwnershipParameter()


class ZoneAdoption(Payload):
    """An existing zone to take over."""

    zone_id: Annotated[
        str,
        Field(
            alias="zoneID",
            description="Identifier of the zone: 32 lowercase hexadecimal digits, shown in its overview at Cloudflare.",
            json_schema_extra={"pattern": ID_PATTERN},
        ),
    ]


class AutoTtl(StrEnum):
    """A time to live that Cloudflare chooses."""

    AUTO = "Auto"


class Options(Payload):
    """Settings of a RecordSet at Cloudflare."""

    ttl: Annotated[
        AutoTtl | None,
        Field(description="Auto: Cloudflare chooses the time to live, which spec.ttl then must not."),
    ] = None
    proxied: Annotated[
        bool | None,
        Field(description="Whether traffic goes through Cloudflare; for A, AAAA and CNAME, and with ttl: Auto only."),
    ] = None
    comment: Annotated[
        str | None,
        Field(
            description="Comment on each record, one line of at most 100 characters. Left alone when left out.",
            json_schema_extra={"maxLength": COMMENT_LIMIT, "pattern": LINE_PATTERN},
        ),
    ] = None
    tags: Annotated[
        tuple[str, ...] | None,
        Field(
            description="Tags of each record, at most 20, each as name:value. Left alone when left out.",
            json_schema_extra={
                "maxItems": TAG_LIMIT,
                "items": {
                    "type": "string",
                    "description": "A tag as name:value; the name has 1 to 32 letters, digits, - or _, the value at most 100.",
                    "pattern": TAG_PATTERN,
                    "maxLength": 133,
                },
                "x-kubernetes-list-type": "atomic",
            },
        ),
    ] = None


def _ids(description: str) -> dict[str, Any]:
    return {
        "minItems": 1,
        "maxItems": IDS_LIMIT,
        "uniqueItems": True,
        "items": {"type": "string", "description": description, "pattern": ID_PATTERN},
        "x-kubernetes-list-type": "set",
    }


class RecordAdoption(Payload):
    """Existing records to take over."""

    record_ids: Annotated[
        tuple[str, ...],
        Field(
            alias="recordIDs",
            description="Identifiers of all records of the name and type; they must say what the RecordSet says.",
            json_schema_extra=_ids("Identifier of a record: 32 lowercase hexadecimal digits."),
        ),
    ]


class ZoneFacts(Model):
    """The zone at Cloudflare."""

    id: Annotated[str, Field(description="Identifier of the zone, to be used in spec.adoption.")]
    status: Annotated[
        str, Field(description="State that Cloudflare tells: pending until the domain is delegated to it.")
    ]
    type: Annotated[str, Field(description="Type of the zone; full means that Cloudflare is authoritative for it.")]


class ZoneData(Model):
    """Public facts about a zone at Cloudflare."""

    zone: Annotated[ZoneFacts, Field(description="The zone at Cloudflare.")]


class RecordSetData(Model):
    """Public facts about the records of a RecordSet at Cloudflare."""

    record_ids: Annotated[
        tuple[str, ...],
        Field(
            alias="recordIDs",
            description="Identifiers of the records, to be used in spec.adoption.",
            json_schema_extra={
                "items": {"type": "string", "description": "Identifier of a record.", "pattern": ID_PATTERN},
                "x-kubernetes-list-type": "set",
            },
        ),
    ]
