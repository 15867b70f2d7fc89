"""Which classes and ledgers are ours, and how patient we are with the name servers.

Owns the runtime settings as one value; flags and environment variables are read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from zonemodel.hosted_zone import GROUP

PROVIDER_NAME: Final = GROUP
PROVIDER_VERSION: Final = "v1alpha1"
CONTROLLER_NAME: Final = f"{GROUP}/controller"
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
    """The runtime binding of the provider, and the Service whose ready endpoints are the live name servers.

    `namespace` is the manager's, where that Service stands.
    """

    namespace: str
    server_service: str = SERVER_SERVICE
    controller_name: str = CONTROLLER_NAME
    provider_name: str = PROVIDER_NAME
    provider_version: str = PROVIDER_VERSION
    patience: Patience = field(default_factory=Patience)
