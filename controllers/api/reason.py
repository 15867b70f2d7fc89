"""Every condition reason of the core kinds, and which status each may stand with.

The tables are the contract that status admission and the documentation check against.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType


class Reason(StrEnum):
    """A condition reason; the name is the word that stands in the condition."""

    ACCEPTED = "Accepted"
    PROGRAMMED = "Programmed"
    RECONCILING = "Reconciling"
    RECONCILE_ERROR = "ReconcileError"
    DENIED_BY_POLICY = "DeniedByPolicy"
    INVALID_ADOPTION = "InvalidAdoption"
    INVALID_IDENTITY_REF = "InvalidIdentityRef"
    INVALID_PARAMETERS = "InvalidParameters"
    INVALID_PROVIDER = "InvalidProvider"
    INVALID_PROVIDER_PAYLOAD = "InvalidProviderPayload"
    INVALID_ZONE_CLASS_REF = "InvalidZoneClassRef"
    INVALID_ZONE_REF = "InvalidZoneRef"
    MANAGED_RESOURCE_MISMATCH = "ManagedResourceMismatch"
    NOT_ALLOWED_BY_ZONE = "NotAllowedByZone"
    NOT_ALLOWED_BY_ZONE_CLASS = "NotAllowedByZoneClass"
    PROVIDER_CONVERSION_FAILED = "ProviderConversionFailed"
    PROVIDER_MISMATCH = "ProviderMismatch"
    RECORD_SET_CONFLICT = "RecordSetConflict"
    ZONE_CLASS_NOT_ACCEPTED = "ZoneClassNotAccepted"
    ZONE_NOT_ACCEPTED = "ZoneNotAccepted"
    IDENTITY_NOT_RESOLVED = "IdentityNotResolved"
    OWNER_STATE_NOT_RESOLVED = "OwnerStateNotResolved"
    PROVIDER_CONVERSION_UNAVAILABLE = "ProviderConversionUnavailable"
    PROVIDER_STORAGE_VERSION_NOT_RESOLVED = "ProviderStorageVersionNotResolved"
    ZONE_CLASS_NOT_RESOLVED = "ZoneClassNotResolved"
    ZONE_NOT_RESOLVED = "ZoneNotResolved"
    EXTERNAL_RESOURCE_MISMATCH = "ExternalResourceMismatch"
    EXTERNAL_RESOURCE_NOT_FOUND = "ExternalResourceNotFound"
    PROVIDER_ACCESS_DENIED = "ProviderAccessDenied"
    PROVIDER_CHANGE_DEFERRED = "ProviderChangeDeferred"
    PROVIDER_CHANGE_PENDING = "ProviderChangePending"
    PROVIDER_CONFLICT = "ProviderConflict"
    PROVIDER_IDENTITY_NOT_READY = "ProviderIdentityNotReady"
    PROVIDER_INVALID_REQUEST = "ProviderInvalidRequest"
    PROVIDER_UNAVAILABLE = "ProviderUnavailable"


_A, _P = ConditionType.ACCEPTED, ConditionType.PROGRAMMED
_T, _F, _U = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
R = Reason

_PROGRAMMED_FALSE: Final = frozenset(
    {
        R.PROVIDER_CHANGE_PENDING,
        R.PROVIDER_IDENTITY_NOT_READY,
        R.EXTERNAL_RESOURCE_NOT_FOUND,
        R.EXTERNAL_RESOURCE_MISMATCH,
        R.PROVIDER_CONFLICT,
        R.PROVIDER_ACCESS_DENIED,
        R.PROVIDER_INVALID_REQUEST,
        R.PROVIDER_UNAVAILABLE,
        R.RECONCILE_ERROR,
    }
)
_PROGRAMMED_UNKNOWN: Final = frozenset(
    {R.RECONCILING, R.PROVIDER_CHANGE_PENDING, R.PROVIDER_UNAVAILABLE, R.RECONCILE_ERROR}
)

ZONE_CLASS_REASONS: Final = {
    (_A, _T): frozenset({R.ACCEPTED}),
    (_A, _F): frozenset({R.INVALID_PROVIDER, R.INVALID_IDENTITY_REF, R.INVALID_PARAMETERS, R.DENIED_BY_POLICY}),
    (_A, _U): frozenset({R.IDENTITY_NOT_RESOLVED, R.PROVIDER_STORAGE_VERSION_NOT_RESOLVED, R.RECONCILE_ERROR}),
}

ZONE_REASONS: Final = {
    (_A, _T): frozenset({R.ACCEPTED}),
    (_A, _F): frozenset(
        {
            R.INVALID_ZONE_CLASS_REF,
            R.NOT_ALLOWED_BY_ZONE_CLASS,
            R.ZONE_CLASS_NOT_ACCEPTED,
            R.INVALID_IDENTITY_REF,
            R.INVALID_PROVIDER,
            R.PROVIDER_MISMATCH,
            R.INVALID_PROVIDER_PAYLOAD,
            R.PROVIDER_CONVERSION_FAILED,
            R.INVALID_ADOPTION,
            R.MANAGED_RESOURCE_MISMATCH,
            R.DENIED_BY_POLICY,
        }
    ),
    (_A, _U): frozenset(
        {
            R.RECONCILING,
            R.ZONE_CLASS_NOT_RESOLVED,
            R.IDENTITY_NOT_RESOLVED,
            R.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            R.PROVIDER_CONVERSION_UNAVAILABLE,
            R.OWNER_STATE_NOT_RESOLVED,
            R.RECONCILE_ERROR,
        }
    ),
    (_P, _T): frozenset({R.PROGRAMMED}),
    (_P, _F): _PROGRAMMED_FALSE,
    (_P, _U): _PROGRAMMED_UNKNOWN,
}

RECORD_SET_REASONS: Final = {
    (_A, _T): frozenset({R.ACCEPTED}),
    (_A, _F): frozenset(
        {
            R.INVALID_ZONE_REF,
            R.INVALID_PROVIDER,
            R.PROVIDER_MISMATCH,
            R.INVALID_IDENTITY_REF,
            R.INVALID_PROVIDER_PAYLOAD,
            R.PROVIDER_CONVERSION_FAILED,
            R.NOT_ALLOWED_BY_ZONE,
            R.ZONE_NOT_ACCEPTED,
            R.RECORD_SET_CONFLICT,
            R.INVALID_ADOPTION,
            R.MANAGED_RESOURCE_MISMATCH,
            R.DENIED_BY_POLICY,
        }
    ),
    (_A, _U): frozenset(
        {
            R.RECONCILING,
            R.ZONE_NOT_RESOLVED,
            R.ZONE_CLASS_NOT_RESOLVED,
            R.IDENTITY_NOT_RESOLVED,
            R.PROVIDER_STORAGE_VERSION_NOT_RESOLVED,
            R.PROVIDER_CONVERSION_UNAVAILABLE,
            R.OWNER_STATE_NOT_RESOLVED,
            R.RECONCILE_ERROR,
        }
    ),
    (_P, _T): frozenset({R.PROGRAMMED}),
    (_P, _F): _PROGRAMMED_FALSE | {R.PROVIDER_CHANGE_DEFERRED},
    (_P, _U): _PROGRAMMED_UNKNOWN | {R.PROVIDER_CHANGE_DEFERRED},
}
