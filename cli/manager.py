"""`dns-api manager`: options of the controllers alone. An explicit option wins over its environment variable."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from cli.logs import LogFormat, LogFormatOption, LogLevel, LogLevelOption, configure_logs
from cli.process import relax_collector
from controllers.manager import Manager, ManagerConfig
from controllers.providers.hosted.binding import (
    CONTROLLER_NAME,
    PROVIDER_NAME,
    PROVIDER_VERSION,
    SERVER_SERVICE,
    HostedConfig,
)
from kube.client import Client
from kube.config import connect
from kube.errors import KubeError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("manager")(manager_command)


def manager_command(
    kubeconfig: Annotated[Path | None, typer.Option(help="Configuration of the API.")] = None,
    namespace: Annotated[
        str, typer.Option(envvar="POD_NAMESPACE", help="The manager's own namespace: Lease and server Service.")
    ] = "dns-api-system",
    identity: Annotated[
        str | None, typer.Option(envvar="POD_NAME", help="Unique name of this process, by default the host name.")
    ] = None,
    hosted_controller_enabled: Annotated[
        bool,
        typer.Option(
            "--hosted-controller-enabled/--no-hosted-controller-enabled",
            envvar="HOSTED_CONTROLLER_ENABLED",
            help="Run the hosted provider.",
        ),
    ] = False,
    hosted_controller_name: Annotated[
        str, typer.Option(envvar="HOSTED_CONTROLLER_NAME", help="Controller name of the ZoneClasses to serve.")
    ] = CONTROLLER_NAME,
    hosted_provider_name: Annotated[
        str, typer.Option(envvar="HOSTED_PROVIDER_NAME", help="Provider that the controller is bound to.")
    ] = PROVIDER_NAME,
    hosted_provider_version: Annotated[
        str, typer.Option(envvar="HOSTED_PROVIDER_VERSION", help="Storage version that the controller is bound to.")
    ] = PROVIDER_VERSION,
    hosted_server_service: Annotated[
        str, typer.Option(envvar="HOSTED_SERVER_SERVICE", help="Service whose ready endpoints are the name servers.")
    ] = SERVER_SERVICE,
    log_level: LogLevelOption = LogLevel.INFO,
    log_format: LogFormatOption = LogFormat.JSON,
) -> None:
    """Run the controllers until told to stop; several managers elect one that works."""
    configure_logs(form=log_format, level=log_level)
    hosted = HostedConfig(
        namespace=namespace,
        server_service=hosted_server_service,
        controller_name=hosted_controller_name,
        provider_name=hosted_provider_name,
        provider_version=hosted_provider_version,
    )
    config = ManagerConfig(identity or socket.gethostname(), namespace, hosted if hosted_controller_enabled else None)
    try:
        client = connect(kubeconfig, field_manager="dns-api")
        relax_collector()
        uvloop.run(_run(client, config))
    except KubeError as error:
        typer.echo(f"error: {error.message}", err=True)
        raise typer.Exit(1) from error


async def _run(client: Client, config: ManagerConfig) -> None:
    async with client:
        work = asyncio.create_task(Manager(client, config).run())
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work
