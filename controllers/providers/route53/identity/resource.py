"""`Route53Identity`: an AWS account, and the chain of roles that leads to it.

Owns the kind and its reasons. A credential stands in no field of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from controllers.api.condition import ConditionStatus
from controllers.api.crd import ACCEPTED, STANDING, Column, Kind, condition_column
from controllers.api.object import ApiObject, parser
from controllers.ledger.identity import READY, IdentityStatus
from controllers.providers.route53.binding import GROUP
from kube.resource import ResourceRef
from zonemodel.model import Model

ROUTE53_IDENTITIES: Final = ResourceRef(GROUP, "v1alpha1", "route53identities", "Route53Identity")
ACCEPTED_TYPE: Final = "Accepted"


class IdentityReason(StrEnum):
    """Why an identity is accepted or ready, or is not."""

    ACCEPTED = "Accepted"
    INVALID_REGION = "InvalidRegion"
    INVALID_CREDENTIAL_SOURCE = "InvalidCredentialSource"
    INVALID_ASSUME_ROLE_CHAIN = "InvalidAssumeRoleChain"
    DENIED_BY_POLICY = "DeniedByPolicy"
    READY = "Ready"
    CREDENTIAL_UNAVAILABLE = "CredentialUnavailable"
    ASSUME_ROLE_FAILED = "AssumeRoleFailed"
    ACCOUNT_MISMATCH = "AccountMismatch"
    PROVIDER_ACCESS_DENIED = "ProviderAccessDenied"
    PROVIDER_UNAVAILABLE = "ProviderUnavailable"
    RECONCILE_ERROR = "ReconcileError"


_T, _F = ConditionStatus.TRUE, ConditionStatus.FALSE
IDENTITY_REASONS: Final = {
    (ACCEPTED_TYPE, _T): frozenset({IdentityReason.ACCEPTED}),
    (ACCEPTED_TYPE, _F): frozenset(
        {
            IdentityReason.INVALID_REGION,
            IdentityReason.INVALID_CREDENTIAL_SOURCE,
            IdentityReason.INVALID_ASSUME_ROLE_CHAIN,
            IdentityReason.DENIED_BY_POLICY,
        }
    ),
    (READY, _T): frozenset({IdentityReason.READY}),
    (READY, _F): frozenset(
        {
            IdentityReason.CREDENTIAL_UNAVAILABLE,
            IdentityReason.ASSUME_ROLE_FAILED,
            IdentityReason.ACCOUNT_MISMATCH,
            IdentityReason.PROVIDER_ACCESS_DENIED,
            IdentityReason.PROVIDER_UNAVAILABLE,
            IdentityReason.RECONCILE_ERROR,
        }
    ),
}


class Runtime(Model):
    """The AWS SDK's default credential chain; there is nothing to set."""


class Credentials(Model):
    """Where the base credential comes from: exactly one of the sources."""

    runtime: Annotated[
        Runtime | None,
        Field(
            description="An empty object: the AWS SDK's default credential chain in the environment that the controller runs in."
        ),
    ] = None


class Role(Model):
    """One step of the chain."""

    role_arn: Annotated[str, Field(alias="roleARN", description="ARN of the IAM role to assume.")] = ""
    external_id: Annotated[
        str | None, Field(alias="externalID", description="External ID that the role's trust policy asks for.")
    ] = None
    session_name: Annotated[
        str | None, Field(description="Name of the STS session; a stable one is made when left out.")
    ] = None


class IdentitySpec(Model):
    """What an identity says."""

    account_id: Annotated[
        str,
        Field(
            alias="accountID",
            description="AWS account that the last credential of the chain has to belong to; 12 digits.",
        ),
    ] = ""
    region: Annotated[
        str, Field(description="AWS region that the SDK is configured with, such as eu-central-1; STS is asked there.")
    ] = ""
    credentials: Annotated[Credentials, Field(description="Source of the base credential.")] = Credentials()
    assume_role_chain: Annotated[
        tuple[Role, ...],
        Field(
            description="IAM roles to assume one after the other; the base credential is used itself when left out.",
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = ()


class Route53IdentityStatus(IdentityStatus):
    """What the controller found out."""

    account_id: Annotated[
        str | None, Field(alias="accountID", description="AWS account that STS says the last credential belongs to.")
    ] = None


Route53Identity = ApiObject[IdentitySpec, Route53IdentityStatus]
parse_identity = parser(IdentitySpec, Route53IdentityStatus)

IDENTITY_KIND: Final = Kind(
    ROUTE53_IDENTITIES,
    "AWS account, region and credential source of the Route 53 provider's operations.",
    IdentitySpec,
    Route53IdentityStatus,
    (
        Column("Region", ".spec.region"),
        ACCEPTED,
        condition_column(READY),
        Column("Checked", ".status.lastCredentialCheckTime", "date", wide=True),
        *STANDING,
    ),
    strict=False,
)
