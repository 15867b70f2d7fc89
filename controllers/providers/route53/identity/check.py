"""The live check of an identity: whether its credential works, and whose it is.

Owns the translation of failures into the identity's own reasons. Tells shapes and steps, never a credential, an ARN or an account.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from controllers.providers.route53.failure import (
    AccessDenied,
    CredentialUnavailable,
    Failure,
    RoleRefused,
    Unavailable,
)
from controllers.providers.route53.identity.resource import IdentityReason
from controllers.providers.route53.session import Chain, Sessions

READY_MESSAGE: Final = "The credential works and belongs to spec.accountID."
MISMATCH: Final = "The credential belongs to the account in status.accountID, which is not spec.accountID."


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found out; `account` is the one that STS named, None when it named none.

    `passes` says whether the same check may end otherwise later on without anybody changing anything.
    """

    reason: IdentityReason
    message: str
    account: str | None = None
    passes: bool = True
    retry_after_s: float | None = None

    @property
    def ready(self) -> bool:
        return self.reason is IdentityReason.READY


async def check_identity(chain: Chain, sessions: Sessions, threads: Executor) -> Check:
    """Open the chain and ask STS whose credential its last one is; never raises Failure."""
    try:
        account = await asyncio.get_running_loop().run_in_executor(threads, sessions.account_of, chain)
    except Failure as failure:
        return _failed(failure)
    if account != chain.spec.account_id:
        return Check(IdentityReason.ACCOUNT_MISMATCH, MISMATCH, account, passes=False)
    return Check(IdentityReason.READY, READY_MESSAGE, account)


def _failed(failure: Failure) -> Check:
    match failure:
        case CredentialUnavailable():
            return Check(IdentityReason.CREDENTIAL_UNAVAILABLE, failure.message)
        case RoleRefused():
            return Check(IdentityReason.ASSUME_ROLE_FAILED, failure.message)
        case AccessDenied():
            return Check(IdentityReason.PROVIDER_ACCESS_DENIED, "STS refuses the credential.")
        case Unavailable():
            return Check(IdentityReason.PROVIDER_UNAVAILABLE, failure.message, retry_after_s=failure.retry_after_s)
    return Check(IdentityReason.RECONCILE_ERROR, failure.message)
