"""`dns-api apply`: makes objects be as manifests say, by server-side apply."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated

import typer

from cli.api.connection import Context, Kubeconfig, Namespace, connect, run
from cli.objects.document import Document, read_documents
from cli.objects.report import show
from cli.objects.submission import Applied, Settings, submit
from kube.client import Client
from kube.quantity import counted

Filenames = Annotated[
    list[str],
    typer.Option(
        "--filename", "-f", metavar="FILE|DIR|-", help="Manifests: a file, a folder's files, or standard input."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("apply")(apply_command)


def apply_command(
    filenames: Filenames,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Let the API judge everything and store nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Take over fields that another manager owns.")] = False,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Apply manifests: namespaces first, then Providers, ZoneClasses, Zones and RecordSets.

    A manifest that is refused is told with its file, its document number and every fault, and keeps no other one back.
    Exit code 1 when any was.
    """
    documents, broken = read_documents(filenames)
    for fault in broken:
        show(fault)
    connection = connect(kubeconfig, context)
    settings = Settings(namespace or connection.namespace, namespace is not None, dry_run, force)
    run(connection, lambda client: _apply(client, documents, settings, len(broken)))


async def _apply(client: Client, documents: list[Document], settings: Settings, refused: int) -> int:
    note = " (dry run)" if settings.dry_run else ""
    taken = 0
    async with aclosing(submit(client, documents, settings)) as outcomes:
        async for outcome in outcomes:
            if isinstance(outcome, Applied):
                typer.echo(f"{outcome.subject} {outcome.verb}{note}")
                taken += 1
            else:
                show(outcome)
                refused += 1
    if refused:
        typer.echo(f"{refused:,} of {counted(taken + refused, 'manifest')} refused", err=True)
    return int(refused > 0)
