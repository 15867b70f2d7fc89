"""Withdrawals as they stand in a ledger: what the provider has to observe, and what it saw.

Part 0 of a ledger carries them. Results name everything that they were made for, so that none is ever read as that of another claim.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.record_withdrawal_waiver import DIGEST_PATTERN, ReservationRef
from kube.object import ObjectKey
from zonemodel.model import Model

WITHDRAWAL_KEYS: Final = ["claimNamespace", "claimName"]
WITHDRAWAL_LIMIT: Final = 256
SERVER_LIMIT: Final = 32


class AddressType(StrEnum):
    """The record types that point at addresses."""

    A = "A"
    AAAA = "AAAA"


class WaiverBinding(Model):
    """The waiver that releases a withdrawal, and exactly what it releases."""

    namespace: Annotated[str, Field(description="Namespace of the RecordWithdrawalWaiver.")]
    name: Annotated[str, Field(description="Name of the RecordWithdrawalWaiver.")]
    uid: Annotated[str, Field(description="UID of the RecordWithdrawalWaiver.")]
    spec_digest: Annotated[str, Field(pattern=DIGEST_PATTERN, description="Digest of the claim's spec that it waives.")]
    reservation_ref: Annotated[ReservationRef, Field(description="What holds the address until its release.")]


class UnitWithdrawal(Model):
    """One withdrawal to observe, as composed from its claim."""

    claim_namespace: Annotated[str, Field(description="Namespace of the RecordWithdrawal.")]
    claim_name: Annotated[str, Field(description="Name of the RecordWithdrawal.")]
    claim_uid: Annotated[str, Field(alias="claimUID", description="UID of the RecordWithdrawal.")]
    claim_generation: Annotated[int, Field(ge=0, description="Generation of the RecordWithdrawal that was composed.")]
    name: Annotated[str, Field(description="Name relative to the zone.")]
    type: Annotated[AddressType, Field(description="Type of the records that give such an address: A or AAAA.")]
    address: Annotated[str, Field(description="Address that the name must not point at.")]
    allowed: Annotated[bool, Field(description="False when the claim is not accepted: nothing is observed for it.")] = (
        True
    )
    waiver: Annotated[
        WaiverBinding | None, Field(description="The operator's release of the address, when there is one.")
    ] = None

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.claim_namespace, self.claim_name)


class ClassBinding(Model):
    """The ZoneClass that an observation was made under."""

    uid: Annotated[str, Field(description="UID of the ZoneClass.")]
    generation: Annotated[int, Field(ge=0, description="Generation of the ZoneClass.")]


class WithdrawalProviderData(Model):
    """What the provider saw, public and private."""

    data: Annotated[dict[str, Any] | None, Field(description="Public evidence, projected to the claim.")] = None
    state: Annotated[dict[str, Any] | None, Field(description="Private notes of the provider's controller.")] = None


class UnitWithdrawalStatus(Model):
    """The provider's result for one withdrawal."""

    claim_namespace: Annotated[str, Field(description="Namespace of the RecordWithdrawal.")]
    claim_name: Annotated[str, Field(description="Name of the RecordWithdrawal.")]
    claim_uid: Annotated[str, Field(alias="claimUID", description="UID of the RecordWithdrawal.")]
    claim_generation: Annotated[int, Field(ge=0, description="Generation of the RecordWithdrawal that was observed.")]
    zone_class: Annotated[ClassBinding, Field(description="The ZoneClass that the observation was made under.")]
    waiver: Annotated[WaiverBinding | None, Field(description="The waiver that was taken into account.")] = None
    conditions: Conditions = ()
    provider: Annotated[WithdrawalProviderData | None, Field(description="What the provider saw.")] = None

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.claim_namespace, self.claim_name)
