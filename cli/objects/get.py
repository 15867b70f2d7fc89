"""`dns-api get`: lists objects as the server prints them, or whole, once or as they change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
import typer

from cli.api.connection import AllNamespaces, Context, Kubeconfig, Namespace, Selector, connect, run
from cli.api.follow import Scope, changes_after
from cli.api.kind import types_that_begin
from cli.objects.listing import Found, Output, Request, read, read_all, typed
from cli.table import Columns, Layout, as_table
from cli.zone.manifest import Format, dump
from kube.client import Client
from kube.errors import Gone


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("get")(get_command)


def get_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TYPE[,TYPE…] [NAME…] | TYPE/NAME…", autocompletion=types_that_begin, help="What to list."
        ),
    ],
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    output: Annotated[Output, typer.Option("--output", "-o", help="Form of the output.")] = Output.TABLE,
    selector: Selector = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on with every change, until Ctrl-C.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """List objects, such as `dns-api get zones,recordsets -A` or `dns-api get zone/example -o yaml`."""
    connection = connect(kubeconfig, context)
    where = "" if all_namespaces else namespace or connection.namespace
    request = Request(words, where, output, selector, watch)
    run(connection, lambda client: _get(client, request))


class View:
    """The output for one kind: rows below one header, or objects."""

    def __init__(self, request: Request, found: Found, *, several: bool) -> None:
        self.found = found
        self._request = request
        self._several = several
        self._layout = Layout()
        self._columns: Columns | None = None

    def lines(self, answers: Sequence[dict[str, Any]]) -> list[str]:
        """Return answers that are Tables as lines, the first ones below the headers."""
        now = datetime.now(UTC)
        tables = [as_table(answer, now) for answer in answers]
        rows = [row for table in tables for row in self._columns_of(table).rows(table)]
        if not rows or self._columns is None:
            return []
        return self._layout.lines(rows if self._layout.widths else [self._columns.headers, *rows])

    def show_change(self, obj: dict[str, Any]) -> None:
        """Print what a watch brings."""
        kind = self.found.kind
        if not self._request.tabular:
            _print(self._request, kind.label, typed(kind, obj))
        elif lines := self.lines([obj]):
            typer.echo("\n".join(lines))

    def _columns_of(self, table: Mapping[str, Any]) -> Columns:
        if self._columns is None:
            kind = self.found.kind
            self._columns = Columns.of(
                table,
                wide=self._request.output is Output.WIDE,
                prefix=f"{kind.label}/" if self._several else "",
                with_namespace=kind.ref.namespaced and not self._request.namespace,
            )
        return self._columns


async def _get(client: Client, request: Request) -> int:
    found = await read_all(client, request)
    views = [View(request, each, several=len(found) > 1) for each in found]
    if request.tabular:
        _print_tables(request, views)
    else:
        _print_objects(request, found)
    if request.watch:
        await asyncio.gather(*(_watch(client, request, view) for view in views))
    return int(any(each.failed for each in found))


def _print_tables(request: Request, views: Sequence[View]) -> None:
    found = [view.found for view in views]
    blocks = [block for view in views if (block := "\n".join(view.lines(view.found.answers)))]
    if blocks:
        typer.echo("\n\n".join(blocks))
    elif not request.watch and not any(each.failed for each in found):
        namespaced = any(each.kind.ref.namespaced for each in found)
        where = f" in namespace {request.namespace}" if request.namespace and namespaced else ""
        typer.echo(f"no {', '.join(each.kind.ref.plural for each in found)} found{where}", err=True)


def _print_objects(request: Request, found: Sequence[Found]) -> None:
    labelled = [(each.kind.label, obj) for each in found for obj in each.objects()]
    one_by_name = [len(each.names) for each in found] == [1]
    if one_by_name or request.output is Output.NAME:
        for label, obj in labelled:
            _print(request, label, obj)
    else:
        _print(request, "", {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [obj for _, obj in labelled]})


def _print(request: Request, label: str, obj: dict[str, Any]) -> None:
    match request.output:
        case Output.NAME:
            typer.echo(f"{label}/{obj['metadata']['name']}")
        case Output.YAML:
            typer.echo(dump([obj], Format.YAML), nl=False)
        case _:
            typer.echo(orjson.dumps(obj, option=orjson.OPT_INDENT_2).decode())


async def _watch(client: Client, request: Request, view: View) -> None:
    found = view.found
    name = found.names[0] if found.names else ""
    scope = Scope(found.kind.ref, request.namespace_of(found.kind), name, request.selector)
    version = found.version
    while True:
        try:
            async with aclosing(changes_after(client, scope, version, as_table=request.tabular)) as events:
                async for event in events:
                    view.show_change(event.object)
        except Gone:  # the server has forgotten what happened meanwhile: show what there is now
            again = await read(client, request, found.kind, found.names)
            version = again.version
            for obj in again.answers if request.tabular else again.objects():
                view.show_change(obj)
