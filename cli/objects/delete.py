"""`dns-api delete`: deletes objects and waits until they are gone, telling what holds them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Annotated, Final

import typer

from cli.api.condition import GoneGoal
from cli.api.connection import Context, Kubeconfig, Namespace, Selector, complain, connect, run
from cli.api.kind import Kinds, parse_words, types_that_begin
from cli.api.refusal import CommandError, faults
from cli.objects.document import Document, read_documents
from cli.objects.report import show
from cli.objects.waiting import Subject, complain_of, find_subjects, wait_until
from cli.options.duration import parse_seconds
from kube.client import Client, Propagation
from kube.errors import KubeError, NotFound, RetryableError
from kube.object import ObjectKey

PARALLEL: Final = 16


class Result(Enum):
    """What came of a deletion that nothing holds."""

    GONE = "gone"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Request:
    """What to delete, by manifests or by words."""

    documents: Sequence[Document]
    words: Sequence[str]
    namespace: str
    selector: str | None
    all_of_kind: bool
    ignore_not_found: bool
    wait: bool
    timeout_s: float


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("delete")(delete_command)


def delete_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TYPE[,TYPE…] NAME… | TYPE/NAME…", autocompletion=types_that_begin, help="What to delete."
        ),
    ] = None,
    filenames: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="FILE|DIR|-", help="Delete what these manifests describe."),
    ] = None,
    selector: Selector = None,
    all_of_kind: Annotated[bool, typer.Option("--all", help="Every object of the type in the namespace.")] = False,
    ignore_not_found: Annotated[bool, typer.Option("--ignore-not-found", help="What is absent is no fault.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until everything is gone.")] = True,
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="How long to wait, such as 30s or 5m.")] = "5m",
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Delete objects and wait until they are gone.

    An object goes when nothing holds it: a Zone goes after its RecordSets, a RecordSet when it is no longer served. What an object
    waits for is told. Exit code 1 when something is absent or not gone in time.
    """
    if bool(words) is bool(filenames):
        raise typer.BadParameter("give either TYPE and names, or -f with manifests")
    timeout_s = parse_seconds(timeout, "--timeout")
    documents, broken = read_documents(filenames or ())
    for fault in broken:
        show(fault)
    if broken and not documents:
        raise typer.Exit(1)
    connection = connect(kubeconfig, context)
    request = Request(
        documents,
        words or (),
        namespace or connection.namespace,
        selector,
        all_of_kind,
        ignore_not_found,
        wait,
        timeout_s,
    )
    try:
        run(connection, lambda client: _delete(client, request, failed=bool(broken)))
    except KeyboardInterrupt:
        typer.echo("what was asked to be deleted goes all the same: nobody can take that back", err=True)
        raise


async def _delete(client: Client, request: Request, *, failed: bool) -> int:
    kinds = await Kinds.ask(client)
    deadline = time.monotonic() + request.timeout_s
    stages = await _stages(client, kinds, request)
    for number, stage in enumerate(stages, start=1):
        results = await _delete_all(client, request, stage)
        failed |= Result.REFUSED in results.values()
        held = {subject: result for subject, result in results.items() if not isinstance(result, Result)}
        if not request.wait:
            continue
        left = await wait_until(client, list(held), GoneGoal(), max(0.0, deadline - time.monotonic()), held)
        if left:
            complain_of(left, "is not gone yet")
            needed = sum(map(len, stages[number:]))
            rest = f"; {needed:,} more stay until then" if needed else ""
            complain(f"{len(left):,} not gone after {request.timeout_s:g}s, though their deletion goes on{rest}")
            return 1
    return int(failed)


async def _stages(client: Client, kinds: Kinds, request: Request) -> list[list[Subject]]:
    """Return what to delete: what needs others before these."""
    if not request.documents:
        words = parse_words(kinds, request.words)
        bare = [wanted.kind.ref.plural for wanted in words if not wanted.name]
        if bare and not request.all_of_kind and not request.selector:
            raise CommandError(
                f"{bare[0]}: give the names of the objects to delete, or -l, or --all for all in the namespace"
            )
        return [await find_subjects(client, words, request.namespace, request.selector)]
    ordered = sorted(request.documents, key=lambda each: -each.stage)
    return [
        list(dict.fromkeys(_described(kinds, document, request.namespace) for document in stage))
        for _, stage in groupby(ordered, key=lambda each: each.stage)
    ]


def _described(kinds: Kinds, document: Document, namespace: str) -> Subject:
    kind = kinds.of(document.api_version, document.kind)
    metadata = document.content["metadata"]
    return Subject(
        kind, ObjectKey(metadata.get("namespace") or namespace if kind.ref.namespaced else "", metadata["name"])
    )


async def _delete_all(client: Client, request: Request, subjects: Sequence[Subject]) -> dict[Subject, Result | str]:
    slots = asyncio.Semaphore(PARALLEL)

    async def one(subject: Subject) -> Result | str:
        async with slots:
            return await _delete_one(client, request, subject)

    return dict(zip(subjects, await asyncio.gather(*map(one, subjects)), strict=True))


async def _delete_one(client: Client, request: Request, subject: Subject) -> Result | str:
    """Delete one object; returns its uid when something holds it still."""
    ref, (namespace, name) = subject.kind.ref, subject.key
    try:
        answer = await client.delete(ref, namespace=namespace, name=name, propagation=Propagation.BACKGROUND)
    except NotFound as error:
        if request.ignore_not_found:
            return Result.GONE
        complain(error.message)
        return Result.REFUSED
    except KubeError as error:
        if isinstance(error, RetryableError) and not error.code:
            raise
        complain("\n  ".join([f"{subject} is not deleted:", *faults(error)]))
        return Result.REFUSED
    metadata = answer.get("metadata") or {}
    if answer.get("kind") == "Status" or not metadata.get("deletionTimestamp"):
        typer.echo(f"{subject} deleted")
        return Result.GONE
    if not request.wait:
        typer.echo(f"{subject} deleting")
    return str(metadata["uid"])
