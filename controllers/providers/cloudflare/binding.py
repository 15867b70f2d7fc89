"""Which classes and ledgers are ours, where the API is, and how patient we are with it.

Owns the runtime settings as one value; flags and environment variables are read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from controllers.ledger.binding import Binding
from controllers.providers.cloudflare.pace import PacePolicy

GROUP: Final = "cloudflare.dns.appthrust.io"
BINDING: Final = Binding.of(GROUP)
RECORDS_PER_PAGE: Final = 5000
"""As many as a page may hold: pages are not of one moment, and a record can slip from one to the other between two requests."""


@dataclass(frozen=True, slots=True)
class ApiAddress:
    """Where the API is, None for Cloudflare's own address, and how many records a page of it has."""

    url: str | None = None
    records_per_page: int = RECORDS_PER_PAGE


@dataclass(frozen=True, slots=True)
class Patience:
    """Waiting times in seconds.

    A zone is looked at again `confirm_s` after a change of it, `resync_s` after a look that found nothing to do. A change that the
    API refused is repeated after `refusal_s`. A record that was programmed is called unknown after `outage_s` without an answer.
    A request whose outcome is not known may still take effect for `grace_s`. A working identity is checked each `check_s`, one that
    was refused each `recheck_s`.
    """

    confirm_s: float = 1.0
    resync_s: float = 300.0
    refusal_s: float = 60.0
    outage_s: float = 30.0
    grace_s: float = 60.0
    retry_s: float = 2.0
    retry_at_most_s: float = 120.0
    check_s: float = 3600.0
    recheck_s: float = 600.0


@dataclass(frozen=True, slots=True)
class CloudflareConfig:
    """Everything that the provider is told at its start."""

    binding: Binding = BINDING
    address: ApiAddress = field(default_factory=ApiAddress)
    patience: Patience = field(default_factory=Patience)
    pace: PacePolicy = field(default_factory=PacePolicy)
