"""`dns-api up`: options and exit codes of the one-process mode."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from cli.options.listen import parse_address
from cli.run.app_options import GatewaySource, RecordSetNamespace, ServiceSource, apps_config
from cli.run.failure import leaves
from cli.run.logs import LogFormat, LogLevel, LogLevelOption, configure_logs
from cli.run.process import relax_collector
from cli.run.provider_options import Providers, with_up_options
from cli.run.transfer_options import TsigKeys
from kube.errors import KubeError
from server.hosted.cache import CacheError
from server.listening.listen import ListenError as DnsListenError
from server.process import allow_many_connections
from server.transfer.key import KeyFileError
from standalone.apiserver.server import ListenError as ApiListenError
from standalone.store.failure import DataDirError
from standalone.up.announcement import Announcement
from standalone.up.config import SYSTEM_NAMESPACE, UpConfig
from standalone.up.run import up

EXPECTED = (DataDirError, CacheError, KeyFileError, ApiListenError, DnsListenError, KubeError, TimeoutError)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(with_up_options(up_command))


def up_command(
    providers: Providers,
    manifests: Annotated[
        list[Path] | None,
        typer.Option(
            "--filename",
            "-f",
            metavar="FILE|DIR",
            help="Manifests to apply at the start, and again whenever one changes.",
        ),
    ] = None,
    data_dir: Annotated[Path, typer.Option(metavar="DIR", help="Folder that keeps everything.")] = Path(".dns-api"),
    dns: Annotated[str, typer.Option(help="Where the name server listens.", metavar="HOST:PORT")] = "127.0.0.1:5353",
    api: Annotated[str, typer.Option(help="Where the API listens.", metavar="HOST:PORT")] = "127.0.0.1:6443",
    http: Annotated[
        str | None, typer.Option(help="Where the name server's health and metrics listen.", metavar="HOST:PORT")
    ] = None,
    tsig_keys: TsigKeys = None,
    demo: Annotated[bool, typer.Option("--demo", help="Seed a small zone, demo.test.")] = False,
    endpoint_recordset_namespace: RecordSetNamespace = None,
    service_source_enabled: ServiceSource = True,
    gateway_source_enabled: GatewaySource = False,
    log_level: LogLevelOption = LogLevel.WARNING,
) -> None:
    """Run API server, manager and name server in one process until Ctrl-C.

    A manifest that is broken or refused is told and keeps nothing else back; it is applied when its file is mended.
    """
    for path in manifests or ():
        if not path.exists():
            raise typer.BadParameter(f"found nothing at {path}, allowed are files and folders", param_hint="-f")
    with suppress(OSError):  # a place that nobody lets us look at is told when it is opened
        if data_dir.exists() and not data_dir.is_dir():
            raise typer.BadParameter(f"{data_dir} is a file, a folder is needed", param_hint="--data-dir")
    config = UpConfig(
        data_dir=data_dir,
        manifests=tuple(manifests or ()),
        api=parse_address(api, "--api"),
        dns=parse_address(dns, "--dns"),
        http=parse_address(http, "--http") if http is not None else None,
        tsig_keys=tuple(tsig_keys or ()),
        demo=demo,
        providers=providers(SYSTEM_NAMESPACE),
        apps=apps_config(endpoint_recordset_namespace, service_source_enabled, gateway_source_enabled),
    )
    configure_logs(form=LogFormat.TEXT, level=log_level)
    relax_collector()
    allow_many_connections()
    try:
        uvloop.run(up(config, Announcement(sys.stdout)))
    except (*EXPECTED, ExceptionGroup) as error:
        texts = [_advice(each) for each in leaves(error)]
        if not all(texts):
            raise
        for text in dict.fromkeys(texts):
            typer.echo(f"error: {text}", err=True)
        raise typer.Exit(1) from error


def _advice(error: Exception) -> str:
    """Return what to tell about an expected failure, nothing for any other one."""
    match error:
        case DataDirError() | ApiListenError() | CacheError() | KeyFileError():
            return str(error)
        case DnsListenError():
            return f"{error}; the options are --dns and --http"
        case KubeError():
            return f"the API did not take what the installation needs: {error.message}"
        case TimeoutError():
            return "the API did not establish the definitions in time; is the machine overloaded? Start again"
        case _:
            return ""
