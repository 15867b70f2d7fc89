"""What `get` reads: whole kinds or named objects, as Tables or as they are.

Owns which faults keep nothing else back. Never prints, save these faults.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from cli.api.connection import complain
from cli.api.kind import Kind, Kinds, parse_words
from cli.api.refusal import CommandError
from kube.client import Client
from kube.errors import KubeError, RetryableError

PARALLEL_READS: Final = 16


class Output(StrEnum):
    """The forms of `-o`."""

    TABLE = "table"
    WIDE = "wide"
    YAML = "yaml"
    JSON = "json"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for; an empty namespace means all."""

    words: Sequence[str]
    namespace: str = ""
    output: Output = Output.TABLE
    selector: str | None = None
    watch: bool = False

    @property
    def tabular(self) -> bool:
        """Whether the server prints."""
        return self.output in (Output.TABLE, Output.WIDE)

    def namespace_of(self, kind: Kind) -> str:
        """The namespace to read a kind from."""
        return self.namespace if kind.ref.namespaced else ""


@dataclass(frozen=True, slots=True)
class Found:
    """The answers for one kind, one for each name or one list, and where a watch goes on."""

    kind: Kind
    names: tuple[str, ...]
    answers: tuple[dict[str, Any], ...]
    version: str
    failed: bool

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the objects, each with its type and without the bookkeeping of field managers; not for Tables."""
        for answer in self.answers:
            for obj in [answer] if self.names else answer["items"]:
                yield typed(self.kind, obj)


async def read_all(client: Client, request: Request) -> list[Found]:
    """Read everything that is asked for. Raises CommandError and, when the API itself is in trouble, KubeError."""
    chosen: dict[Kind, list[str]] = {}
    for wanted in parse_words(await Kinds.ask(client), request.words):
        chosen.setdefault(wanted.kind, []).extend([wanted.name] if wanted.name else [])
    for kind, names in chosen.items():
        _check(request, kind, names)
    return await asyncio.gather(*(read(client, request, kind, names) for kind, names in chosen.items()))


async def read(client: Client, request: Request, kind: Kind, names: Sequence[str]) -> Found:
    """Read a kind, or its named objects; tells at once what cannot be read."""
    slots = asyncio.Semaphore(PARALLEL_READS)

    async def one(name: str) -> dict[str, Any]:
        async with slots:
            return await _read_one(client, request, kind, name)

    answers = await asyncio.gather(*(one(name) for name in names or [""]), return_exceptions=True)
    good = []
    for answer in answers:
        if isinstance(answer, KubeError) and not isinstance(answer, RetryableError):
            complain(answer.message)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            good.append(answer)
    version = good[-1]["metadata"].get("resourceVersion", "") if good else ""
    return Found(kind, tuple(names), tuple(good), version, failed=len(good) < len(answers))


def typed(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object with its type, which items of a list need not carry, and without `managedFields`."""
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {"apiVersion": kind.ref.api_version, "kind": kind.ref.kind, **obj, "metadata": metadata}


async def _read_one(client: Client, request: Request, kind: Kind, name: str) -> dict[str, Any]:
    namespace = request.namespace_of(kind)
    if request.tabular:
        return await client.table(kind.ref, namespace=namespace, name=name, label_selector=request.selector)
    if name:
        return await client.get(kind.ref, namespace=namespace, name=name)
    listed = await client.list(kind.ref, namespace=namespace, label_selector=request.selector)
    return {"items": listed.items, "metadata": {"resourceVersion": listed.resource_version}}


def _check(request: Request, kind: Kind, names: Sequence[str]) -> None:
    if names and request.selector:
        raise CommandError(f"found the name {names[0]!r} and the selector {request.selector!r}: give one of them")
    if names and not request.namespace and kind.ref.namespaced:
        raise CommandError(f"{kind.ref.plural} {names[0]!r}: a name is looked up in one namespace: give -n, not -A")
    if request.watch and len(names) > 1:
        raise CommandError(f"{kind.ref.plural}: -w follows one name, or all of them without names")
