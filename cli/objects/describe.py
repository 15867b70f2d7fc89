"""`dns-api describe`: objects for people, with their conditions, what they wait for, and their events."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from cli.api.connection import AllNamespaces, Context, Kubeconfig, Namespace, Selector, complain, connect, run
from cli.api.kind import OWN_GROUP, Kind, types_that_begin
from cli.objects.description import describe
from cli.objects.event import Event
from cli.objects.events import EVENTS
from cli.objects.listing import PARALLEL_READS, Output, Request, read_all
from cli.zone.membership import zone_of
from kube.client import Client
from kube.errors import Forbidden


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("describe")(describe_command)


def describe_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TYPE[,TYPE…] [NAME…] | TYPE/NAME…", autocompletion=types_that_begin, help="What to describe."
        ),
    ],
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Show what an object is, what it asks for, its conditions, what it waits for, and its events."""
    connection = connect(kubeconfig, context)
    where = "" if all_namespaces else namespace or connection.namespace
    request = Request(words, where, Output.JSON, selector)
    run(connection, lambda client: _describe(client, request))


async def _describe(client: Client, request: Request) -> int:
    found = await read_all(client, request)
    objects = [(each.kind, obj) for each in found for obj in each.objects()]
    failed = any(each.failed for each in found)
    if not objects and not failed:
        where = f" in namespace {request.namespace}" if request.namespace else ""
        typer.echo(f"no {', '.join(each.kind.ref.plural for each in found)} found{where}", err=True)
    slots = asyncio.Semaphore(PARALLEL_READS)

    async def events_about(obj: dict[str, Any]) -> list[Event]:
        async with slots:
            return await _events(client, obj)

    events = await asyncio.gather(*(events_about(obj) for _, obj in objects))
    now = datetime.now(UTC)
    zones = next((kind for kind, _ in objects if _is_zone(kind)), None)
    claims = await _claims(client, zones) if zones is not None else {}
    descriptions = [
        describe(kind, obj, told, now, claims.get(_name(obj), ()) if _is_zone(kind) else ())
        for (kind, obj), told in zip(objects, events, strict=True)
    ]
    if descriptions:
        typer.echo("\n\n\n".join("\n".join(lines) for lines in descriptions))
    return int(failed)


async def _events(client: Client, obj: dict[str, Any]) -> list[Event]:
    """Return the events about an object; who may not read events gets a note in their place."""
    selector = f"involvedObject.uid={obj['metadata']['uid']}"
    namespace = obj["metadata"].get("namespace") or ""
    try:
        return [*(await client.list(EVENTS, namespace=namespace, field_selector=selector)).items]
    except Forbidden as error:
        complain(f"events are left out: {error.message}")
        return []


async def _claims(client: Client, zones: Kind) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return all RecordSets by their Zones; who may not read those of every namespace gets a note in their place."""
    found = defaultdict(list)
    try:
        for each in (await client.list(replace(zones.ref, plural="recordsets", kind="RecordSet"))).items:
            found[zone_of(each)].append(each)
    except Forbidden as error:
        complain(f"record sets are left out: {error.message}")
    return found


def _is_zone(kind: Kind) -> bool:
    return (kind.ref.group, kind.ref.kind) == (OWN_GROUP, "Zone")


def _name(zone: dict[str, Any]) -> tuple[str, str]:
    return zone["metadata"]["namespace"], zone["metadata"]["name"]
