"""`dns-api server`: the name server alone, from the API or from master files."""

from __future__ import annotations

import socket
from pathlib import Path

import typer

from cli.options.group import grouped
from cli.run.logs import LogFormat, LogFormatOption, LogLevel, LogLevelOption, configure_logs
from cli.run.process import relax_collector
from cli.run.server_options import BoundOptions, IdentityOptions, ListenOptions, ObservationOptions, ZoneOptions
from cli.run.transfer_options import TransferOptions
from kube.client import Client
from kube.config import connect
from kube.errors import ConfigError
from server.config import ServerConfig
from server.process import run


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("server")(grouped(server_command))


def server_command(
    zones: ZoneOptions,
    listen: ListenOptions,
    identity: IdentityOptions,
    bounds: BoundOptions,
    observation: ObservationOptions,
    transfers: TransferOptions,
    log_level: LogLevelOption = LogLevel.INFO,
    log_format: LogFormatOption = LogFormat.TEXT,
) -> None:
    """Answer DNS queries until told to stop. SIGHUP reads master files, keys, certificate and cookie secrets again.

    Zones come from the master files and the primary servers given; without any, from the HostedZone objects of the API.
    """
    configure_logs(form=log_format, level=log_level)
    name = zones.name or socket.gethostname()
    transfer = transfers.transfer
    has_zones = bool(zones.zone_files or transfer.secondaries)
    config = ServerConfig(
        listen=listen.addresses,
        name=name,
        client=None if has_zones and zones.kubeconfig is None else _connect(zones.kubeconfig),
        namespace=zones.namespace,
        zone_files=zones.zone_files,
        cache_dir=zones.cache_dir,
        http=listen.http_addresses,
        limits=bounds.limits,
        udp_sockets=listen.udp_sockets,
        tls=listen.tls,
        chaos=identity.chaos(name),
        nsid=identity.nsid.encode(),
        cookie_secrets=bounds.cookie_secrets,
        rate_limit=bounds.rate,
        proxies=listen.proxies,
        observation=observation.observation,
        transfer=transfer,
    )
    relax_collector()
    raise typer.Exit(run(config))


def _connect(kubeconfig: Path | None) -> Client:
    try:
        return connect(kubeconfig, field_manager="dns-api-server")
    except ConfigError as error:
        typer.echo(f"error: {error.message}; or give --zonefile to serve master files", err=True)
        raise typer.Exit(1) from error
