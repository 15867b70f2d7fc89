"""Typed verbs of one API server over one pooled session; manifests are plain dicts.

Owns media types, query parameters, paging and decoding. Never caches, never retries, never interprets a manifest.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self, TypedDict, Unpack

from kube import watch
from kube.access import Access, AccessSource
from kube.body import dump, parse
from kube.errors import Unavailable
from kube.object import ObjectKey
from kube.outage import Outage
from kube.resource import ResourceRef
from kube.transport import Transport, Warn
from kube.watch import LineSplitter, WatchEvent

Manifest = Mapping[str, Any]

_JSON: Final = "application/json"
_JSON_PATCH: Final = "application/json-patch+json"
_MERGE_PATCH: Final = "application/merge-patch+json"
_APPLY_PATCH: Final = "application/apply-patch+yaml"
_TABLE: Final = f"application/json;as=Table;v=v1;g=meta.k8s.io,{_JSON}"
_WATCH_GRACE_S: Final = 15.0


class Propagation(StrEnum):
    """What happens to the objects that a deleted one owns."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


class PatchOptions(TypedDict, total=False):
    """What a patch may be sent with: to which subresource, whether it is stored, by whom, and how strictly fields are looked at."""

    subresource: str | None
    dry_run: bool
    field_manager: str | None
    field_validation: str | None


@dataclass(frozen=True, slots=True)
class ObjectList:
    """Objects of one consistent listing; `resource_version` is where a watch goes on from."""

    items: list[dict[str, Any]]
    resource_version: str


class Client:
    """Async context manager; every method raises KubeError and nothing else when a request fails.

    `namespace` is empty for cluster-scoped resources and for lists over all namespaces. Where a manifest is sent,
    namespace and name come from its metadata. `dry_run` lets the server do everything but store.
    """

    def __init__(
        self,
        access: Access | AccessSource,
        *,
        field_manager: str = "dns-api",
        connections: int = 64,
        timeout_s: float = 30.0,
        warn: Warn | None = None,
    ) -> None:
        self._access = access
        self._field_manager = field_manager
        self._connections = connections
        self._timeout_s = timeout_s
        self._warn = warn
        self._transport: Transport | None = None
        self.outage = Outage()
        """What has been told of requests that fail; all who use this client share it."""

    async def __aenter__(self) -> Self:
        if self._transport is not None:
            raise RuntimeError("the client is open already")
        access = self._access if isinstance(self._access, Access) else await self._access()
        self._transport = Transport(
            access, connections=self._connections, user_agent=self._field_manager, warn=self._warn
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._transport is not None:
            await self._transport.close()
            self._transport = None

    async def read(self, path: str, *, accept: str | None = None) -> dict[str, Any]:
        """The JSON answer to a GET of any path: discovery, `/version`. Raises ResourceNotServed when there is none."""
        return await self._send("GET", path, {}, accept=accept)

    async def get(
        self, ref: ResourceRef, *, name: str, namespace: str = "", subresource: str | None = None
    ) -> dict[str, Any]:
        """The object as the server has it now. Raises NotFound."""
        return await self._send("GET", ref.path(namespace, name, subresource), {})

    async def list(
        self,
        ref: ResourceRef,
        *,
        namespace: str = "",
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = 500,
    ) -> ObjectList:
        """All objects, fetched in pages of `limit`. Raises Gone when the listing expired between two pages."""
        items: list[dict[str, Any]] = []
        version = ""
        async for page in self.pages(
            ref, namespace=namespace, label_selector=label_selector, field_selector=field_selector, limit=limit
        ):
            items += page.items
            version = page.resource_version
        return ObjectList(items, version)

    async def pages(
        self,
        ref: ResourceRef,
        *,
        namespace: str = "",
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = 500,
    ) -> AsyncGenerator[ObjectList]:
        """The pages of one consistent listing, at least one. `limit` 0 asks for a single page."""
        query = _query(labelSelector=label_selector, fieldSelector=field_selector, limit=str(limit) if limit else None)
        while True:
            answer = await self._send("GET", ref.path(namespace), query)
            metadata = answer["metadata"]
            yield ObjectList(answer.get("items") or [], metadata["resourceVersion"])
            if not metadata.get("continue"):
                return
            query["continue"] = metadata["continue"]

    async def table(
        self,
        ref: ResourceRef,
        *,
        namespace: str = "",
        name: str = "",
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> dict[str, Any]:
        """One object, or a whole collection, as the server prints it: a `Table` of meta.k8s.io/v1.

        A server that cannot print the resource answers with the object or list itself.
        """
        query = _query(labelSelector=label_selector, fieldSelector=field_selector)
        return await self._send("GET", ref.path(namespace, name), query, accept=_TABLE)

    async def create(
        self,
        ref: ResourceRef,
        obj: Manifest,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
    ) -> dict[str, Any]:
        """The created object. Raises AlreadyExists, Invalid, Forbidden, TooLarge; NotFound for a missing namespace."""
        metadata = obj["metadata"]
        where = metadata.get("namespace") or "" if namespace is None else namespace
        name = metadata["name"] if subresource else ""
        path = ref.path(where, name, subresource)
        return await self._send("POST", path, self._write_query(dry_run, field_manager, field_validation), obj, _JSON)

    async def update(
        self,
        ref: ResourceRef,
        obj: Manifest,
        *,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
    ) -> dict[str, Any]:
        """The object after replacement. Raises Conflict when `metadata.resourceVersion` is set and stale; NotFound."""
        path = ref.path(*ObjectKey.parse(obj), subresource)
        return await self._send("PUT", path, self._write_query(dry_run, field_manager, field_validation), obj, _JSON)

    async def patch_json(
        self,
        ref: ResourceRef,
        ops: Sequence[Mapping[str, Any]],
        *,
        name: str,
        namespace: str = "",
        **options: Unpack[PatchOptions],
    ) -> dict[str, Any]:
        """The object after the operations of RFC 6902. Raises Invalid when a `test` operation fails."""
        return await self._patch(_JSON_PATCH, ref, ops, namespace, name, **options)

    async def patch_merge(
        self, ref: ResourceRef, patch: Manifest, *, name: str, namespace: str = "", **options: Unpack[PatchOptions]
    ) -> dict[str, Any]:
        """The object after the merge patch (RFC 7386). Raises Conflict when the patch holds a stale resourceVersion."""
        return await self._patch(_MERGE_PATCH, ref, patch, namespace, name, **options)

    async def apply(
        self,
        ref: ResourceRef,
        obj: Manifest,
        *,
        manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
        dry_run: bool = False,
        field_validation: str | None = None,
    ) -> dict[str, Any]:
        """The object after server-side apply as `manager`; created when missing, save through a subresource.

        Raises Conflict with one cause for each field that another manager owns, unless `force` takes them over.
        """
        query = self._write_query(dry_run, manager, field_validation)
        query["force"] = "true" if force else "false"
        return await self._send("PATCH", ref.path(*ObjectKey.parse(obj), subresource), query, obj, _APPLY_PATCH)

    async def delete(
        self,
        ref: ResourceRef,
        *,
        name: str,
        namespace: str = "",
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Propagation | str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """The object while finalizers hold it, else a Status. Raises NotFound; Conflict when a precondition fails."""
        preconditions = _query(uid=uid, resourceVersion=resource_version)
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if preconditions:
            options["preconditions"] = preconditions
        if propagation:
            options["propagationPolicy"] = str(propagation)
        if dry_run:
            options["dryRun"] = ["All"]
        return await self._send("DELETE", ref.path(namespace, name), {}, options, _JSON)

    async def watch(
        self,
        ref: ResourceRef,
        *,
        resource_version: str,
        namespace: str = "",
        label_selector: str | None = None,
        field_selector: str | None = None,
        timeout_s: float = 300.0,
        idle_timeout_s: float | None = None,
        bookmarks: bool = True,
        as_table: bool = False,
        opened: Callable[[], None] | None = None,
    ) -> AsyncGenerator[WatchEvent]:
        """Changes after `resource_version`, until the server ends the watch, at the latest after `timeout_s`.

        `opened` is called once the server has accepted the watch. With `as_table` the objects of events are Tables, as
        those of `table`. Raises Gone when the version has left the history, by status or in the stream; Unavailable when
        the connection breaks or stays silent for `idle_timeout_s`. Wrap it in `contextlib.aclosing` when leaving early.
        """
        query = _query(
            watch="true",
            resourceVersion=resource_version,
            labelSelector=label_selector,
            fieldSelector=field_selector,
            timeoutSeconds=str(max(1, round(timeout_s))),
            allowWatchBookmarks="true" if bookmarks else None,
        )
        limit_s = timeout_s + _WATCH_GRACE_S
        splitter = LineSplitter()
        async with self._opened().stream(
            ref.path(namespace),
            query,
            timeout_s=limit_s,
            idle_timeout_s=idle_timeout_s or limit_s,
            accept=_TABLE if as_table else None,
        ) as chunks:
            if opened is not None:
                opened()
            async for chunk in chunks:
                for line in splitter.feed(chunk):
                    yield watch.parse(line)

    async def _patch(
        self,
        media_type: str,
        ref: ResourceRef,
        body: object,
        namespace: str,
        name: str,
        *,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: str | None = None,
    ) -> dict[str, Any]:
        query = self._write_query(dry_run, field_manager, field_validation)
        return await self._send("PATCH", ref.path(namespace, name, subresource), query, body, media_type)

    def _write_query(self, dry_run: bool, field_manager: str | None, field_validation: str | None) -> dict[str, str]:
        return _query(
            fieldManager=field_manager or self._field_manager,
            dryRun="All" if dry_run else None,
            fieldValidation=field_validation,
        )

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: object = None,
        media_type: str | None = None,
        accept: str | None = None,
    ) -> dict[str, Any]:
        answer = await self._opened().request(
            method,
            path,
            query,
            timeout_s=self._timeout_s,
            body=None if media_type is None else dump(body),
            media_type=media_type,
            accept=accept,
        )
        return _decode(answer)

    def _opened(self) -> Transport:
        if self._transport is None:
            raise RuntimeError("the client is not open: use it inside `async with`")
        return self._transport


def _query(**parameters: str | None) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if value is not None}


def _decode(body: bytes) -> dict[str, Any]:
    try:
        answer = parse(body)
    except ValueError as error:
        raise Unavailable(f"found an answer that begins {body[:60]!r}, JSON is required") from error
    if not isinstance(answer, dict):
        raise Unavailable(f"found an answer that is a JSON {type(answer).__name__}, an object is required")
    return answer
