"""`dns-api up`: options and exit codes of the one-process mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from cli.listen import parse_address
from cli.logs import configure_logs
from cli.process import relax_collector
from kube.errors import KubeError
from server.listen import ListenError as DnsListenError
from standalone.apiserver.server import ListenError as ApiListenError
from standalone.store.failure import DataDirError
from standalone.up.announcement import Announcement
from standalone.up.config import UpConfig
from standalone.up.run import up


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up_command)


def up_command(
    manifests: Annotated[
        list[Path] | None,
        typer.Option("--filename", "-f", help="File or folder of manifests to apply, again whenever one changes."),
    ] = None,
    data_dir: Annotated[Path, typer.Option(help="Folder that keeps everything.")] = Path(".dns-api"),
    dns: Annotated[str, typer.Option(help="Where the name server listens.", metavar="HOST:PORT")] = "127.0.0.1:5353",
    api: Annotated[str, typer.Option(help="Where the API listens.", metavar="HOST:PORT")] = "127.0.0.1:6443",
    http: Annotated[
        str | None, typer.Option(help="Where the name server's health and metrics listen.", metavar="HOST:PORT")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Seed a small zone, demo.test.")] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Run API server, manager and name server in one process until Ctrl-C."""
    configure_logs(json_lines=False, level=log_level)
    missing = [path for path in manifests or () if not path.exists()]
    if missing:
        raise typer.BadParameter(f"{missing[0]} does not exist", param_hint="-f")
    config = UpConfig(
        data_dir=data_dir,
        manifests=tuple(manifests or ()),
        api=parse_address(api),
        dns=parse_address(dns),
        http=parse_address(http) if http is not None else None,
        demo=demo,
    )
    try:
        relax_collector()
        uvloop.run(up(config, Announcement(sys.stdout)))
    except (DataDirError, ApiListenError, DnsListenError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    except KubeError as error:
        typer.echo(f"error: the API did not take what the installation needs: {error.message}", err=True)
        raise typer.Exit(1) from error
