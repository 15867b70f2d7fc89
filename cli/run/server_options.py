"""The options of `dns-api server`, in groups, and what the name server is told for them.

Owns names, help and the checks that need more than one option. Defaults are those of `server.config`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.options.listen import parse_listener
from server.answer.chaos import Chaos
from server.config import Address, Limits, Observation, RateLimit, Tls, ZoneFile
from server.listening.listen import everywhere
from server.network import LOOPBACK, Networks

_LIMITS: Final = Limits()
_RATE: Final = RateLimit()
_CHAOS: Final = Chaos()


@dataclass(frozen=True, slots=True)
class ZoneOptions:
    """Where zones come from."""

    zonefile: Annotated[
        list[str] | None,
        typer.Option(
            help="Master file to serve, with its origin unless its SOA tells; may be repeated.", metavar="PATH[,ORIGIN]"
        ),
    ] = None
    kubeconfig: Annotated[Path | None, typer.Option(help="Configuration of the API to serve zones from.")] = None
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Serve this namespace only.")] = None
    name: Annotated[str | None, typer.Option(help="Name in HostedZone status, by default the host name.")] = None
    cache_dir: Annotated[Path | None, typer.Option(help="Folder that keeps the last good snapshots.")] = None

    @property
    def zone_files(self) -> tuple[ZoneFile, ...]:
        """The master files."""
        return tuple(map(_zone_file, self.zonefile or ()))


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where the server is reached."""

    listen: Annotated[
        list[str] | None,
        typer.Option(
            help="Where to listen, over UDP and TCP, without HOST on all addresses; may be repeated.",
            metavar="[HOST]:PORT",
        ),
    ] = None
    tls_listen: Annotated[
        list[str] | None,
        typer.Option(
            help="Where to listen for DNS over TLS, without HOST on all addresses; may be repeated.",
            metavar="[HOST]:PORT",
        ),
    ] = None
    tls_certificate: Annotated[
        Path | None, typer.Option(help="Certificate chain for TLS, PEM; read again when it is replaced.")
    ] = None
    tls_key: Annotated[Path | None, typer.Option(help="Private key for TLS, PEM, without a passphrase.")] = None
    http: Annotated[
        str | None,
        typer.Option(
            help="Where /healthz, /readyz and /metrics listen, without HOST on all addresses.", metavar="[HOST]:PORT"
        ),
    ] = None
    udp_sockets: Annotated[int, typer.Option(min=1, max=64, help="UDP sockets for each address.")] = 1
    proxy_from: Annotated[
        list[str] | None,
        typer.Option(
            help="Peers that speak for others and must begin with a PROXY header, version 2; may be repeated.",
            metavar="NETWORK",
        ),
    ] = None

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The addresses for UDP and TCP."""
        return parse_addresses(self.listen or ["127.0.0.1:5353"], "--listen")

    @property
    def http_addresses(self) -> tuple[Address, ...]:
        """The addresses of health and metrics."""
        return () if self.http is None else parse_addresses([self.http], "--http")

    @property
    def tls(self) -> Tls | None:
        """What TLS needs; raises typer.BadParameter for a part of it."""
        given = (self.tls_listen, self.tls_certificate, self.tls_key)
        if not any(given):
            return None
        if self.tls_listen and self.tls_certificate and self.tls_key:
            return Tls(parse_addresses(self.tls_listen, "--tls-listen"), self.tls_certificate, self.tls_key)
        names = ("--tls-listen", "--tls-certificate", "--tls-key")
        missing = ", ".join(name for name, value in zip(names, given, strict=True) if not value)
        raise typer.BadParameter(
            f"TLS needs {', '.join(names)} together; missing: {missing}", param_hint="--tls-listen"
        )

    @property
    def proxies(self) -> Networks:
        """The peers that speak for others."""
        return parse_networks(self.proxy_from, "--proxy-from", Networks())


@dataclass(frozen=True, slots=True)
class IdentityOptions:
    """What the server tells about itself."""

    chaos_version: Annotated[
        str, typer.Option(help="Told for version.bind and version.server, class CHAOS; empty for nothing.")
    ] = _CHAOS.version
    chaos_identity: Annotated[
        str | None,
        typer.Option(help="Told for id.server and hostname.bind, by default the name; empty for nothing."),
    ] = None
    chaos_allow: Annotated[
        list[str] | None,
        typer.Option(help="Who is told, by default this machine; may be repeated.", metavar="NETWORK"),
    ] = None
    nsid: Annotated[str, typer.Option(help="Told to all who ask for it in EDNS (RFC 5001); empty for nothing.")] = ""

    def chaos(self, name: str) -> Chaos:
        """What is told in class CHAOS by the server of that name; raises typer.BadParameter."""
        identity = name if self.chaos_identity is None else self.chaos_identity
        try:
            return Chaos(self.chaos_version, identity, parse_networks(self.chaos_allow, "--chaos-allow", LOOPBACK))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--chaos-version, --chaos-identity") from error


@dataclass(frozen=True, slots=True)
class BoundOptions:
    """What clients can make the server do."""

    udp_payload: Annotated[int, typer.Option(min=512, max=4096, help="Longest reply over UDP, octets.")] = (
        _LIMITS.udp_payload_bytes
    )
    rate_limit: Annotated[
        int, typer.Option(min=0, help="Replies of one kind to one network over UDP in a second, 0 for any number.")
    ] = _RATE.responses_per_s
    rate_limit_slip: Annotated[
        int,
        typer.Option(
            min=0, help="Of the replies past the limit, shorten one in so many, 0 for none, and drop the others."
        ),
    ] = _RATE.slip
    rate_limit_exempt: Annotated[
        list[str] | None,
        typer.Option(help="Networks without a limit, by default this machine; may be repeated.", metavar="NETWORK"),
    ] = None
    cookie_secrets: Annotated[
        Path | None,
        typer.Option(
            help="File of cookie secrets that servers share: 32 hexadecimal digits a line, the one in use first."
        ),
    ] = None
    tcp_idle: Annotated[float, typer.Option(min=0.1, help="Seconds of silence after which a connection is closed.")] = (
        _LIMITS.tcp_idle_s
    )
    tcp_connections: Annotated[int, typer.Option(min=1, help="Most open connections.")] = _LIMITS.tcp_connections
    tcp_connections_per_client: Annotated[int, typer.Option(min=1, help="Most open connections of one address.")] = (
        _LIMITS.tcp_connections_per_client
    )
    drain_delay: Annotated[
        float, typer.Option(min=0, help="Seconds to answer on after SIGTERM, while /readyz says no.")
    ] = _LIMITS.linger_s

    @property
    def limits(self) -> Limits:
        """The bounds on what is held."""
        return Limits(
            udp_payload_bytes=self.udp_payload,
            tcp_idle_s=self.tcp_idle,
            tcp_connections=self.tcp_connections,
            tcp_connections_per_client=self.tcp_connections_per_client,
            linger_s=self.drain_delay,
        )

    @property
    def rate(self) -> RateLimit:
        """The bounds on what is sent."""
        exempt = parse_networks(self.rate_limit_exempt, "--rate-limit-exempt", LOOPBACK)
        return RateLimit(responses_per_s=self.rate_limit, slip=self.rate_limit_slip, exempt=exempt)


@dataclass(frozen=True, slots=True)
class ObservationOptions:
    """Who is told about queries."""

    query_log: Annotated[int, typer.Option(min=0, help="Log one query in so many, 0 for none.", metavar="N")] = 0
    dnstap: Annotated[
        Path | None, typer.Option(help="Unix socket of a dnstap collector that is sent all queries and replies.")
    ] = None

    @property
    def observation(self) -> Observation:
        """Who is told."""
        return Observation(self.query_log, self.dnstap)


def parse_addresses(texts: Iterable[str], option: str) -> tuple[Address, ...]:
    """Return what the values of an option stand for, all addresses where no one is named; raises typer.BadParameter."""
    listeners = [parse_listener(text, option) for text in texts]
    return tuple(
        address
        for host, port in listeners
        for address in (everywhere(port) if host is None else (Address(host, port),))
    )


def parse_networks(texts: list[str] | None, option: str, default: Networks) -> Networks:
    """Return the networks of a repeated option; raises typer.BadParameter, which names it."""
    if texts is None:
        return default
    try:
        return Networks.parse(texts)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _zone_file(text: str) -> ZoneFile:
    path, comma, origin = text.rpartition(",")
    return ZoneFile(Path(path), origin) if comma else ZoneFile(Path(text))
