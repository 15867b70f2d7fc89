"""What a token turns out to be: two questions to the API, and the verdict on an identity that their answers are.

Owns the order of the questions and the words of the verdict. Never keeps a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from controllers.api.condition import ConditionStatus
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.failure import (
    AccessDeniedError,
    CloudflareError,
    TokenRefusedError,
    UnavailableError,
)
from controllers.providers.cloudflare.identity.resource import AccountStatus, IdentityReason, TokenStatus
from controllers.providers.cloudflare.zone_fact import TokenFact
from kube.timestamp import time_text

ACTIVE: Final = "active"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether the identity is ready, and what was found out on the way; `retry_after_s` is what the API asked to wait."""

    reason: IdentityReason
    message: str = ""
    token: TokenStatus | None = None
    account: AccountStatus | None = None
    expires: datetime | None = None
    retry_after_s: float = 0.0

    @property
    def status(self) -> ConditionStatus:
        return ConditionStatus.TRUE if self.reason is IdentityReason.READY else ConditionStatus.FALSE

    @property
    def transient(self) -> bool:
        """Whether the API could not be asked, so that nothing new is known."""
        return self.reason is IdentityReason.PROVIDER_UNAVAILABLE


async def check_token(client: CloudflareClient, now: datetime) -> CheckResult:
    """Ask the API about the token and the accounts that it sees. Raises nothing of the API's."""
    try:
        token = await client.verify_token()
        shown = _shown(token)
        if token.status != ACTIVE or (token.expires is not None and token.expires <= now):
            state = token.status if token.status != ACTIVE else "expired"
            return CheckResult(
                IdentityReason.ACCESS_TOKEN_INACTIVE, f"Cloudflare says that the token is {state}.", shown
            )
        if token.not_before is not None and token.not_before > now:
            return CheckResult(
                IdentityReason.ACCESS_TOKEN_INACTIVE, "The token does not work yet.", shown, expires=token.not_before
            )
        accounts = await client.accounts()
    except TokenRefusedError as error:
        return CheckResult(IdentityReason.ACCESS_TOKEN_INVALID, error.message)
    except AccessDeniedError as error:
        return CheckResult(IdentityReason.PROVIDER_ACCESS_DENIED, error.message)
    except UnavailableError as error:
        return CheckResult(IdentityReason.PROVIDER_UNAVAILABLE, error.message, retry_after_s=error.retry_after_s)
    except CloudflareError as error:
        return CheckResult(IdentityReason.RECONCILE_ERROR, error.message)
    if not accounts:
        message = "The token sees no account; it needs the permission to read one."
        return CheckResult(IdentityReason.CLOUDFLARE_ACCOUNT_NOT_FOUND, message, shown)
    if len(accounts) > 1:
        message = f"The token sees {len(accounts)} accounts; it has to be limited to one."
        return CheckResult(IdentityReason.CLOUDFLARE_ACCOUNT_AMBIGUOUS, message, shown)
    found = accounts[0]
    account = AccountStatus(id=found.id, name=found.name, type=found.type)
    return CheckResult(IdentityReason.READY, "", shown, account, token.expires)


def _shown(token: TokenFact) -> TokenStatus:
    return TokenStatus(
        id=token.id,
        status=token.status,
        expires_on=time_text(token.expires) if token.expires is not None else None,
        not_before=time_text(token.not_before) if token.not_before is not None else None,
    )
