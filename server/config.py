"""What a name server is told at its start.

Owns defaults and limits. Never reads files, flags or the environment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kube.client import Client


class Address(NamedTuple):
    """Where to listen: a numeric address and a port, 0 for any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ZoneFile:
    """A master file to serve; without `origin` the owner of its SOA record is the apex."""

    path: Path
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what peers can make the server hold.

    `udp_payload_bytes` is the longest reply over UDP, the size that passes networks unfragmented. A TCP client that neither asks
    nor reads for `tcp_idle_s` is closed; `tcp_connections` and `tcp_connections_per_client` are the most that are kept open.
    `drain_s` is how long a stopping server waits for its TCP clients to take their replies.
    """

    udp_payload_bytes: int = 1232
    tcp_idle_s: float = 10.0
    tcp_connections: int = 10_000
    tcp_connections_per_client: int = 1_000
    drain_s: float = 3.0


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One name server.

    `listen` are the DNS addresses, each for UDP and TCP. `name` is the server's entry in HostedZone status. With `client`, which
    must be open while the server runs, zones come from HostedZone objects in `namespace` (all namespaces when None) beside
    those of `zone_files`. `cache_dir` keeps the last good snapshots. `http` serves health and metrics.
    """

    listen: tuple[Address, ...]
    name: str = "dns-api"
    client: Client | None = None
    namespace: str | None = None
    zone_files: tuple[ZoneFile, ...] = ()
    cache_dir: Path | None = None
    http: Address | None = None
    limits: Limits = field(default_factory=Limits)
