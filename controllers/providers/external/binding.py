"""Which classes and ledgers are ours, and how their servers are reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.ledger.binding import Binding
from controllers.probe.address import DNS_PORT
from controllers.probe.pace import QUERIES_PER_S

PROVIDER_NAME: Final = "external.dns.appthrust.io"
BINDING: Final = Binding.of(PROVIDER_NAME)


@dataclass(frozen=True, slots=True)
class ExternalConfig:
    """The runtime binding, the port of servers that are known by name only, and how often one server may be asked."""

    binding: Binding = BINDING
    port: int = DNS_PORT
    queries_per_s: float = QUERIES_PER_S
