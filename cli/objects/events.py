"""`dns-api events`: what controllers tell about objects, the latest last, once or as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from cli.api.connection import AllNamespaces, Context, Kubeconfig, Namespace, connect, run
from cli.api.follow import Scope, follow
from cli.api.kind import Kinds, parse_words
from cli.api.refusal import CommandError
from cli.objects.event import HEADERS, Event, latest_last, row
from cli.table import Layout
from kube.client import Client
from kube.resource import ResourceRef

EVENTS: Final = ResourceRef("", "v1", "events", "Event")


@dataclass(frozen=True, slots=True)
class Request:
    """Which events; an empty namespace means all."""

    namespace: str
    about: str | None
    watch: bool


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("events")(events_command)


def events_command(
    about: Annotated[str | None, typer.Option("--for", metavar="TYPE/NAME", help="Events of one object.")] = None,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on with every new event, until Ctrl-C.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """List events, the latest last."""
    connection = connect(kubeconfig, context)
    where = "" if all_namespaces else namespace or connection.namespace
    request = Request(where, about, watch)
    run(connection, lambda client: _events(client, request))


async def _events(client: Client, request: Request) -> int:
    scope = await _scope(client, request)
    layout = Layout()
    first = True
    async with aclosing(follow(client, scope, lambda message: typer.echo(f"warning: {message}", err=True))) as steps:
        async for changes in steps:
            events = latest_last(change.obj for change in changes if change.obj is not None)
            _show(layout, request, events, first=first)
            if not request.watch:
                return 0
            first = False
    return 0


async def _scope(client: Client, request: Request) -> Scope:
    if request.about is None:
        return Scope(EVENTS, request.namespace)
    if "/" not in request.about:
        raise CommandError(f"--for: found {request.about!r}, allowed is TYPE/NAME, such as zone/example")
    (wanted, *_) = parse_words(await Kinds.ask(client), [request.about])
    fields = f"involvedObject.kind={wanted.kind.ref.kind},involvedObject.name={wanted.name}"
    # events about what has no namespace are kept in `default`
    namespace = request.namespace if wanted.kind.ref.namespaced else ""
    return Scope(EVENTS, namespace, field_selector=fields)


def _show(layout: Layout, request: Request, events: Sequence[Event], *, first: bool) -> None:
    now = datetime.now(UTC)
    rows = [_row(event, now, with_namespace=not request.namespace) for event in events]
    if first and not rows and not request.watch:
        where = f" in namespace {request.namespace}" if request.namespace else ""
        about = f" about {request.about}" if request.about else ""
        typer.echo(f"no events found{about}{where}", err=True)
        return
    if first:
        rows.insert(0, HEADERS if request.namespace else ("NAMESPACE", *HEADERS))
    if rows:
        typer.echo("\n".join(layout.lines(rows)))


def _row(event: Event, now: datetime, *, with_namespace: bool) -> tuple[str, ...]:
    cells = row(event, now)
    return (event["metadata"].get("namespace") or "", *cells) if with_namespace else cells
