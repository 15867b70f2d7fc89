"""`CloudflareIdentity`: an API token in a Secret, and the one account that it is for.

Owns the kind, its reasons and what zones may conclude from its status. The token stands in no field of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from controllers.api.condition import ConditionStatus, ConditionType
from controllers.api.crd import ACCEPTED, STANDING, Column, Kind, condition_column
from controllers.api.object import ApiObject, parser
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED as FINE
from controllers.api.verdict import Verdict, refused, waiting
from controllers.ledger.identity import READY, IdentityStatus, current
from controllers.providers.cloudflare.binding import GROUP
from kube.object import ObjectKey
from kube.resource import ResourceRef
from zonemodel.model import Model

CLOUDFLARE_IDENTITIES: Final = ResourceRef(GROUP, "v1alpha1", "cloudflareidentities", "CloudflareIdentity")


class IdentityReason(StrEnum):
    """Why an identity is accepted or ready, or is not."""

    ACCEPTED = "Accepted"
    INVALID_SECRET_REF = "InvalidSecretRef"
    DENIED_BY_POLICY = "DeniedByPolicy"
    READY = "Ready"
    SECRET_NOT_FOUND = "SecretNotFound"
    ACCESS_TOKEN_UNAVAILABLE = "AccessTokenUnavailable"
    ACCESS_TOKEN_INVALID = "AccessTokenInvalid"
    ACCESS_TOKEN_INACTIVE = "AccessTokenInactive"
    CLOUDFLARE_ACCOUNT_NOT_FOUND = "CloudflareAccountNotFound"
    CLOUDFLARE_ACCOUNT_AMBIGUOUS = "CloudflareAccountAmbiguous"
    PROVIDER_ACCESS_DENIED = "ProviderAccessDenied"
    PROVIDER_UNAVAILABLE = "ProviderUnavailable"
    RECONCILE_ERROR = "ReconcileError"


_R = IdentityReason
IDENTITY_CONDITIONS: Final = {
    (ConditionType.ACCEPTED.value, ConditionStatus.TRUE): frozenset({_R.ACCEPTED}),
    (ConditionType.ACCEPTED.value, ConditionStatus.FALSE): frozenset({_R.INVALID_SECRET_REF, _R.DENIED_BY_POLICY}),
    (READY, ConditionStatus.TRUE): frozenset({_R.READY}),
    (READY, ConditionStatus.FALSE): frozenset(_R) - {_R.ACCEPTED, _R.INVALID_SECRET_REF, _R.DENIED_BY_POLICY, _R.READY},
}
"""Every reason by (type, status)."""


class SecretKeyRef(Model):
    """One entry of a Secret in the identity's namespace."""

    name: Annotated[str, Field(description="Name of the Secret, in the namespace of the identity.")] = ""
    key: Annotated[str, Field(description="Key in the Secret's data; its value is the token and nothing else.")] = ""


class AccessToken(Model):
    """Where the API token is."""

    secret_ref: Annotated[SecretKeyRef, Field(description="The entry of a Secret that holds the token.")] = (
        SecretKeyRef()
    )


class IdentitySpec(Model):
    """What an identity says."""

    access_token: Annotated[AccessToken, Field(description="The API token that Cloudflare is called with.")] = (
        AccessToken()
    )


class AccountStatus(Model):
    """The account that the token is for."""

    id: Annotated[str, Field(description="Identifier of the account.")]
    name: Annotated[str, Field(description="Name of the account.")]
    type: Annotated[str, Field(description="Type of the account.")]


class TokenStatus(Model):
    """What Cloudflare says of the token."""

    id: Annotated[str, Field(description="Identifier of the token, not the token itself.")]
    status: Annotated[str, Field(description="State of the token; active is the one that works.")]
    expires_on: Annotated[
        str | None, Field(description="When the token expires.", json_schema_extra={"format": "date-time"})
    ] = None
    not_before: Annotated[
        str | None, Field(description="When the token begins to work.", json_schema_extra={"format": "date-time"})
    ] = None


class CloudflareIdentityStatus(IdentityStatus):
    """What the controller found out."""

    account: Annotated[AccountStatus | None, Field(description="Account that the token is for.")] = None
    access_token: Annotated[TokenStatus | None, Field(description="What Cloudflare says of the token.")] = None


CloudflareIdentity = ApiObject[IdentitySpec, CloudflareIdentityStatus]
parse_identity = parser(IdentitySpec, CloudflareIdentityStatus)

IDENTITY_KIND: Final = Kind(
    CLOUDFLARE_IDENTITIES,
    "API token of the Cloudflare provider's operations, and the account that it is for.",
    IdentitySpec,
    CloudflareIdentityStatus,
    (
        Column("Account", ".status.account.name"),
        ACCEPTED,
        condition_column(READY),
        *STANDING,
    ),
    short_names=("cfid",),
    strict=False,
)


def judge_acceptance(key: ObjectKey, identity: CloudflareIdentity | None) -> Verdict:
    """Return what a class that refers to an identity can be told, without telling more of the identity than its name."""
    if identity is None:
        return waiting(Reason.IDENTITY_NOT_RESOLVED, f"CloudflareIdentity {key} does not exist.")
    accepted = current(identity, ConditionType.ACCEPTED)
    if accepted is None:
        return waiting(Reason.IDENTITY_NOT_RESOLVED, f"CloudflareIdentity {key} has not been judged yet.")
    if accepted.status is not ConditionStatus.TRUE:
        return refused(Reason.INVALID_IDENTITY_REF, f"CloudflareIdentity {key} is not accepted.")
    return FINE


def is_ready(identity: CloudflareIdentity) -> bool:
    """Say whether the identity's token works, as far as its status tells of its present generation."""
    ready = current(identity, READY)
    return ready is not None and ready.status is ConditionStatus.TRUE
