"""The embedded API server: opens the data directory, listens, and stops cleanly.

Owns the life of its parts. A process has as many as it likes, each on its own data directory.
"""

from __future__ import annotations

import asyncio
import errno
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import RequestHandler

from standalone.apiserver.admission import Admission, Handler, Registration, operations
from standalone.apiserver.answered import VERBS as ANSWERED_VERBS
from standalone.apiserver.answered import Answered
from standalone.apiserver.answered import Handler as AnswerHandler
from standalone.apiserver.api import Api
from standalone.apiserver.bootstrap import ensure_namespaces
from standalone.apiserver.cleanup.collector import Collector
from standalone.apiserver.cleanup.definition import DefinitionCleaner
from standalone.apiserver.cleanup.expiry import EventExpiry
from standalone.apiserver.cleanup.namespace import NamespaceCleaner
from standalone.apiserver.endpoint import LIMIT_BODY_BYTES, Endpoint
from standalone.apiserver.kinds.builtin import CUSTOM_RESOURCE_DEFINITION
from standalone.apiserver.security import Security, security_for
from standalone.registry import Registry
from standalone.resource import Resource
from standalone.store.limits import DEFAULT_LIMITS, Limits
from standalone.store.store import Store

SHUTDOWN_TIMEOUT_S = 2.0


class ListenError(OSError):
    """The address cannot be listened on; the message says what to do."""


class ApiServer:
    """A Kubernetes API on a data directory. Also an asynchronous context manager that starts and stops it."""

    def __init__(self, data_dir: Path, host: str = "127.0.0.1", port: int = 0, limits: Limits = DEFAULT_LIMITS) -> None:
        self._data_dir = data_dir
        self._host = host
        self._port = port
        self._limits = limits
        self._admission = Admission()
        self._answered = Answered()
        self._registry: Registry | None = None
        self._security = Security()
        self._store: Store | None = None
        self._endpoint: Endpoint | None = None
        self._runner: web.ServerRunner | None = None
        self._cleaning: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Load the data and listen. Raises DataDirError or ListenError; then nothing is left running."""
        store = self._store = await Store.open(self._data_dir, self._limits)
        try:
            definitions = [record.object() for record in store.records(*CUSTOM_RESOURCE_DEFINITION.storage_key)]
            self._registry = Registry(definitions)
            api = Api(store, self._registry, self._admission)
            store.listen(api.registry.follow)
            await ensure_namespaces(api)
            self._start_cleaning(api)
            self._security = security_for(self._host, self._data_dir)
            self._endpoint = Endpoint(api, self._security.token, self._answered)
            await self._listen(self._endpoint)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Refuse new connections, end watches, answer what is being answered, and close the data directory."""
        if self._endpoint is not None:
            self._endpoint.close()
        if self._runner is not None:
            await self._runner.cleanup()
        for task in self._cleaning:
            task.cancel()
        await asyncio.gather(*self._cleaning, return_exceptions=True)
        self._cleaning.clear()
        if self._store is not None:
            await self._store.close()
        self._store = self._endpoint = self._runner = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        """Where the API is; an unspecified address is reached by loopback."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self._host, self._host)
        host = f"[{host}]" if ":" in host else host
        return f"{'http' if self._security.tls is None else 'https'}://{host}:{self._port}"

    @property
    def token(self) -> str | None:
        """The bearer token that requests must carry; None on loopback."""
        return self._security.token

    @property
    def ca_pem(self) -> bytes | None:
        """The certificate that clients verify the server by; None when it does not use TLS."""
        return self._security.ca_pem

    @property
    def writes(self) -> Counter[tuple[str, str]]:
        """Committed changes by (group, plural) since the start."""
        return Counter() if self._store is None else Counter(self._store.writes)

    def register_admission(
        self,
        group: str,
        version: str,
        plural: str,
        subresource: str | None,
        wanted: Iterable[str],
        handler: Handler,
        *,
        name: str,
    ) -> None:
        """Let `handler` refuse writes: it gets AdmissionReview objects and returns them with a response.

        `wanted` are CREATE, UPDATE, DELETE or `*`; `name` stands in the message of a denial.
        """
        self._admission.register(group, version, plural, subresource, Registration(name, operations(wanted), handler))

    def register_answered(
        self, group: str, version: str, plural: str, kind: str, schema: Mapping[str, Any], handler: AnswerHandler
    ) -> None:
        """Serve a cluster-scoped resource whose objects `handler` answers when they are created; none is stored.

        `schema` is its `openAPIV3Schema`. Only while the server runs.
        """
        if self._registry is None:
            raise RuntimeError("the API server does not run yet")
        resource = Resource(
            group=group,
            version=version,
            plural=plural,
            singular=kind.lower(),
            kind=kind,
            list_kind=f"{kind}List",
            namespaced=False,
            schema=schema,
            verbs=ANSWERED_VERBS,
        )
        self._answered.register(resource, handler)
        self._registry.add(resource)

    def _start_cleaning(self, api: Api) -> None:
        for cleaner in (Collector(api), NamespaceCleaner(api), DefinitionCleaner(api), EventExpiry(api)):
            api.store.listen(cleaner.follow)
            cleaner.start()
            self._cleaning.append(asyncio.create_task(cleaner.run()))

    async def _listen(self, endpoint: Endpoint) -> None:
        server = web.Server(endpoint.handle, request_factory=_request, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_TIMEOUT_S)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, ssl_context=self._security.tls)
        try:
            await site.start()
        except OSError as error:
            what = (
                "is in use by another program"
                if error.errno == errno.EADDRINUSE
                else f"cannot be used: {error.strerror}"
            )
            raise ListenError(f"address {self._host}:{self._port} {what}; choose another one with --api") from error
        (address,) = self._runner.addresses[:1]
        self._port = address[1]

    async def __aenter__(self) -> ApiServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    """A request whose body may be as large as the largest object with some room for its encoding."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=LIMIT_BODY_BYTES)
