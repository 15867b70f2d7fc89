"""Zones, accounts and tokens as Cloudflare's API shows them.

Owns their parse. Raises BadAnswerError where an identifier is none or a field that is decided by is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from controllers.providers.cloudflare.failure import BadAnswerError
from controllers.providers.cloudflare.name import read_name
from controllers.providers.cloudflare.record import is_id, parse_time

FULL: Final = "full"
SMALL_BATCH: Final = 200
LARGE_BATCH: Final = 3500
"""Changes that one batch may hold, on the free plan and on all others."""
_PAID: Final = frozenset({"pro", "business", "enterprise"})


@dataclass(frozen=True, slots=True)
class ZoneFact:
    """One zone."""

    id: str
    name: str
    status: str
    type: str
    account_id: str
    name_servers: tuple[str, ...]
    batch_limit: int
    created: datetime | None


@dataclass(frozen=True, slots=True)
class AccountFact:
    """One account that a token sees."""

    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TokenFact:
    """What the API says of the token that asks."""

    id: str
    status: str
    expires: datetime | None
    not_before: datetime | None


def parse_zone(found: object) -> ZoneFact:
    """Parse one zone. Raises BadAnswerError."""
    if not isinstance(found, Mapping) or not is_id(found.get("id")):
        raise BadAnswerError("Cloudflare API gave a zone with a malformed identifier")
    name, account, plan = found.get("name"), found.get("account"), found.get("plan")
    if not isinstance(name, str) or not isinstance(account, Mapping) or not isinstance(account.get("id"), str):
        raise BadAnswerError("Cloudflare API gave a zone without name or account")
    legacy = plan.get("legacy_id") if isinstance(plan, Mapping) else None
    return ZoneFact(
        id=str(found["id"]),
        name=read_name(name),
        status=str(found.get("status") or ""),
        type=str(found.get("type") or ""),
        account_id=str(account["id"]),
        name_servers=tuple(sorted({each.lower().rstrip(".") for each in _texts(found.get("name_servers"))})),
        batch_limit=LARGE_BATCH if legacy in _PAID else SMALL_BATCH,
        created=parse_time(found.get("created_on")),
    )


def parse_account(found: object) -> AccountFact:
    """Parse one account. Raises BadAnswerError."""
    if not isinstance(found, Mapping) or not is_id(found.get("id")):
        raise BadAnswerError("Cloudflare API gave an account with a malformed identifier")
    return AccountFact(str(found["id"]), str(found.get("name") or ""), str(found.get("type") or ""))


def parse_token(found: Mapping[str, Any]) -> TokenFact:
    """Parse what is said of the token. Raises BadAnswerError."""
    status = found.get("status")
    if not is_id(found.get("id")) or not isinstance(status, str):
        raise BadAnswerError("Cloudflare API verified the token without naming it")
    return TokenFact(str(found["id"]), status, parse_time(found.get("expires_on")), parse_time(found.get("not_before")))


def _texts(found: object) -> list[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
