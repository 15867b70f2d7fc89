"""`Controller`: takes keys from its queue and reconciles them, one worker per key, for ever.

Owns the judgement on what a failure means for the next attempt. Never knows what a key stands for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import structlog

from controllers.runtime import metrics
from controllers.runtime.queue import RETRY, DelayQueue
from controllers.runtime.tracing import span
from kube.backoff import Backoff
from kube.errors import AlreadyExists, Conflict, Forbidden, KubeError, ResourceNotServed, RetryableError, Unauthorized
from kube.leadership import may_go_out

_log = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)

_CHEAP_S: Final = 0.005
_CONFLICT_RETRY_AT_MOST_S: Final = 0.5
_NOT_NOW: Final = (Forbidden, ResourceNotServed, Unauthorized)
"""What kube-apiserver answers, too, for some seconds after its start: until it has read roles, definitions and tokens."""


@dataclass(frozen=True, slots=True)
class Requeue:
    """Reconcile the key again in `after_s` seconds, even if nothing happens."""

    after_s: float


class TerminalError(Exception):
    """The key cannot be reconciled until something changes that makes an event: no retry helps."""


class Controller(Generic[K]):
    """Runs `reconcile(key)` for every key that is added to `queue`, for at most `workers` keys at a time.

    A key's first event starts at once. With `settle_s`, a key rests after a run for as long as the run took, but at
    most `settle_s`; events meanwhile are answered by one run after it. Thus a burst costs at most half of the time,
    however expensive a run has become by then. What a run did once and for all may be left out of its time: see `spare`.
    """

    def __init__(
        self,
        name: str,
        reconcile: Callable[[K], Awaitable[Requeue | None]],
        *,
        workers: int = 4,
        retry: Backoff = RETRY,
        settle_s: float | None = None,
        stop_grace_s: float = 3.0,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers: found {workers}, at least 1 is required")
        self.name = name
        self.queue: DelayQueue[K] = DelayQueue(retry)
        self._reconcile = reconcile
        self._workers = workers
        self._settle_s = settle_s or 0.0
        self._stop_grace_s = stop_grace_s
        self._stopping = False
        self._spared_s: dict[K, float] = {}
        self._log = _log.bind(controller=name)
        self._seconds = metrics.RECONCILE_SECONDS.labels(name)
        self._active = metrics.ACTIVE_WORKERS.labels(name)
        metrics.WORKQUEUE_DEPTH.labels(name).set_function(self.queue.__len__)

    def enqueue(self, key: K) -> None:
        """Reconcile the key soon."""
        self.queue.add(key)

    def spare(self, key: K, took_s: float) -> None:
        """Say that so much of the key's present run will not be spent by the next one, so that nothing has to rest from it."""
        self._spared_s[key] = self._spared_s.get(key, 0.0) + took_s

    async def run(self) -> None:
        """Work until cancelled; then let running reconciles end within the grace period, and cancel the rest."""
        self._stopping = False
        running: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(self._workers)
        try:
            while True:
                await free.acquire()
                task = asyncio.create_task(self._work(await self.queue.get()))
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(lambda _: free.release())
        finally:
            await self._drain(running)

    async def _drain(self, running: set[asyncio.Task[None]]) -> None:
        if running:
            await asyncio.wait(running, timeout=self._stop_grace_s)
        self._stopping = True
        if late := set(running):
            self._log.warning("reconciles cut off", count=len(late))
            for task in late:
                task.cancel()
            await asyncio.wait(late)

    async def _work(self, key: K) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._active.inc()
        try:
            await self._attempt(key)
        finally:
            self._active.dec()
            took_s = loop.time() - started
            self._seconds.observe(took_s)
            took_s -= self._spared_s.pop(key, 0.0)
            self.queue.done(key, rest_s=min(took_s, self._settle_s) if took_s > _CHEAP_S else 0.0)

    async def _attempt(self, key: K) -> None:
        """Reconcile once; whatever goes wrong ends here, as a log line and a decision when to try again."""
        try:
            with span("reconcile", controller=self.name, key=str(key)):
                again = await self._reconcile(key)
        except (Conflict, AlreadyExists) as error:
            self._count(error)
            delay_s = self.queue.retry(key, at_most_s=_CONFLICT_RETRY_AT_MOST_S)
            self._log.debug("reconcile met a newer state", key=str(key), message=error.message, delay_s=delay_s)
        except RetryableError as error:
            self._count(error)
            delay_s = self.queue.retry(key, at_least_s=error.retry_after_s or 0.0)
            self._log.warning(
                "reconcile could not reach the api", key=str(key), message=error.message, delay_s=round(delay_s, 3)
            )
        except _NOT_NOW as error:
            self._count(error)
            delay_s = self.queue.retry(key)
            self._log.warning(
                "reconcile was refused by the api", key=str(key), message=error.message, delay_s=round(delay_s, 3)
            )
        except TerminalError as error:
            self._count(error)
            self.queue.forget(key)
            self._log.error("reconcile cannot succeed", key=str(key), message=str(error))
        except asyncio.CancelledError as error:
            if self._stopping or not may_go_out():
                raise
            self._retry_unexpected(key, error)  # something that it waited for was cancelled, not the run itself
        except Exception as error:  # noqa: BLE001 - the worker edge
            self._retry_unexpected(key, error)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again.after_s)

    def _retry_unexpected(self, key: K, error: BaseException) -> None:
        self._count(error)
        delay_s = self.queue.retry(key)
        self._log.error("reconcile failed", key=str(key), delay_s=round(delay_s, 3), exc_info=error)

    def _count(self, error: BaseException) -> None:
        kind = type(error).__name__ if isinstance(error, KubeError | TerminalError) else "Unexpected"
        metrics.RECONCILE_ERRORS.labels(self.name, kind).inc()
