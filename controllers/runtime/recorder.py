"""`EventRecorder`: core/v1 Events about objects, for people to read.

Repeats become a higher count on one Event. Events are diagnostics: they are dropped, and counted as dropped, rather than
slow a reconcile down, grow memory or flood the API. Nothing here ever raises to the caller of `event`.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import structlog

from controllers.runtime import metrics
from controllers.runtime.bucket import TokenBucket
from kube.backoff import Backoff
from kube.client import Client
from kube.errors import KubeError, NotFound, RetryableError
from kube.object import ObjectKey, ObjectReference
from kube.resource import ResourceRef
from kube.timestamp import time_text, utc_now

_log = structlog.get_logger(__name__)

EVENTS: Final = ResourceRef("", "v1", "events", "Event")

_CLUSTER_SCOPE_NAMESPACE: Final = "default"
_MESSAGE_LIMIT_CHARACTERS: Final = 1024
_NAME_LIMIT_CHARACTERS: Final = 253
_REMEMBERED: Final = 4096
_ATTEMPTS: Final = 5
_RETRY: Final = Backoff(first_s=0.5, base_s=1.0, cap_s=10.0)


class EventType(StrEnum):
    """Whether somebody should worry."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class EventPolicy:
    """Bounds: waiting events, writes per second to the API, and events about one object."""

    waiting: int = 2000
    rate_per_s: float = 50.0
    burst: int = 200
    object_rate_per_s: float = 1 / 60
    object_burst: int = 25
    repeat_window_s: float = 600.0


@dataclass(frozen=True, slots=True)
class _Identity:
    """Two events with the same identity are one repeated event."""

    regarding: ObjectReference
    type: EventType
    reason: str
    message: str
    related: ObjectReference | None


@dataclass(slots=True)
class _Waiting:
    """How often an event happened since it was last written."""

    first: datetime
    last: datetime
    count: int = 1


@dataclass(slots=True)
class _Recorded:
    """The Event object that stands for an identity, and its count there."""

    key: ObjectKey
    count: int
    at: float


class EventRecorder:
    """Takes events at any time; `run` writes them. `component` names the controller that reports."""

    def __init__(
        self,
        client: Client,
        component: str,
        *,
        instance: str | None = None,
        policy: EventPolicy | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._client = client
        self._component = component
        self._instance = instance or socket.gethostname()
        self._policy = policy or EventPolicy()
        self._clock = clock
        self._waiting: OrderedDict[_Identity, _Waiting] = OrderedDict()
        self._recorded: OrderedDict[_Identity, _Recorded] = OrderedDict()
        self._objects: OrderedDict[ObjectReference, TokenBucket] = OrderedDict()
        self._wake = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Events that are not written yet."""
        return len(self._waiting)

    def event(
        self,
        regarding: ObjectReference,
        type: EventType | str,  # noqa: A002 - the API's own word
        reason: str,
        message: str,
        related: ObjectReference | None = None,
    ) -> None:
        """Report that something happened to `regarding`; `related` is the object to look at next."""
        identity = _Identity(regarding, EventType(type), reason, message[:_MESSAGE_LIMIT_CHARACTERS], related)
        now = self._clock()
        if (waiting := self._waiting.get(identity)) is not None:
            waiting.count += 1
            waiting.last = now
        elif len(self._waiting) >= self._policy.waiting:
            metrics.EVENTS_DROPPED.labels("queue full").inc()
        elif not self._object_may_speak(regarding):
            metrics.EVENTS_DROPPED.labels("too many about one object").inc()
        else:
            self._waiting[identity] = _Waiting(now, now)
            self._wake.set()

    async def run(self) -> None:
        """Write events until cancelled; what still waits then is dropped."""
        loop = asyncio.get_running_loop()
        bucket = TokenBucket(self._policy.rate_per_s, self._policy.burst, loop.time())
        while True:
            await self._wake.wait()
            while self._waiting:
                await asyncio.sleep(bucket.reserve(loop.time()))
                identity, waiting = self._waiting.popitem(last=False)
                await self._write_patiently(identity, waiting)
            self._wake.clear()

    def _object_may_speak(self, regarding: ObjectReference) -> bool:
        now = asyncio.get_running_loop().time()
        bucket = self._objects.get(regarding)
        if bucket is None:
            bucket = TokenBucket(self._policy.object_rate_per_s, self._policy.object_burst, now)
            self._objects[regarding] = bucket
        self._objects.move_to_end(regarding)
        if len(self._objects) > _REMEMBERED:
            self._objects.popitem(last=False)
        return bucket.try_take(now)

    async def _write_patiently(self, identity: _Identity, waiting: _Waiting) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                await self._write(identity, waiting)
                return
            except RetryableError as error:
                await asyncio.sleep(max(_RETRY.delay_s(attempt), error.retry_after_s or 0.0))
            except KubeError as error:
                # the namespace is going away, or we may not write events there
                metrics.EVENTS_DROPPED.labels("refused").inc()
                _log.debug("event refused", reason=identity.reason, error=type(error).__name__, message=error.message)
                return
        metrics.EVENTS_DROPPED.labels("api unavailable").inc()

    async def _write(self, identity: _Identity, waiting: _Waiting) -> None:
        now = asyncio.get_running_loop().time()
        known = self._recorded.get(identity)
        if known is not None and now - known.at <= self._policy.repeat_window_s:
            count = known.count + waiting.count
            patch = {"count": count, "lastTimestamp": time_text(waiting.last)}
            try:
                await self._client.patch_merge(EVENTS, patch, namespace=known.key.namespace, name=known.key.name)
            except NotFound:
                pass  # expired on the server: write a new one
            else:
                self._remember(identity, _Recorded(known.key, count, now))
                return
        manifest = self._manifest(identity, waiting)
        await self._client.create(EVENTS, manifest)
        self._remember(identity, _Recorded(ObjectKey.parse(manifest), waiting.count, now))

    def _remember(self, identity: _Identity, recorded: _Recorded) -> None:
        self._recorded[identity] = recorded
        self._recorded.move_to_end(identity)
        if len(self._recorded) > _REMEMBERED:
            self._recorded.popitem(last=False)

    def _manifest(self, identity: _Identity, waiting: _Waiting) -> dict[str, Any]:
        regarding = identity.regarding
        suffix = f".{secrets.token_hex(8)}"
        name = regarding.name[: _NAME_LIMIT_CHARACTERS - len(suffix)].rstrip(".-") + suffix
        manifest: dict[str, Any] = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"namespace": regarding.namespace or _CLUSTER_SCOPE_NAMESPACE, "name": name},
            "involvedObject": regarding.dump(),
            "type": identity.type.value,
            "reason": identity.reason,
            "message": identity.message,
            "count": waiting.count,
            "firstTimestamp": time_text(waiting.first),
            "lastTimestamp": time_text(waiting.last),
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
        }
        if identity.related is not None:
            manifest["related"] = identity.related.dump()
        return manifest
