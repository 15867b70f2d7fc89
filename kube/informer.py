"""`Informer`: a decoded, indexed copy of one resource in memory that follows the API server.

Owns listing, watching, resuming and recovering. Keeps only what `decode` returns. An object that cannot be decoded is
unknown, not absent; a failed listing changes nothing. Never writes to the API.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import structlog

from kube import metrics
from kube.backoff import Backoff
from kube.client import Client
from kube.errors import Gone, KubeError, Unavailable
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.store import Change, Entry, IndexFunction, Store, Version
from kube.watch import WatchEvent, WatchType

_log = structlog.get_logger(__name__)

T = TypeVar("T")

Handler = Callable[[Change[T]], None]

_BACKOFF: Final = Backoff(first_s=0.1, base_s=0.2, cap_s=10.0)
_DECODE_BATCH: Final = 100
_CALM_WATCH_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class WatchPolicy:
    """How long a watch lasts (drawn between the two), how long it may be silent, and how failures are spaced.

    API servers send a bookmark about once a minute, so a healthy watch is never silent for long.
    """

    shortest_s: float = 240.0
    longest_s: float = 480.0
    idle_timeout_s: float = 150.0
    page_limit: int = 500
    backoff: Backoff = _BACKOFF


class Informer(Generic[T]):
    """One resource, in one namespace or in all, optionally narrowed by labels.

    Reads are synchronous and never block. Changes of one key arrive in the order in which the API server made them;
    several of them may be folded into one. Handlers must be quick and only take note: they run inside the watch.
    """

    def __init__(
        self,
        client: Client,
        ref: ResourceRef,
        decode: Callable[[Mapping[str, Any]], T],
        *,
        key: Callable[[Mapping[str, Any]], ObjectKey] = ObjectKey.parse,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        policy: WatchPolicy | None = None,
    ) -> None:
        self.synced = asyncio.Event()
        """Set once the first complete listing is stored and delivered; never cleared."""
        self.attempted = asyncio.Event()
        """Set once the first listing has come or failed; never cleared."""
        self._client = client
        self._ref = ref
        self._decode = decode
        self._key = key
        self._scope: dict[str, Any] = {
            "namespace": namespace or "",
            "label_selector": label_selector,
            "field_selector": field_selector,
        }
        self._policy = policy or WatchPolicy()
        self._resource = f"{ref.plural}.{ref.group}" if ref.group else ref.plural
        self._log = _log.bind(resource=self._resource)
        self._store: Store[T] = Store()
        self._handlers: list[Handler[T]] = []
        self._undecodable: dict[ObjectKey, str] = {}
        self._resume_from: str | None = None
        self._contact: float | None = None
        self._failed = ""
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def undecodable(self) -> Mapping[ObjectKey, str]:
        """Objects that exist but could not be decoded, with the reason; `get` gives their last good state, if any."""
        return self._undecodable

    def __len__(self) -> int:
        return len(self._store)

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Make `by_index(name, value)` work; only before `run`. Raises ValueError otherwise."""
        if self._contact is not None:
            raise ValueError(f"index {name!r}: indexes are added before the informer runs")
        self._store.add_index(name, function)

    def subscribe(self, handler: Handler[T]) -> Callable[[], None]:
        """Call `handler` for every change; what is stored already is delivered to it at once.

        Returns the function that ends this.
        """
        self._handlers.append(handler)
        for key, value in list(self._store.items()):
            self._deliver(handler, Change(key, None, value))
        return lambda: self._handlers.remove(handler)

    def get(self, key: ObjectKey) -> T | None:
        """The object, or None when there is none (or it could never be decoded: see `undecodable`)."""
        return self._store.get(key)

    def items(self) -> Iterator[tuple[ObjectKey, T]]:
        """All objects with their keys, in no particular order; iterate without awaiting."""
        return self._store.items()

    def by_index(self, name: str, value: Hashable) -> list[T]:
        """The objects with this value in that index, in no particular order."""
        return self._store.by_index(name, value)

    def keys_by_index(self, name: str, value: Hashable) -> list[ObjectKey]:
        """The keys of the objects with this value in that index, in no particular order."""
        return self._store.keys_by_index(name, value)

    def contact_age_s(self) -> float:
        """Seconds since the API server last proved that this copy is current; infinite before the first listing.

        May be asked from any thread.
        """
        if self._contact is None or self._loop is None:
            return math.inf
        return self._loop.time() - self._contact

    async def run(self) -> None:
        """Follow the resource until cancelled; API errors are logged and retried for ever with back-off."""
        loop = self._loop = asyncio.get_running_loop()
        failures = 0
        while True:
            started = loop.time()
            error = await self._attempt()
            calm = loop.time() - started >= _CALM_WATCH_S
            if error is not None or not calm:
                metrics.WATCH_RESTARTS.labels(self._resource).inc()
            failures = 0 if calm else failures + 1
            if error is None and calm:
                continue
            delay_s = self._policy.backoff.delay_s(max(failures - 1, 0))
            if error is not None:
                delay_s = max(delay_s, error.retry_after_s or 0.0)
                self._report(error, delay_s)
            await asyncio.sleep(delay_s)

    async def _attempt(self) -> KubeError | None:
        """List if there is nothing to resume from, then watch once; the error that ended it, if one did."""
        try:
            if self._resume_from is None:
                await self._relist()
            await self._watch()
        except Gone as error:
            self._resume_from = None
            return error
        except KubeError as error:
            return error
        return None

    def _report(self, error: KubeError, delay_s: float) -> None:
        self.attempted.set()
        metrics.WATCH_FAILURES.labels(self._resource, type(error).__name__).inc()
        if isinstance(error, Gone):
            self._log.info("history expired, listing again", delay_s=round(delay_s, 3))
        else:
            told = "following failed, will retry"
            self._failed = self._client.outage.failed(self._log, told, self._resource, error, delay_s=round(delay_s, 3))

    async def _relist(self) -> None:
        """Replace the copy by a complete listing in one step, once all of it has arrived."""
        try:
            listing, version, undecodable = await self._gather(self._policy.page_limit)
        except Gone:  # the listing was older than the history before its last page came
            listing, version, undecodable = await self._gather(0)
        changes = self._store.replace(listing)
        self._undecodable = undecodable
        metrics.UNDECODABLE_NOW.labels(self._resource).set(len(undecodable))
        self._resume_from = version
        self._touch()
        metrics.RELISTS.labels(self._resource).inc()
        for change in changes:
            self._publish(change)
        self.synced.set()
        self.attempted.set()

    async def _gather(self, limit: int) -> tuple[dict[ObjectKey, Entry[T] | None], str, dict[ObjectKey, str]]:
        """Everything there is: None for what is stored already or cannot be decoded, version, and the latter's faults."""
        listing: dict[ObjectKey, Entry[T] | None] = {}
        undecodable: dict[ObjectKey, str] = {}
        version = ""
        async with aclosing(self._client.pages(self._ref, limit=limit, **self._scope)) as pages:
            async for page in pages:
                for number, obj in enumerate(page.items):
                    if number % _DECODE_BATCH == 0:
                        await asyncio.sleep(0)  # others share the loop
                    key, found = self._identify(obj)
                    listing[key] = None
                    if self._store.version(key) == found:
                        continue
                    decoded = self._read(key, found, obj)
                    if isinstance(decoded, Entry):
                        listing[key] = decoded
                    else:
                        undecodable[key] = decoded
                version = page.resource_version
        return listing, version, undecodable

    async def _watch(self) -> None:
        assert self._resume_from is not None
        policy = self._policy
        events = self._client.watch(
            self._ref,
            resource_version=self._resume_from,
            timeout_s=random.uniform(policy.shortest_s, policy.longest_s),
            idle_timeout_s=policy.idle_timeout_s,
            opened=self._touch,
            **self._scope,
        )
        async with aclosing(events):
            async for event in events:
                self._take(event)

    def _take(self, event: WatchEvent) -> None:
        self._require_progress(event.resource_version)
        self._touch()
        if event.type is not WatchType.BOOKMARK:
            self._store_event(event)
        self._resume_from = event.resource_version

    def _require_progress(self, version: str) -> None:
        """Raise Gone when versions run backwards: the server was restored, and what it has is not what we have."""
        resumed = self._resume_from or ""
        if version.isdecimal() and resumed.isdecimal() and int(version) < int(resumed):
            raise Gone(f"{self._resource}: found resourceVersion {version} after {resumed}, the history is another one")

    def _store_event(self, event: WatchEvent) -> None:
        key, found = self._identify(event.object)
        known = self._undecodable.pop(key, None)
        change: Change[T] | None = None
        if event.type is WatchType.DELETED:
            change = self._store.remove(key)
        elif self._store.version(key) != found:
            decoded = self._read(key, found, event.object)
            if isinstance(decoded, Entry):
                change = self._store.put(key, decoded)
            else:
                self._undecodable[key] = decoded
        if known is not None or key in self._undecodable:
            metrics.UNDECODABLE_NOW.labels(self._resource).set(len(self._undecodable))
        if change is not None:
            self._publish(change)

    def _identify(self, obj: Mapping[str, Any]) -> tuple[ObjectKey, Version]:
        """Raises Unavailable for what is no object at all."""
        try:
            return self._key(obj), Version.parse(obj)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Unavailable(f"{self._resource}: found an object without identity: {error}") from error

    def _read(self, key: ObjectKey, version: Version, obj: Mapping[str, Any]) -> Entry[T] | str:
        """The decoded entry, or why there is none."""
        try:
            return self._store.entry(self._decode(obj), version)
        # whatever a decoder meets first in a manifest of another shape than it expects
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            metrics.UNDECODABLE.labels(self._resource).inc()
            self._log.error("object cannot be decoded, its last good state stays", key=str(key), error=str(error))
            return str(error) or type(error).__name__

    def _publish(self, change: Change[T]) -> None:
        for handler in tuple(self._handlers):
            self._deliver(handler, change)

    def _deliver(self, handler: Handler[T], change: Change[T]) -> None:
        try:
            handler(change)
        except Exception:  # noqa: BLE001 - one subscriber's fault must not stop the others from following
            metrics.SUBSCRIBER_FAILURES.labels(self._resource).inc()
            self._log.exception("subscriber failed", key=str(change.key))

    def _touch(self) -> None:
        self._contact = asyncio.get_running_loop().time()
        if self._failed:
            self._client.outage.over(self._log, self._failed)
            self._failed = ""
