"""The options by which a daily command finds its API, and what it says when the API cannot be used.

Owns exit codes: 0 all is well, 1 something is refused, absent or late, 2 wrong options.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.api import kubeconfig as configuration
from cli.api.refusal import CommandError, faults
from kube.client import Client
from kube.errors import ConfigError, KubeError, ResourceNotServed, Unauthorized, Unavailable

Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Configuration of the API; by default KUBECONFIG, ./.dns-api/kubeconfig, the pod's own, ~/.kube/config.",
    ),
]
Context = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Context of the kubeconfig, by default the current one."),
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help="Namespace, by default the context's, else `default`."),
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Every namespace.")]
Selector = Annotated[
    str | None, typer.Option("--selector", "-l", metavar="LABELS", help="Label selector, such as app=web,tier!=test.")
]

FIELD_MANAGER: Final = "dns-api"
_POD_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True, slots=True)
class Connection:
    """A client that is not open yet, the namespace of its context, and what messages call its API."""

    client: Client
    namespace: str
    server: str
    of_up: bool = False

    @property
    def advice(self) -> str:
        """What to do when nothing answers."""
        return "start it with `dns-api up`" if self.of_up else "see that it runs and that the address is right"


Work = Callable[[Client], Awaitable[int]]


def connect(kubeconfig: Path | None, context: str | None) -> Connection:
    """Find the API; ends the command with a message when there is none."""
    try:
        files = configuration.find_files(kubeconfig, os.environ, Path())
        return _connect_pod(context) if files is None else _connect(files, context)
    except ConfigError as error:
        raise _ended(error.message) from error


def run(connection: Connection, work: Work) -> None:
    """Do the work with an open client; ends the command with its exit code."""

    async def work_with_client() -> int:
        async with connection.client as client:
            return await work(client)

    try:
        code = asyncio.run(work_with_client())
    except (KubeError, CommandError) as error:
        raise _ended(_explanation(error, connection)) from error
    if code:
        raise typer.Exit(code)


def complain(message: str) -> None:
    """Say what is wrong on standard error."""
    typer.echo(f"error: {message}", err=True)


def _connect(files: configuration.Files, context: str | None) -> Connection:
    view = configuration.read(files, context)
    if view.access is not None:
        client = Client(view.access, field_manager=FIELD_MANAGER, warn=_show_warning)
    else:
        from kube.config import connect as connect_any  # takes longer to import than everything else together

        environ = {"KUBECONFIG": os.pathsep.join(str(path) for path in files.paths)}
        client = connect_any(None, context, field_manager=FIELD_MANAGER, environ=environ, warn=_show_warning)
    return Connection(client, view.namespace, f"{view.server} ({files.origin})", files.of_up)


def _connect_pod(context: str | None) -> Connection:
    from kube.config import connect as connect_any

    client = connect_any(None, context, field_manager=FIELD_MANAGER, warn=_show_warning)
    namespace = _POD_NAMESPACE.read_text(encoding="utf-8").strip() if _POD_NAMESPACE.is_file() else "default"
    return Connection(client, namespace, "of the cluster")


def _explanation(error: KubeError | CommandError, connection: Connection) -> str:
    if isinstance(error, CommandError):
        return str(error)
    if isinstance(error, Unavailable) and not error.code:
        untrusted = isinstance(error.__cause__, ssl.CertificateError)
        advice = "its certificate is not by the authority that the kubeconfig names" if untrusted else connection.advice
        other = "or name another one with --kubeconfig or KUBECONFIG"
        return f"no answer from the API {connection.server}\n  {error.message}\n  {advice}, {other}"
    if isinstance(error, ResourceNotServed):
        advice = "wait until it says that it is up" if connection.of_up else "install dns-api there"
        other = "or name another API with --kubeconfig or KUBECONFIG"
        return f"the API {connection.server} does not serve what this takes: {error.message}\n  {advice}, {other}"
    if isinstance(error, Unauthorized):
        return f"the API {connection.server} does not take the credentials: {error.message}"
    return "\n  ".join(faults(error))


def _ended(message: str) -> typer.Exit:
    complain(message)
    return typer.Exit(1)


def _show_warning(header: str) -> None:
    """Show the text of a header such as `299 - "x.io/v1 Thing is deprecated"`."""
    typer.echo(f"warning: {header.partition(' - ')[2].strip(chr(34)) or header}", err=True)
