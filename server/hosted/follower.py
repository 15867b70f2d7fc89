"""HostedZone objects followed: every change assembled, served and reported, the last good snapshots kept on disk.

Owns the order of these steps and which manifest has a domain: the oldest. A snapshot that is incomplete or wrong never takes the place
of one that is served, and an API that is away takes nothing away.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from typing import Final

import structlog

from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey
from kube.store import Change
from server.catalog import Catalog
from server.hosted.assembly import Missing, Rejected, assemble
from server.hosted.cache import SnapshotCache
from server.hosted.cache_writer import CacheWriter
from server.hosted.content import Content
from server.hosted.object import HOSTED_ZONES, Manifest, PageObject, decode
from server.hosted.report import Report, Reporter
from server.hosted.serving import Serving
from server.work import Work
from server.zone.judge import UnservableError
from zonemodel.hosted_zone import ServerState
from zonemodel.name import Fqdn, WireName

_DOMAIN: Final = "domain"
_CONTACT_PERIOD_S: Final = 30.0

log = structlog.get_logger(__name__)


class Follower:
    """The zones of one API server; `other_source` tells which other source has an apex, if any."""

    def __init__(
        self,
        client: Client,
        namespace: str | None,
        name: str,
        catalog: Catalog,
        other_source: Callable[[WireName], str | None],
        cache: SnapshotCache | None,
    ) -> None:
        self.serving = Serving(catalog, other_source)
        self._catalog = catalog
        self._cache = cache
        self._cache_writer = None if cache is None else CacheWriter(cache)
        self._informer: Informer[Manifest | PageObject] = Informer(client, HOSTED_ZONES, decode, namespace=namespace)
        self._informer.add_index(_DOMAIN, _domains)
        self._informer.subscribe(self._on_change)
        self._reporter = Reporter(client, name, self._manifest)
        self._work = Work("snapshot", self._process)
        self._contact_before: float | None = None
        self._caught_up = asyncio.Event()

    def contact_age_s(self) -> float:
        """Return how old the view of the API is: before the first contact, how old it was left by the last run; else infinite."""
        age_s = self._informer.contact_age_s()
        if age_s == math.inf and self._contact_before is not None:
            return max(time.time() - self._contact_before, 0.0)
        return age_s

    async def load(self) -> None:
        """Serve what the cache holds; raises CacheError when the cache cannot be used."""
        if self._cache is None:
            return
        await asyncio.to_thread(self._cache.open)
        self._contact_before = await asyncio.to_thread(self._cache.last_contact)
        for cached in await asyncio.to_thread(self._cache.load):
            if self.serving.other_source(cached.content.head.domain) is not None:
                continue
            try:
                await self.serving.replace(cached.key, cached.content)
            except UnservableError as error:
                log.warning("cached snapshot is left out", zone=cached.content.head.domain, reason=str(error))
        if len(self.serving):
            log.info("serving from cached snapshots", zones=len(self.serving), age_s=round(self.contact_age_s(), 1))

    async def run(self) -> None:
        """Follow the API until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informer.run())
            group.create_task(self._work.run(1))
            group.create_task(self._reporter.run())
            group.create_task(self._after_first_listing())
            if self._cache_writer is not None:
                group.create_task(self._cache_writer.run(self._page_digests))
                group.create_task(self._note_contact(self._cache_writer))

    async def await_first_view(self, limit_s: float) -> None:
        """Return once everything that the API has is served, once the API is found to be away, or after `limit_s`.

        What the cache holds may be older than what was answered last, and who answers before this would go back in time.
        """
        try:
            async with asyncio.timeout(limit_s):
                await self._informer.attempted.wait()
                if self._informer.synced.is_set():
                    await self._caught_up.wait()
        except TimeoutError:
            log.warning("the API server is slow to answer, beginning with cached snapshots", waited_s=limit_s)

    def close(self) -> None:
        """Let another server have the cache; after `run` has ended."""
        if self._cache is not None:
            self._cache.close()

    async def _after_first_listing(self) -> None:
        await self._informer.synced.wait()
        for served in self.serving:
            self._work.add(served.key)  # one that came from the cache may be gone
        await self._work.idle.wait()
        self._catalog.complete = True
        self._caught_up.set()

    async def _note_contact(self, writer: CacheWriter) -> None:
        await self._informer.synced.wait()
        while True:
            writer.note_contact(time.time() - self._informer.contact_age_s())
            await asyncio.sleep(_CONTACT_PERIOD_S)

    def _on_change(self, change: Change[Manifest | PageObject]) -> None:
        for obj in (change.old, change.new):
            if isinstance(obj, PageObject):
                self._work.add(obj.zone)
            elif isinstance(obj, Manifest):
                self._work.add(change.key)
                for rival in self._rivals(obj.domain):
                    self._work.add(rival.key)

    async def _process(self, key: ObjectKey) -> None:
        manifest = self._manifest(key)
        if manifest is None:
            await self._give_up(key)
            return
        outcome = self._judge(manifest)
        if isinstance(outcome, Missing):
            log.info("snapshot waits for its pages", object=str(key), missing=len(outcome.names))
            return
        rejection = outcome.message if isinstance(outcome, Rejected) else ""
        if isinstance(outcome, Content):
            try:
                await self._serve(key, outcome)
            except UnservableError as error:
                rejection = str(error)
        self._report(manifest, rejection)

    def _judge(self, manifest: Manifest) -> Content | Missing | Rejected:
        domain = manifest.domain
        if domain is not None and manifest.head is not None:
            if (source := self.serving.other_source(domain)) is not None:
                return Rejected(f"{domain} is {source}, which goes before HostedZone objects")
            oldest = min(self._rivals(domain), key=lambda each: each.age_order, default=manifest)
            if oldest.key != manifest.key:
                return Rejected(f"{domain} belongs to the older HostedZone {oldest.key}")
        return assemble(manifest, self._page)

    async def _serve(self, key: ObjectKey, content: Content) -> None:
        before = self.serving.of(key)
        await self.serving.replace(key, content)
        if self._cache_writer is not None and (before is None or before.content != content):
            self._cache_writer.store(key, content)

    async def _give_up(self, key: ObjectKey) -> None:
        """End what a manifest that is gone served, handing the domain to the next oldest without a gap."""
        served = self.serving.of(key)
        if served is not None:
            heir = min(self._rivals(served.content.head.domain), key=lambda each: each.age_order, default=None)
            if heir is not None:
                await self._process(heir.key)
            self.serving.withdraw(key)
        self._reporter.forget(key)
        if self._cache_writer is not None:
            self._cache_writer.forget(key)

    def _report(self, manifest: Manifest, rejection: str) -> None:
        served = self.serving.of(manifest.key)
        report = Report(
            manifest.generation,
            served.content.head.serial if served else 0,
            served.content.digest if served else "",
            ServerState.REJECTED if rejection else ServerState.SERVING,
            rejection,
        )
        if self._reporter.report(manifest.key, report) and rejection:
            log.warning("snapshot is rejected", object=str(manifest.key), reason=rejection)

    def _manifest(self, key: ObjectKey) -> Manifest | None:
        found = self._informer.get(key)
        return found if isinstance(found, Manifest) else None

    def _page(self, key: ObjectKey) -> PageObject | None:
        found = self._informer.get(key)
        return found if isinstance(found, PageObject) else None

    def _rivals(self, domain: Fqdn | None) -> list[Manifest]:
        """Return the readable manifests of a domain."""
        if domain is None:
            return []
        found = self._informer.by_index(_DOMAIN, domain)
        return [each for each in found if isinstance(each, Manifest) and each.head is not None]

    def _page_digests(self) -> set[str]:
        return {digest for served in self.serving for digest in served.content.pages}


def _domains(obj: Manifest | PageObject) -> Iterator[Fqdn]:
    if isinstance(obj, Manifest) and obj.domain is not None:
        yield obj.domain
