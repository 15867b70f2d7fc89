"""Ownership as ZoneClasses ask for it, and what RecordSets are told of it: the words that providers share.

Owns the parameter and the verdicts. Never asks a zone: the provider reads and writes it, in its own order.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import ConfigDict, Field

from controllers.api.provider import Rule
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from ownership.error import AmbiguousError, FormatError, OwnershipError, RefusedError, SnapshotTooLargeError
from ownership.naming import OwnerID, check_owner, quoted
from ownership.view import Holder, Ownership, ZoneOwnership
from zonemodel.model import Model

OWNER_LIMIT_CHARS: Final = 100
OWNER_PATTERN: Final = "^[ -+\\--~]+$"
"""Printable ASCII without commas, which markers are separated by."""


_ASKED: Final = "has(self.spec.parameters) && has(self.spec.parameters.ownership)"
OWNERSHIP_RULE: Final = Rule(
    rule=f"!({_ASKED} && has(self.spec.parameters.ownership.mode) && self.spec.parameters.ownership.mode == 'Snapshot')"
    " || has(self.spec.parameters.ownership.ownerID)",
    message="spec.parameters.ownership.ownerID: a name, with mode: Snapshot",
)
"""What a ZoneClass has to keep to where `ownership` is one of its parameters."""


RESERVED: Final = refused(
    Reason.PROVIDER_INVALID_REQUEST,
    "Records of this name tell who owns what in the zone; no RecordSet writes or adopts them.",
)


class OwnershipMode(StrEnum):
    """Whether the zone itself tells who owns its records."""

    DISABLED = "Disabled"
    SNAPSHOT = "Snapshot"


class OwnershipParameter(Model):
    """Ownership in zones that several programs write to."""

    model_config = ConfigDict(extra="forbid")

    mode: Annotated[
        OwnershipMode,
        Field(
            description="Snapshot: the zone has TXT records that tell who owns which records. Disabled: it has none.",
            json_schema_extra={"default": "Disabled"},
        ),
    ] = OwnershipMode.DISABLED
    owner_id: Annotated[
        str | None,
        Field(
            alias="ownerID",
            description="Name that records are claimed under, the same for nobody else; needed with mode: Snapshot.",
            json_schema_extra={"pattern": OWNER_PATTERN, "maxLength": OWNER_LIMIT_CHARS},
        ),
    ] = None

    @property
    def owner(self) -> OwnerID | None:
        """Who claims, None where ownership is off."""
        if self.mode is not OwnershipMode.SNAPSHOT or not self.owner_id:
            return None
        return OwnerID(self.owner_id)

    @property
    def fault(self) -> str:
        """What keeps ownership from being on as it is asked for, beginning with the field; empty when nothing does."""
        if self.mode is not OwnershipMode.SNAPSHOT:
            return ""
        if not self.owner_id:
            return "ownerID: found nothing, allowed with mode: Snapshot is a name"
        try:
            check_owner(self.owner_id)
        except FormatError as error:
            return f"ownerID: {error}"
        return ""


def foreign_verdict(what: str, ownership: Ownership, otherwise: Verdict) -> Verdict:
    """Return what is told of records that stand in the way: whose they are, or the provider's own words for nobody's."""
    match ownership.holder:
        case Holder.OTHER:
            owners = ", ".join(map(quoted, ownership.others))
            return refused(Reason.PROVIDER_CONFLICT, f"{what} belongs to {owners} by the zone's own records.")
        case Holder.AMBIGUOUS:
            return refused(Reason.PROVIDER_CONFLICT, f"Who owns {what} cannot be told: {ownership.reason}.")
    return otherwise


def frozen_verdict(zone: ZoneOwnership) -> Verdict | None:
    """Return why nothing may be deleted in the zone, None when everything of one's own may be."""
    if zone.may_delete:
        return None
    faults = "; ".join(map(str, zone.state.faults))
    return refused(
        Reason.PROVIDER_CONFLICT, f"Who owns what in the zone cannot be told, so nothing is deleted: {faults}."
    )


def kept_verdict(reason: str) -> Verdict:
    """Return what is told of records that have to stay for the sake of others."""
    return refused(Reason.PROVIDER_CONFLICT, f"It is not deleted: {reason}.")


def unclaimed_verdict(error: OwnershipError) -> Verdict:
    """Return what is told of a record set whose claims could not be read or written; nothing of it was changed."""
    message = f"Its ownership is not on record in the zone: {error}."
    match error:
        case RefusedError():
            return refused(Reason.PROVIDER_ACCESS_DENIED, message)
        case AmbiguousError():
            return refused(Reason.PROVIDER_CONFLICT, message)
        case SnapshotTooLargeError() | FormatError():
            return refused(Reason.PROVIDER_INVALID_REQUEST, message)
    return waiting(Reason.PROVIDER_UNAVAILABLE, message)
