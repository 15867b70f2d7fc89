"""A small stateful API server of one process and one resource tree, with faults on demand.

Real HTTP on a free port. It knows just enough of the API conventions for a client: lists in pages, watches with history,
resourceVersions, preconditions, merge patches. Every request is kept in `requests`.
"""

from __future__ import annotations

import asyncio
import itertools
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import orjson
from aiohttp import web

Json = dict[str, Any]
Fault = Callable[["Request"], web.StreamResponse | None]


@dataclass(frozen=True)
class Request:
    """What arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") == "true"

    @property
    def is_list(self) -> bool:
        return self.method == "GET" and not self.is_watch


@dataclass(eq=False)
class _Watcher:
    collection: str
    lines: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    transport: asyncio.Transport | None = None


def status(code: int, reason: str, message: str = "", **details: Any) -> Json:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message or reason,
        "details": details,
    }


def refuse(
    code: int, reason: str, message: str = "", headers: Mapping[str, str] | None = None, **details: Any
) -> web.Response:
    return web.json_response(status(code, reason, message, **details), status=code, headers=headers)


class FakeApi:
    """Use it in `async with`; objects live under their collection path, such as `/apis/x.io/v1/things`."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.url = ""
        self.connections = 0
        self._objects: dict[str, dict[tuple[str, str], Json]] = {}
        self._history: list[tuple[int, str, Json]] = []
        self._compacted = 0
        self._version = 100
        self._uids = itertools.count(1)
        self._watchers: set[_Watcher] = set()
        self._faults: list[Fault] = []
        self._snapshots: dict[str, tuple[int, list[Json]]] = {}
        self._runner: web.AppRunner | None = None
        self._seen: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        application = web.Application(client_max_size=1 << 24)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        self.end_watches()
        if self._runner is not None:
            await _let_sockets_settle()  # connections that are being accepted become known to the runner
            await self._runner.cleanup()
            await _let_sockets_settle()
            self._runner = None

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    # state, as another client would change it

    def put(self, collection: str, obj: Json) -> Json:
        """Create or replace an object."""
        namespace, name = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
        objects = self._objects.setdefault(collection, {})
        old = objects.get((namespace, name))
        self._version += 1
        metadata = {"uid": old["metadata"]["uid"] if old else f"uid-{next(self._uids)}", **obj["metadata"]}
        stored = {**obj, "metadata": metadata | {"resourceVersion": str(self._version)}}
        objects[namespace, name] = stored
        self._record("MODIFIED" if old else "ADDED", collection, stored)
        return stored

    def remove(self, collection: str, namespace: str, name: str) -> Json:
        obj = self._objects[collection].pop((namespace, name))
        self._version += 1
        gone = {**obj, "metadata": obj["metadata"] | {"resourceVersion": str(self._version)}}
        self._record("DELETED", collection, gone)
        return gone

    def stored(self, collection: str, namespace: str, name: str) -> Json:
        return self._objects[collection][namespace, name]

    def all(self, collection: str) -> list[Json]:
        return list(self._objects.get(collection, {}).values())

    def wipe(self) -> None:
        """Begin again with low versions, as after the loss of the data directory."""
        self._objects.clear()
        self._history.clear()
        self._version = 1
        self._compacted = 0
        self._snapshots.clear()

    # faults

    def fault(self, fault: Fault) -> Callable[[], None]:
        """Let `fault` answer requests before the server does; the result takes it away again."""
        self._faults.append(fault)
        return lambda: self._faults.remove(fault)

    def fail_next(
        self, answer: Callable[[], web.Response], *, when: Callable[[Request], bool] = lambda _: True
    ) -> None:
        def fault(request: Request) -> web.Response | None:
            if not when(request):
                return None
            self._faults.remove(fault)
            return answer()

        self._faults.append(fault)

    def compact(self) -> None:
        """Forget the history: watches from older versions are answered 410."""
        self._compacted = self._version
        self._history.clear()
        self._snapshots.clear()

    def send(self, kind: str, obj: Json) -> None:
        """Put an event into every open watch."""
        self.send_raw(_line(kind, obj))

    def send_raw(self, line: bytes) -> None:
        for watcher in self._watchers:
            watcher.lines.put_nowait(line)

    def bookmark(self) -> None:
        self.send("BOOKMARK", {"metadata": {"resourceVersion": str(self._version)}})

    def expire_in_stream(self) -> None:
        self.send("ERROR", status(410, "Expired", "too old resource version"))

    def end_watches(self) -> None:
        """End every open watch as its timeout would."""
        for watcher in self._watchers:
            watcher.lines.put_nowait(None)

    def cut_watches(self) -> None:
        """Break the connection of every open watch."""
        for watcher in self._watchers:
            if watcher.transport is not None:
                watcher.transport.abort()

    @property
    def watching(self) -> int:
        return len(self._watchers)

    # serving

    def _record(self, kind: str, collection: str, obj: Json) -> None:
        self._history.append((self._version, collection, {"type": kind, "object": obj}))
        line = _line(kind, obj)
        for watcher in self._watchers:
            if watcher.collection == collection:
                watcher.lines.put_nowait(line)

    async def _handle(self, raw: web.Request) -> web.StreamResponse:
        body = await raw.read()
        self._count_connection(raw)
        request = Request(
            raw.method, raw.path, dict(raw.query), dict(raw.headers), orjson.loads(body) if body else None
        )
        self.requests.append(request)
        for fault in list(self._faults):
            if (answer := fault(request)) is not None:
                return answer
        collection, namespace, name = _split(request.path)
        if request.is_watch:
            return await self._watch(raw, request, collection)
        if not name:
            return (
                self._list(request, collection, namespace)
                if request.method == "GET"
                else self._create(request, collection)
            )
        return self._object(request, collection, namespace, name)

    def _count_connection(self, raw: web.Request) -> None:
        if raw.transport is not None and raw.transport not in self._seen:
            self._seen.add(raw.transport)
            self.connections += 1

    def _list(self, request: Request, collection: str, namespace: str) -> web.Response:
        limit = int(request.query.get("limit", "0"))
        if token := request.query.get("continue"):
            if token not in self._snapshots:
                return refuse(410, "Expired", "the continue token is too old")
            version, rest = self._snapshots.pop(token)
        else:
            version = self._version
            rest = [obj for key, obj in sorted(self._objects.get(collection, {}).items()) if namespace in ("", key[0])]
        metadata: Json = {"resourceVersion": str(version)}
        if limit and len(rest) > limit:
            metadata["continue"] = f"token-{version}-{len(rest)}"
            self._snapshots[metadata["continue"]] = (version, rest[limit:])
            rest = rest[:limit]
        return web.Response(
            body=orjson.dumps({"kind": "List", "metadata": metadata, "items": rest}), content_type="application/json"
        )

    async def _watch(self, raw: web.Request, request: Request, collection: str) -> web.StreamResponse:
        version = int(request.query["resourceVersion"])
        if version < self._compacted:
            return refuse(410, "Expired", "too old resource version")
        watcher = _Watcher(collection, transport=raw.transport)
        for at, where, event in self._history:
            if at > version and where == collection:
                watcher.lines.put_nowait(orjson.dumps(event) + b"\n")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(raw)
        self._watchers.add(watcher)
        try:
            async with asyncio.timeout(float(request.query.get("timeoutSeconds", 3600))):
                while (line := await watcher.lines.get()) is not None:
                    await response.write(line)
        except (TimeoutError, ConnectionError):
            pass
        finally:
            self._watchers.discard(watcher)
        return response

    def _create(self, request: Request, collection: str) -> web.Response:
        metadata = request.body["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        if key in self._objects.get(collection, {}):
            return refuse(409, "AlreadyExists", f"{key[1]} already exists", name=key[1])
        return web.json_response(self.put(collection, request.body), status=201)

    def _object(self, request: Request, collection: str, namespace: str, name: str) -> web.Response:
        old = self._objects.get(collection, {}).get((namespace, name))
        if old is None:
            return refuse(404, "NotFound", f"{name} not found", name=name)
        if request.method == "GET":
            return web.json_response(old)
        if request.method == "DELETE":
            wanted = (request.body or {}).get("preconditions", {})
            if any(old["metadata"][field_] != value for field_, value in wanted.items()):
                return refuse(409, "Conflict", "precondition failed", name=name)
            return web.json_response(self.remove(collection, namespace, name))
        new = request.body if request.method == "PUT" else _merge(old, request.body)
        version = new["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            return refuse(409, "Conflict", "the object has been modified", name=name)
        return web.json_response(self.put(collection, new))


async def _let_sockets_settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def _line(kind: str, obj: Json) -> bytes:
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"


def _split(path: str) -> tuple[str, str, str]:
    """Collection without namespace, namespace, name."""
    parts = path.strip("/").split("/")
    head = 3 if parts[0] == "apis" else 2
    prefix, rest = parts[:head], parts[head:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    return "/" + "/".join([*prefix, rest[0]]), namespace, rest[1] if len(rest) > 1 else ""


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge(merged.get(name), value)
    return merged
