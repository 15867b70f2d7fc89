"""Applies manifests: those that others need first, many at a time, each with its own outcome.

Owns the order, what counts as created, configured and unchanged, and how often a busy server is asked again. Never prints.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from cli.api.refusal import causes_of, faults
from cli.objects.document import Document, Fault
from kube.client import Client
from kube.discovery import Discovery
from kube.errors import (
    BadRequest,
    ConfigError,
    Invalid,
    KubeError,
    NotFound,
    ResourceNotServed,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from kube.object import ObjectKey
from kube.resource import ResourceRef

FIELD_MANAGER: Final = "dns-api-apply"
PARALLEL: Final = 16
BUSY_ATTEMPTS: Final = 6
ESTABLISHED_ATTEMPTS: Final = 50
ESTABLISHED_POLL_S: Final = 0.1
_DEFINITION: Final = "CustomResourceDefinition"
_COMPARED: Final = frozenset({"finalizers", "ownerReferences"})


@dataclass(frozen=True, slots=True)
class Settings:
    """How manifests are applied: into `namespace` where they name none, and into no other one when `only_namespace`."""

    namespace: str
    only_namespace: bool = False
    dry_run: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """A manifest that the server has taken."""

    subject: str
    verb: str


@dataclass(frozen=True, slots=True)
class Item:
    """A manifest and the object that it describes."""

    document: Document
    ref: ResourceRef
    key: ObjectKey

    @property
    def subject(self) -> str:
        return subject(self.ref, self.key.name)


def subject(ref: ResourceRef, name: str) -> str:
    """What results call an object: `zone.dns.appthrust.io/example`."""
    kind = ref.kind.lower()
    return f"{kind}.{ref.group}/{name}" if ref.group else f"{kind}/{name}"


async def submit(client: Client, documents: Sequence[Document], settings: Settings) -> AsyncGenerator[Applied | Fault]:
    """Yield what came of each manifest, in the order of application.

    Raises Unavailable when the server does not answer any more, and when it does not know us: then nobody knows about the rest.
    """
    submitter = _Submitter(client, settings)
    for _, stage in groupby(sorted(documents, key=lambda each: each.stage), key=lambda each: each.stage):
        slots = asyncio.Semaphore(PARALLEL)

        async def one(document: Document, slots: asyncio.Semaphore = slots) -> Applied | Fault:
            async with slots:
                return await submitter.submit(document)

        tasks = [asyncio.create_task(one(document)) for document in stage]
        try:
            for task in tasks:
                yield await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Submitter:
    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._discovery = Discovery(client)
        self._places: dict[tuple[ResourceRef, ObjectKey], str] = {}
        self._defined: set[tuple[str, str]] = set()

    async def submit(self, document: Document) -> Applied | Fault:
        """Apply one manifest."""
        try:
            item = await self._identify(document)
            if isinstance(item, Fault):
                return item
            return await self._apply(item)
        except KubeError as error:
            _require_answer(error)
            return Fault(document.place, tuple(faults(error)), document.subject)

    async def _identify(self, document: Document) -> Item | Fault:
        """Find the object that a manifest describes; two manifests for one object are a fault of the second."""
        ref = await self._served(document)
        metadata = document.content["metadata"]
        if not ref.namespaced and metadata.pop("namespace", None):
            return Fault(
                document.place, (f"metadata.namespace: {ref.kind} has no namespace, leave it out",), document.subject
            )
        if ref.namespaced:
            found = metadata["namespace"] = metadata.get("namespace") or self._settings.namespace
            if self._settings.only_namespace and found != self._settings.namespace:
                message = f"metadata.namespace: found {found!r}, --namespace allows {self._settings.namespace!r} only"
                return Fault(document.place, (message,), document.subject)
        key = ObjectKey.parse(document.content)
        first = self._places.setdefault((ref, key), document.place)
        if first != document.place:
            return Fault(document.place, (f"describes the same object as {first}: keep one of them",), document.subject)
        return Item(document, ref, key)

    async def _served(self, document: Document) -> ResourceRef:
        """Find the kind; one whose definition has just been applied may need a moment."""
        kind = (document.api_version.partition("/")[0], document.kind)
        attempts = ESTABLISHED_ATTEMPTS if kind in self._defined else 1
        for attempt in range(1, attempts + 1):
            try:
                return await self._discovery.resource_of(document.api_version, document.kind)
            except ResourceNotServed:
                if attempt == attempts:
                    raise
                await asyncio.sleep(ESTABLISHED_POLL_S)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _apply(self, item: Item) -> Applied | Fault:
        before = await self._read(item)
        content, settings = item.document.content, self._settings
        try:
            after = await self._patiently(item, content)
        except KubeError as error:
            _require_answer(error)
            return Fault(item.document.place, tuple(await self._all_faults(item, error)), item.subject)
        if item.ref.kind == _DEFINITION and not settings.dry_run:
            self._defined.add((content["spec"]["group"], content["spec"]["names"]["kind"]))
        return Applied(item.subject, _verb(before, after, content))

    async def _read(self, item: Item) -> Mapping[str, Any] | None:
        try:
            return await self._client.get(item.ref, namespace=item.key.namespace, name=item.key.name)
        except NotFound:
            return None

    async def _patiently(self, item: Item, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Apply; ask again when the server says that it is too busy."""
        for attempt in range(1, BUSY_ATTEMPTS + 1):
            try:
                return await self._client.apply(
                    item.ref,
                    content,
                    manager=FIELD_MANAGER,
                    force=self._settings.force,
                    dry_run=self._settings.dry_run,
                    field_validation="Strict",
                )
            except TooManyRequests as error:
                if attempt == BUSY_ATTEMPTS:
                    raise
                await asyncio.sleep(error.retry_after_s or 1.0)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _all_faults(self, item: Item, error: KubeError) -> list[str]:
        """Return every fault. Unknown fields and wrong types are refused before any value is looked at: ask about the values too."""
        found = list(faults(error))
        if not (isinstance(error, BadRequest | Unavailable) and causes_of(error)):
            return found
        try:
            await self._client.create(item.ref, item.document.content, dry_run=True, field_validation="Ignore")
        except Invalid as further:
            known = {cause.field for cause in causes_of(error)}
            values = [cause for cause in causes_of(further) if cause.field and cause.field not in known]
            found += [f"{cause.field}: {cause.message}" for cause in values]
        except KubeError:
            pass  # the first refusal stands by itself
        return found


def _require_answer(error: KubeError) -> None:
    """Raise what is no answer of the server to this manifest but the lack of any."""
    if isinstance(error, ConfigError | Unauthorized) or (isinstance(error, Unavailable) and not error.code):
        raise error


def _verb(before: Mapping[str, Any] | None, after: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    if before is None:
        return "created"
    named = _COMPARED & content["metadata"].keys() | {"labels", "annotations"}
    return "unchanged" if _content(before, named) == _content(after, named) else "configured"


def _content(obj: Mapping[str, Any], named: Set[str]) -> dict[str, Any]:
    """What a manifest can change of an object. Controllers may write its status and finalizers at the same moment."""
    metadata = {name: value for name, value in obj["metadata"].items() if name in named}
    return {name: value for name, value in obj.items() if name != "status"} | {"metadata": metadata}
