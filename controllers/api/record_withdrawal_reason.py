"""The conditions of withdrawals and of their waivers: every type, and which reasons each status may stand with.

A closed table: Providers add nothing to it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from controllers.api.condition import ConditionStatus


class WithdrawalCondition(StrEnum):
    """What the conditions of a withdrawal speak of."""

    ACCEPTED = "Accepted"
    WITHDRAWN = "Withdrawn"
    READY = "Ready"
    OVERRIDE_ACCEPTED = "OverrideAccepted"


class WithdrawalReason(StrEnum):
    """A condition reason of a withdrawal or a waiver."""

    ACCEPTED = "Accepted"
    INVALID_WITHDRAWAL = "InvalidWithdrawal"
    NOT_ALLOWED = "NotAllowed"
    UNSUPPORTED_PROVIDER = "UnsupportedProvider"
    VERIFIED = "Verified"
    STILL_PUBLISHED = "StillPublished"
    DNS_PROBE_FAILED = "DNSProbeFailed"
    RECONCILING = "Reconciling"
    WITHDRAWN = "Withdrawn"
    NOT_WITHDRAWN = "NotWithdrawn"
    NOT_ACCEPTED = "NotAccepted"
    OPERATOR_AUTHORIZED_RELEASE = "OperatorAuthorizedRelease"
    WAIVER_MISMATCH = "WaiverMismatch"
    INVALID_WAIVER = "InvalidWaiver"


_C, _R = WithdrawalCondition, WithdrawalReason
_T, _F, _U = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN

PROVIDER_REASONS: Final = {
    (_C.WITHDRAWN, _T): frozenset({_R.VERIFIED}),
    (_C.WITHDRAWN, _F): frozenset({_R.STILL_PUBLISHED}),
    (_C.WITHDRAWN, _U): frozenset({_R.DNS_PROBE_FAILED, _R.RECONCILING}),
    (_C.READY, _T): frozenset({_R.WITHDRAWN, _R.OPERATOR_AUTHORIZED_RELEASE}),
    (_C.READY, _F): frozenset({_R.NOT_WITHDRAWN, _R.DNS_PROBE_FAILED, _R.NOT_ACCEPTED}),
    (_C.OVERRIDE_ACCEPTED, _T): frozenset({_R.OPERATOR_AUTHORIZED_RELEASE}),
    (_C.OVERRIDE_ACCEPTED, _F): frozenset({_R.WAIVER_MISMATCH}),
}
"""What a provider's controller may say of a withdrawal in the ledger."""

WITHDRAWAL_REASONS: Final = {
    (_C.ACCEPTED, _T): frozenset({_R.ACCEPTED}),
    (_C.ACCEPTED, _F): frozenset({_R.INVALID_WITHDRAWAL, _R.NOT_ALLOWED, _R.UNSUPPORTED_PROVIDER}),
    **PROVIDER_REASONS,
}

WAIVER_REASONS: Final = {
    (_C.ACCEPTED, _T): frozenset({_R.ACCEPTED}),
    (_C.ACCEPTED, _F): frozenset({_R.INVALID_WAIVER}),
}
