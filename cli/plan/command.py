"""`dns-api plan`: what manifests would do to zones, without writing anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

import orjson
import typer

from cli.api.connection import Context, Kubeconfig, Namespace, connect, run
from cli.api.refusal import CommandError
from cli.objects.document import Document, Fault, read_documents
from cli.objects.submission import Settings
from cli.plan.rehearsal import PARSERS, Left, Objects, Rehearsal, Taken
from cli.plan.report import Refusal, Report
from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.core.plan import make_plan
from kube.client import Client
from kube.discovery import Discovery
from kube.errors import ResourceNotServed
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.timestamp import time_text, utc_now

Filenames = Annotated[
    list[str],
    typer.Option(
        "--filename", "-f", metavar="FILE|DIR|-", help="Manifests: a file, a folder's files, or standard input."
    ),
]


class Output(StrEnum):
    """Lines for people, or one JSON document for programs."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan_command)


def plan_command(
    filenames: Filenames,
    output: Annotated[Output, typer.Option("--output", "-o", help="Form of the output.")] = Output.TEXT,
    force: Annotated[bool, typer.Option("--force", help="As for apply: take over fields of other managers.")] = False,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Tell what `dns-api apply` with these manifests would create, change, delete and refuse in each zone.

    Reads what the API holds and writes nothing. What a provider will say of a zone is not known before it is asked, nor is what
    a conversion webhook will: claims that need one are told as waiting, with the webhook's name. Of withdrawals it tells which
    RecordSets still give the address; whether servers do is for their provider to see.
    Exit code 0 when nothing would change, 2 when something would, 1 when anything would be refused.
    """
    documents, broken = read_documents(filenames)
    connection = connect(kubeconfig, context)
    settings = Settings(namespace or connection.namespace, namespace is not None, dry_run=True, force=force)
    run(connection, lambda client: _plan(client, documents, broken, settings, output))


async def _plan(
    client: Client, documents: list[Document], broken: list[Fault], settings: Settings, output: Output
) -> int:
    rehearsal = Rehearsal(await _read(client), settings, time_text(utc_now()))
    for ref, complaint in rehearsal.unreadable:
        if ref is ZONE_UNITS:
            raise CommandError(f"{complaint}; without a whole ledger nobody can tell what would change")
        typer.echo(f"warning: {complaint}; controllers leave it out as well", err=True)
    unserved = [each async for each in _unserved(client, documents)]
    report = await _report(rehearsal, documents, broken, unserved, settings.namespace)
    if output is Output.JSON:
        typer.echo(orjson.dumps(report.document(), option=orjson.OPT_INDENT_2).decode())
    else:
        for line in report.lines():
            typer.echo(line)
    return report.exit_code


async def _read(client: Client) -> Objects:
    """List everything that zones are composed of, in all namespaces."""

    async def one(ref: ResourceRef) -> dict[ObjectKey, dict[str, Any]]:
        return {ObjectKey.parse(obj): obj for obj in (await client.list(ref)).items}

    found = await asyncio.gather(*(one(ref) for ref in PARSERS))
    return dict(zip(PARSERS, found, strict=True))


async def _unserved(client: Client, documents: list[Document]) -> AsyncIterator[Fault]:
    """Yield a refusal for each manifest of a kind that neither the API serves nor a definition among the manifests brings."""
    discovery = Discovery(client)
    known: dict[tuple[str, str], ResourceNotServed | None] = {(ref.api_version, ref.kind): None for ref in PARSERS}
    known |= {kind: None for document in documents for kind in _defined(document)}
    for document in documents:
        kind = document.api_version, document.kind
        if kind not in known:
            known[kind] = await _refusal(discovery, *kind)
        if (refusal := known[kind]) is not None:
            yield Fault(document.place, (refusal.message,), document.subject)


async def _refusal(discovery: Discovery, api_version: str, kind: str) -> ResourceNotServed | None:
    try:
        await discovery.resource_of(api_version, kind)
    except ResourceNotServed as error:
        return error
    return None


def _defined(document: Document) -> list[tuple[str, str]]:
    """Return what a definition brings; one of another shape brings nothing."""
    spec = document.content.get("spec")
    if document.kind != "CustomResourceDefinition" or not isinstance(spec, Mapping):
        return []
    try:
        return [(f"{spec['group']}/{each['name']}", str(spec["names"]["kind"])) for each in spec["versions"]]
    except (LookupError, TypeError):
        return []


async def _report(
    rehearsal: Rehearsal, documents: list[Document], broken: list[Fault], unserved: list[Fault], namespace: str
) -> Report:
    before = rehearsal.before
    refused = {each.place for each in unserved}
    outcomes = await rehearsal.run([each for each in documents if each.place not in refused])
    taken = [each for each in outcomes if isinstance(each, Taken)]
    plan = make_plan(
        before,
        rehearsal.after,
        named=[each.key for each in taken if each.ref is RECORD_SETS],
        named_zones=[each.key for each in taken if each.ref is ZONES],
        named_withdrawals=[each.key for each in taken if each.ref is RECORD_WITHDRAWALS],
    )
    contents = {document.place: document for document in documents}
    refusals = [Refusal(each) for each in broken]
    refusals += [
        Refusal(each, _zone_of(contents[each.place], namespace))
        for each in (*unserved, *outcomes)
        if isinstance(each, Fault)
    ]
    return Report(plan, taken, [each for each in outcomes if isinstance(each, Left)], refusals)


def _zone_of(document: Document, namespace: str) -> ObjectKey | None:
    """Return the Zone that a refused manifest is about, as far as it says so."""
    metadata, spec = document.content["metadata"], document.content.get("spec")
    own = metadata.get("namespace") or namespace
    if document.kind == ZONES.kind:
        return ObjectKey(own, metadata["name"])
    ref = spec.get("zoneRef") if isinstance(spec, Mapping) else None
    if document.kind not in (RECORD_SETS.kind, RECORD_WITHDRAWALS.kind) or not isinstance(ref, Mapping):
        return None
    name, other = ref.get("name"), ref.get("namespace")
    if not isinstance(name, str) or not isinstance(other, str | None):
        return None
    return ObjectKey(other or own, name)
