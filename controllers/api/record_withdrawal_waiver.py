"""`RecordWithdrawalWaiver`: an operator's written word that an address may be released before its withdrawal is proven."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.group import GROUP, VERSION
from controllers.api.object import ApiObject, parser
from kube.resource import ResourceRef
from zonemodel.model import Model

RECORD_WITHDRAWAL_WAIVERS: Final = ResourceRef(GROUP, VERSION, "recordwithdrawalwaivers", "RecordWithdrawalWaiver")
DIGEST_PATTERN: Final = r"^sha256:[0-9a-f]{64}$"
REASON_LIMIT_CHARS: Final = 1024


class WithdrawalClaimRef(Model):
    """One RecordWithdrawal of the waiver's own namespace, and no later one of the same name."""

    name: Annotated[str, Field(description="Name of the RecordWithdrawal.")]
    uid: Annotated[str, Field(description="UID of the RecordWithdrawal.")]


class ReservationRef(Model):
    """The object that holds the address at whoever manages addresses; nobody here looks it up."""

    group: Annotated[str, Field(description="API group of the object; empty for the core group.")]
    kind: Annotated[str, Field(description="Kind of the object.")]
    namespace: Annotated[str | None, Field(description="Namespace of the object, if it has one.")] = None
    name: Annotated[str, Field(description="Name of the object.")]
    uid: Annotated[str, Field(description="UID of the object.")]


class RecordWithdrawalWaiverSpec(Model):
    """What a waiver releases, and why; all of it is immutable."""

    claim_ref: Annotated[WithdrawalClaimRef, Field(description="The RecordWithdrawal that is waived; immutable.")]
    spec_digest: Annotated[
        str,
        Field(
            pattern=DIGEST_PATTERN,
            description="Digest as sha256: and hex over the claim's spec as JSON with sorted keys and no spaces; immutable.",
        ),
    ]
    address: Annotated[str, Field(description="Address of the claim, in canonical form; immutable.")]
    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=REASON_LIMIT_CHARS,
            description="Why the address is released all the same; immutable.",
        ),
    ]
    reservation_ref: Annotated[
        ReservationRef, Field(description="What holds the address until its release; immutable.")
    ]


class RecordWithdrawalWaiverStatus(Model):
    """What is so with the waiver."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    conditions: Conditions = ()


RecordWithdrawalWaiver = ApiObject[RecordWithdrawalWaiverSpec, RecordWithdrawalWaiverStatus]
parse_record_withdrawal_waiver = parser(RecordWithdrawalWaiverSpec, RecordWithdrawalWaiverStatus)
