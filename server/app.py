"""One name server inside an event loop: its listeners, its zones and its sources, started and stopped together.

Owns their order. Never reads flags or the environment, and takes no signals: whoever runs the process does.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from server.config import Address, ServerConfig
from server.counters import Counters
from server.health.http import HealthServer
from server.hosted.cache import SnapshotCache
from server.hosted.follower import Follower
from server.listeners import Listeners
from server.plane.choice import make_plane
from server.transfer.service import Transfers
from server.transport import Reply, Transport
from server.zone_files import ZoneFiles

FIRST_VIEW_S: Final = 1.0
"""How long a start waits for an API server that neither answers nor refuses before it goes on with what the cache holds."""

log = structlog.get_logger(__name__)


class NameServer:
    """Answers from `start` to `stop` on the running event loop.

    `failed` is done, with the exception, when the server can no longer follow its source; it serves on what it has.
    """

    def __init__(self, config: ServerConfig) -> None:
        """Raises CookieSecretError, CertificateError or DnstapMissingError for what the configuration names and cannot be used."""
        plane = make_plane(config)
        self.catalog = plane.catalog
        self.transfers = Transfers(
            config.transfer,
            self.catalog,
            config.cache_dir,
            config.listen,
            self._answer_plain,
            config.limits.udp_payload_bytes,
            plane.packing,
        )
        self.listeners = Listeners(config, plane, self.transfers.delegate)
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_draining = False
        self._config = config
        self._started = False
        self._http: HealthServer | None = None
        self.zone_files = ZoneFiles(config.zone_files, self.catalog, self.transfers.pulled)
        self._follower = self._make_follower()
        self._following: asyncio.Task[None] | None = None

    @property
    def counters(self) -> Counters:
        """What has been counted up to now."""
        self.listeners.tally()
        return self.listeners.counters

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The DNS addresses in use, in the order of the configuration, with the ports that were really taken."""
        return self.listeners.addresses

    @property
    def tls_addresses(self) -> tuple[Address, ...]:
        """The addresses of DNS over TLS, likewise."""
        return self.listeners.tls_addresses

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports of `addresses`."""
        return tuple(address.port for address in self.addresses)

    @property
    def http_port(self) -> int | None:
        """The port of health and metrics, None when they are not served."""
        return None if self._http is None else self._http.port

    @property
    def is_ready(self) -> bool:
        """Whether queries are answered from zones: all of them known once, or at least those of the cache."""
        if not self._started or self.is_draining:
            return False
        return self.catalog.complete or bool(self._follower and len(self._follower.serving))

    def snapshot_age_s(self) -> float | None:
        """Return how old the view of the API server is, infinite before the first; None when there is no API server."""
        return None if self._follower is None else self._follower.contact_age_s()

    async def start(self) -> None:
        """Take the addresses, load what there is to load, then answer.

        Raises ListenError, CacheError, KeyFileError, and ZoneFileError or UnservableError when a master file is broken; nothing is left
        open then.
        """
        try:
            self.listeners.bind()
            if self._config.http:
                self._http = HealthServer(self, self._config.http)
            await self.transfers.load()
            await self.zone_files.load()
            if self._follower is not None:
                await self._follower.load()
                self._following = asyncio.create_task(self._follower.run())
                self._following.add_done_callback(self._on_following_ended)
                await self._follower.await_first_view(FIRST_VIEW_S)
            else:
                self.catalog.complete = True
            await self.listeners.start()
            self.transfers.start()
            if self._http is not None:
                await self._http.start()
        except BaseException:
            await self._close()
            raise
        self._started = True
        log.info(
            "name server answers",
            addresses=[str(each) for each in self.addresses],
            tls=[str(each) for each in self.tls_addresses],
            http_port=self.http_port,
        )

    async def stop(self) -> None:
        """Say that no more is to come here, answer for as long as clients may not have heard of it, then close."""
        self.is_draining = True
        if self._started:
            self.listeners.retire()
            await asyncio.sleep(self._config.limits.linger_s)
        await self._close()

    async def reload(self) -> None:
        """Read master files, keys, certificate and cookie secrets again; what is broken stays as it was. Queries are answered meanwhile."""
        self.listeners.reload()
        self.transfers.reload()
        await self.zone_files.reload()

    async def _close(self) -> None:
        self.is_draining = True
        await self.listeners.stop()
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        await self.transfers.stop()
        if self._follower is not None:
            self._follower.close()
        if self._http is not None:
            await self._http.stop()

    def _answer_plain(self, packet: bytes, client: str, transport: Transport) -> Reply:
        return self.listeners.matcher.answer(packet, client, transport)

    def _make_follower(self) -> Follower | None:
        config = self._config
        if config.client is None:
            return None
        cache = None if config.cache_dir is None else SnapshotCache(config.cache_dir)
        return Follower(config.client, config.namespace, config.name, self.catalog, self.zone_files.source_of, cache)

    def _on_following_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self.failed.done():
            return
        error = task.exception() or RuntimeError("following the API server ended")
        log.error("following the API server ended", error=str(error))
        self.failed.set_exception(error)
