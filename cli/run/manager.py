"""`dns-api manager`: options of the controllers alone. An explicit option wins over its environment variable."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Final

import typer
import uvloop

from cli.options.boolean_flag import BooleanFlagCommand
from cli.options.listen import parse_listener
from cli.run.app_options import GatewaySource, RecordSetNamespace, ServiceSource, apps_config
from cli.run.failure import leaves
from cli.run.logs import LogFormat, LogFormatOption, LogLevel, LogLevelOption, configure_logs
from cli.run.process import relax_collector
from cli.run.provider_options import Providers, with_manager_options
from controllers.core.admission.certificate import CertificateError, ServingCertificate
from controllers.core.admission.server import PORT, ListenError, WebhookConfig
from controllers.manager import Manager, ManagerConfig
from controllers.runtime.metrics_server import MetricsListenError, MetricsServer
from controllers.runtime.tracing import MissingTracingError, send_spans
from kube.client import Client
from kube.config import connect
from kube.errors import KubeError

CERTIFICATE_FILE: Final = "tls.crt"
KEY_FILE: Final = "tls.key"

Namespace = Annotated[
    str, typer.Option(envvar="POD_NAMESPACE", help="The manager's own namespace: Lease and server Service.")
]
Identity = Annotated[
    str | None, typer.Option(envvar="POD_NAME", help="Unique name of this process, by default the host name.")
]
LeaseDuration = Annotated[
    int,
    typer.Option(
        envvar="LEASE_DURATION_SECONDS",
        min=15,
        help="How long a leader that has vanished is waited for; a third of it passes between two renewals of the Lease.",
    ),
]
WebhookListen = Annotated[
    str | None,
    typer.Option(
        envvar="WEBHOOK_LISTEN",
        metavar="[HOST]:PORT",
        help=f"Where admission, /healthz and /readyz are served over TLS, by default :{PORT}; with --webhook-cert-dir only.",
    ),
]
WebhookCertDir = Annotated[
    Path | None,
    typer.Option(
        envvar="WEBHOOK_CERT_DIR",
        metavar="DIR",
        help=f"Folder of {CERTIFICATE_FILE} and {KEY_FILE}, read again when they change; without it admission is not served.",
    ),
]
MetricsListen = Annotated[
    str | None,
    typer.Option(
        envvar="METRICS_LISTEN",
        metavar="[HOST]:PORT",
        help="Where /metrics, /healthz and /readyz are served over plain HTTP; without it nothing is.",
    ),
]
TracesEndpoint = Annotated[
    str | None,
    typer.Option(
        envvar="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        metavar="URL",
        help="Collector that is sent spans by OTLP over HTTP, such as http://collector:4318/v1/traces; without it nobody is.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("manager", cls=BooleanFlagCommand)(with_manager_options(manager_command))


def manager_command(
    providers: Providers,
    kubeconfig: Annotated[Path | None, typer.Option(help="Configuration of the API.")] = None,
    namespace: Namespace = "dns-api-system",
    identity: Identity = None,
    lease_duration_seconds: LeaseDuration = 15,
    webhook_listen: WebhookListen = None,
    webhook_cert_dir: WebhookCertDir = None,
    metrics_listen: MetricsListen = None,
    traces_endpoint: TracesEndpoint = None,
    endpoint_recordset_namespace: RecordSetNamespace = None,
    service_source_enabled: ServiceSource = True,
    gateway_source_enabled: GatewaySource = False,
    log_level: LogLevelOption = LogLevel.INFO,
    log_format: LogFormatOption = LogFormat.JSON,
) -> None:
    """Run the controllers until told to stop; several managers elect one that works, and all of them answer webhooks."""
    configure_logs(form=log_format, level=log_level)
    config = ManagerConfig(
        identity=identity or socket.gethostname(),
        namespace=namespace,
        providers=providers(namespace),
        webhook=_webhook(webhook_listen, webhook_cert_dir),
        apps=apps_config(endpoint_recordset_namespace, service_source_enabled, gateway_source_enabled),
        lease_duration_s=lease_duration_seconds,
    )
    metrics = None if metrics_listen is None else parse_listener(metrics_listen, "--metrics-listen")
    try:
        client = connect(kubeconfig, field_manager="dns-api")
        relax_collector()
        with _traced(traces_endpoint):
            uvloop.run(_run(client, config, metrics))
    except (KubeError, MetricsListenError, ExceptionGroup) as error:
        _end(error)


@contextlib.contextmanager
def _traced(endpoint: str | None) -> Iterator[None]:
    """Send spans meanwhile, if anybody is to have them; the last ones at the end."""
    try:
        stop = send_spans(endpoint) if endpoint else None
    except MissingTracingError as error:
        raise typer.BadParameter(str(error), param_hint="--traces-endpoint") from error
    try:
        yield
    finally:
        if stop is not None:
            stop()


def _webhook(listen: str | None, cert_dir: Path | None) -> WebhookConfig | None:
    if cert_dir is None:
        if listen is not None:
            needed = f"admission is served over TLS only: a folder with {CERTIFICATE_FILE} and {KEY_FILE} is needed"
            raise typer.BadParameter(needed, param_hint="--webhook-cert-dir")
        return None
    host, port = parse_listener(listen or f":{PORT}", "--webhook-listen")
    try:
        certificate = ServingCertificate(cert_dir / CERTIFICATE_FILE, cert_dir / KEY_FILE)
    except CertificateError as error:
        raise typer.BadParameter(str(error), param_hint="--webhook-cert-dir") from error
    return WebhookConfig(certificate, host, port)


async def _run(client: Client, config: ManagerConfig, metrics: tuple[str | None, int] | None) -> None:
    manager = Manager(client, config)
    async with client, _metrics(metrics, manager):
        work = asyncio.create_task(manager.run())
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, work.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await work


def _metrics(listen: tuple[str | None, int] | None, manager: Manager) -> AbstractAsyncContextManager[object]:
    if listen is None:
        return contextlib.nullcontext()
    host, port = listen
    return MetricsServer(host, port, is_ready=manager.synced.is_set)


def _end(error: KubeError | MetricsListenError | ExceptionGroup[Exception]) -> None:
    """Tell about failures that have an explanation; raises all others."""
    causes = list(leaves(error))
    if not all(isinstance(each, KubeError | ListenError | MetricsListenError) for each in causes):
        raise error
    for each in causes:
        typer.echo(f"error: {each.message if isinstance(each, KubeError) else each}", err=True)
    raise typer.Exit(1) from error
