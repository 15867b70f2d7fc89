"""The runtime settings of the provider as one value: whose classes it follows and how patient it is with the name servers.

Flags and environment variables are read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from controllers.ledger.binding import Binding
from zonemodel.hosted_zone import GROUP

BINDING: Final = Binding.of(GROUP)
PROVIDER_NAME: Final = BINDING.provider_name
PROVIDER_VERSION: Final = BINDING.provider_version
CONTROLLER_NAME: Final = BINDING.controller_name
SERVER_SERVICE: Final = "dns-api-server"


@dataclass(frozen=True, slots=True)
class Patience:
    """Waiting times in seconds.

    A result that says no more than "not yet" is written when it has been so for `pending_s`, since most snapshots are served
    within milliseconds. A record that was served is called unserved after `outage_s` only, so that a restart of the name servers
    does not rewrite every result twice. Pages that no manifest names are deleted after `page_s` at the latest. A write that the
    API refused is repeated after `refusal_s`; every zone is looked at again after `resync_s`.
    """

    pending_s: float = 0.3
    outage_s: float = 5.0
    page_s: float = 600.0
    refusal_s: float = 30.0
    resync_s: float = 600.0


@dataclass(frozen=True, slots=True)
class HostedConfig:
    """The binding of the provider, and the Service whose ready endpoints are the live name servers.

    `namespace` is the manager's, where that Service stands.
    """

    namespace: str
    server_service: str = SERVER_SERVICE
    binding: Binding = BINDING
    patience: Patience = field(default_factory=Patience)
