"""What a name server is told at its start.

Owns defaults and limits. Never reads files, flags or the environment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kube.client import Client
from server.address import Address
from server.answer.chaos import Chaos
from server.network import LOOPBACK, Networks
from server.transfer.config import TransferConfig

__all__ = ["Address", "Limits", "Observation", "RateLimit", "ServerConfig", "Tls", "ZoneFile"]


@dataclass(frozen=True, slots=True)
class ZoneFile:
    """A master file to serve; without `origin` the owner of its SOA record is the apex."""

    path: Path
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what peers can make the server hold.

    `udp_payload_bytes` is the longest reply over UDP, the size that passes networks unfragmented. A TCP client that neither asks
    nor reads for `tcp_idle_s` is closed; `tcp_connections` and `tcp_connections_per_client` are the most that are kept open, over
    all listeners: at the first bound the connection that has been silent longest makes room. Those with more than some KB of queries or
    replies under way hold `tcp_held_bytes` together at most. `drain_s` is how long a stopping
    server waits for its TCP clients to take their replies, after it has said that it is not ready for `linger_s`.
    """

    udp_payload_bytes: int = 1232
    tcp_idle_s: float = 10.0
    tcp_connections: int = 10_000
    tcp_connections_per_client: int = 6_000
    tcp_held_bytes: int = 64 * 1024 * 1024
    linger_s: float = 0.0
    drain_s: float = 3.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How many replies of one kind go to one network over UDP in a second, 0 for any number.

    The prefixes, whole octets of bits, say what one network is. Of the replies past the limit, one in `slip` is replaced by a short
    one that tells an honest client how to prove its address; the others are dropped, with a `slip` of 0 all of them. Nobody can send
    from an `exempt` network in another's name.
    """

    responses_per_s: int = 1000
    slip: int = 2
    ipv4_prefix: int = 24
    ipv6_prefix: int = 56
    exempt: Networks = LOOPBACK

    def __post_init__(self) -> None:
        for name, value, most in (("ipv4_prefix", self.ipv4_prefix, 32), ("ipv6_prefix", self.ipv6_prefix, 128)):
            if value % 8 or not 8 <= value <= most:
                raise ValueError(f"{name}: found {value}, allowed are multiples of 8 from 8 to {most}")


@dataclass(frozen=True, slots=True)
class Tls:
    """DNS over TLS (RFC 7858): addresses, and the files of the certificate chain and its key in PEM form."""

    listen: tuple[Address, ...]
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Observation:
    """What is told about queries: one in `log_one_in` is logged, 0 for none; `dnstap` is the socket of a collector of all."""

    log_one_in: int = 0
    dnstap: Path | None = None


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One name server.

    `listen` are the DNS addresses, each for UDP and TCP, with `udp_sockets` sockets for UDP. `name` is the server's entry in
    HostedZone status. With `client`, which must be open while the server runs, zones come from HostedZone objects in `namespace`
    (all namespaces when None) beside those of `zone_files`. `cache_dir` keeps the last good snapshots. `http` serves health and
    metrics. `nsid` is what clients that ask for it are told (RFC 5001). `cookie_secrets` is a file of secrets that servers share.
    Peers in `proxies` must begin with a PROXY header, nobody else may.
    """

    listen: tuple[Address, ...]
    name: str = "dns-api"
    client: Client | None = None
    namespace: str | None = None
    zone_files: tuple[ZoneFile, ...] = ()
    cache_dir: Path | None = None
    http: tuple[Address, ...] = ()
    limits: Limits = field(default_factory=Limits)
    udp_sockets: int = 1
    tls: Tls | None = None
    chaos: Chaos = field(default_factory=Chaos)
    nsid: bytes = b""
    cookie_secrets: Path | None = None
    rate_limit: RateLimit = field(default_factory=RateLimit)
    proxies: Networks = field(default_factory=Networks)
    observation: Observation = field(default_factory=Observation)
    transfer: TransferConfig = field(default_factory=TransferConfig)
