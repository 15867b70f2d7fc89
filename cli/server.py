"""`dns-api server`: options of the name server alone, from the API or from master files."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from cli.listen import parse_address
from cli.logs import LogFormat, LogFormatOption, LogLevel, LogLevelOption, configure_logs
from cli.process import relax_collector
from kube.config import connect
from kube.errors import ConfigError
from server.config import Address, ServerConfig, ZoneFile
from server.process import run


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("server")(server_command)


def server_command(
    listen: Annotated[
        list[str] | None,
        typer.Option(help="Where to listen, over UDP and TCP; may be repeated.", metavar="HOST:PORT"),
    ] = None,
    zonefile: Annotated[
        list[str] | None,
        typer.Option(
            help="Master file to serve, with its origin unless its SOA tells; may be repeated.", metavar="PATH[,ORIGIN]"
        ),
    ] = None,
    kubeconfig: Annotated[Path | None, typer.Option(help="Configuration of the API to serve zones from.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Serve this namespace only.")] = None,
    name: Annotated[str | None, typer.Option(help="Name in HostedZone status, by default the host name.")] = None,
    cache_dir: Annotated[Path | None, typer.Option(help="Folder that keeps the last good snapshots.")] = None,
    http: Annotated[
        str | None, typer.Option(help="Where /healthz, /readyz and /metrics listen.", metavar="HOST:PORT")
    ] = None,
    log_level: LogLevelOption = LogLevel.INFO,
    log_format: LogFormatOption = LogFormat.TEXT,
) -> None:
    """Answer DNS queries until told to stop. SIGHUP reads master files again.

    Zones come from the master files given; without any, from the HostedZone objects of the API.
    """
    configure_logs(form=log_format, level=log_level)
    files = tuple(_zone_file(text) for text in zonefile or ())
    client = None
    if not files or kubeconfig is not None:
        try:
            client = connect(kubeconfig, field_manager="dns-api-server")
        except ConfigError as error:
            typer.echo(f"error: {error.message}; or give --zonefile to serve master files", err=True)
            raise typer.Exit(1) from error
    config = ServerConfig(
        listen=tuple(Address(*parse_address(text, "--listen")) for text in listen or ["127.0.0.1:5353"]),
        name=name or socket.gethostname(),
        client=client,
        namespace=namespace,
        zone_files=files,
        cache_dir=cache_dir,
        http=Address(*parse_address(http, "--http")) if http is not None else None,
    )
    relax_collector()
    raise typer.Exit(run(config))


def _zone_file(text: str) -> ZoneFile:
    path, comma, origin = text.rpartition(",")
    return ZoneFile(Path(path), origin) if comma else ZoneFile(Path(text))
