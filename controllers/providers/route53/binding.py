"""Which classes and ledgers are ours, how fast Route 53 is asked, and how patient we are with it.

Owns the runtime settings as one value; flags and environment variables are read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from controllers.ledger.binding import Binding

GROUP: Final = "route53.dns.appthrust.io"
PROVIDER_NAME: Final = GROUP

REQUESTS_PER_S: Final = 5.0
"""Route 53 allows an account five requests a second ("Quotas" in its developer guide)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Waiting times in seconds.

    Everything is looked at again after `observe_s` even if nothing happens, a change under way is asked about every `change_s`, what
    Route 53 refused is tried again after `refusal_s`. Failures that pass by themselves are retried after `retry_s`, twice as long each
    time, at most `retry_limit_s`. What was programmed is called unavailable after `outage_s` only. Working credentials are checked
    again after `credential_s`.
    """

    observe_s: float = 600.0
    change_s: float = 5.0
    refusal_s: float = 300.0
    retry_s: float = 2.0
    retry_limit_s: float = 300.0
    outage_s: float = 30.0
    credential_s: float = 900.0


@dataclass(frozen=True, slots=True)
class Route53Config:
    """The runtime binding of the provider and its manners towards Route 53.

    `allowed_accounts` are the AWS accounts that identities may name; empty allows all. `endpoint_url` takes the place of the services'
    own addresses, Route 53 and STS alike; None leaves the choice to the SDK and its environment variables.
    """

    binding: Binding = field(default_factory=lambda: Binding.of(PROVIDER_NAME))
    allowed_accounts: frozenset[str] = frozenset()
    requests_per_s: float = REQUESTS_PER_S
    endpoint_url: str | None = None
    patience: Patience = field(default_factory=Patience)
