"""`LeaseElector`: at most one of many processes runs a body, agreed upon through a coordination.k8s.io/v1 Lease.

Clocks of different machines are never compared: a foreign lease has expired when it has not changed for its duration,
measured here. A process that was held up for longer than its lease lasts wakes with steps that were due before: `kube.leadership` keeps
those back that have not gone out yet. What is out is on its way: nobody can call it back.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any, Final

import structlog

from kube import metrics
from kube.client import Client
from kube.errors import AlreadyExists, Conflict, KubeError, NotFound
from kube.leadership import leading_while
from kube.resource import ResourceRef
from kube.timestamp import micro_time_text, utc_now

_log = structlog.get_logger(__name__)

LEASES: Final = ResourceRef("coordination.k8s.io", "v1", "leases", "Lease")

_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_JITTER: Final = 0.2


class _Hold(Enum):
    """What one attempt to hold the lease came to."""

    OURS = auto()
    FOREIGN = auto()
    UNDECIDED = auto()


@dataclass(frozen=True, slots=True)
class _Observed:
    """The lease as last seen, and when (loop time) it was first seen in that state."""

    manifest: Mapping[str, Any]
    since: float

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.manifest.get("spec") or {}

    @property
    def holder(self) -> str:
        return self.spec.get("holderIdentity") or ""


class _Term:
    """One leadership. Once somebody has found it over it is, though the lease be renewed after that: something was held back by then."""

    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self.over = False

    def goes_on(self) -> bool:
        """May be asked by any thread."""
        self.over = self.over or not self._holds()
        return not self.over


class LeaseElector:
    """Competes for one Lease under `identity`, which no other process may share.

    Everybody looks every `retry_period_s`; the leader renews after `renew_period_s`. A leader that cannot
    renew for `renew_deadline_s` stops its body; others take over after `lease_duration_s` without a renewal. The
    difference is the time the body has to stop. Raises ValueError when the four do not fit together.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        identity: str,
        *,
        lease_duration_s: float = 15.0,
        renew_deadline_s: float = 10.0,
        renew_period_s: float = 0.0,
        retry_period_s: float = 2.0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        if not identity:
            raise ValueError("identity: found an empty string, the lease needs one that is unique to this process")
        latest_renewal_s = renew_period_s + retry_period_s * (1 + _JITTER)
        if not lease_duration_s > renew_deadline_s > latest_renewal_s > renew_period_s >= 0:
            raise ValueError(
                "lease_duration_s > renew_deadline_s > renew_period_s + 1.2 * retry_period_s > renew_period_s >= 0 is "
                f"required, found {lease_duration_s}, {renew_deadline_s}, {renew_period_s}, {retry_period_s}"
            )
        self._client = client
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_duration_s = lease_duration_s
        self._renew_deadline_s = renew_deadline_s
        self._renew_period_s = renew_period_s
        self._retry_period_s = retry_period_s
        self._clock = clock
        self._observed: _Observed | None = None
        self._log = _log.bind(lease=f"{namespace}/{name}", identity=identity)
        self._leading = False
        self._shown = metrics.LEADING.labels(name)
        self._shown.set(0)
        self._may_hold = False
        self._renewed = -math.inf
        self._held_until = -math.inf
        """By `machine_time_s`."""

    @property
    def leading(self) -> bool:
        """Whether the body may run now."""
        return self._leading

    @property
    def leader(self) -> str:
        """Identity of the holder as last seen; empty when there is none."""
        return self._observed.holder if self._observed else ""

    async def run(self, on_started: Callable[[], Awaitable[None]]) -> None:
        """Run the body whenever we lead; returns when the body returns by itself, raises what it raises.

        On loss the body is cancelled and awaited, then we compete again. When the body ends, or when we are cancelled,
        the lease is released, so that another process need not wait for it to expire.
        """
        try:
            while True:
                await self._acquire()
                self._log.info("became leader")
                if await self._lead(on_started):
                    return
                self._log.warning("lost leadership")
        finally:
            await self._release()

    async def _lead(self, on_started: Callable[[], Awaitable[None]]) -> bool:
        """Whether the body ended by itself; False after it was stopped because the lease is lost."""
        term = _Term(self._holds)
        body = asyncio.ensure_future(_run_fenced(on_started, term))
        renewal = asyncio.ensure_future(self._renew_until_lost(term))
        self._leading = True
        self._shown.set(1)
        try:
            await asyncio.wait({body, renewal}, return_when=asyncio.FIRST_COMPLETED)
            if body.cancelled():
                return False  # it has noticed itself that its time is up
            if not body.done():
                renewal.result()
                return False
            body.result()
            return True
        finally:
            self._leading = False
            self._shown.set(0)
            try:
                await self._stop(body, renewal)
            finally:
                term.over = True

    def _holds(self) -> bool:
        return machine_time_s() < self._held_until

    async def _acquire(self) -> None:
        told = failed = ""
        while True:
            try:
                hold = await self._try_hold()
                self._client.outage.over(self._log, failed)
                if hold is _Hold.OURS:
                    return
                if hold is _Hold.FOREIGN and told != self.leader:
                    told = self.leader
                    self._log.info("waits for the lease", leader=told)
            except KubeError as error:
                failed = self._client.outage.failed(self._log, "competing for the lease failed", self._name, error)
            await self._pause()

    async def _renew_until_lost(self, term: _Term) -> None:
        """Return once the lease is another process's, or has not been renewed for too long, be that noticed here or by the body."""
        while True:
            try:
                async with asyncio.timeout_at(self._renewed + self._renew_deadline_s):
                    await self._pause(self._renewed + self._renew_period_s)
                    if not term.goes_on() or await self._try_hold() is _Hold.FOREIGN:
                        return
            except TimeoutError:
                return
            except KubeError as error:
                self._log.warning("renewing the lease failed", error=type(error).__name__, message=error.message)

    async def _try_hold(self) -> _Hold:
        """One attempt to take the lease, or to renew it when it is time to. Raises KubeError when the API gives no answer to go by."""
        asked = asyncio.get_running_loop().time()
        held_until = machine_time_s() + self._renew_deadline_s
        try:
            lease = await self._client.get(LEASES, namespace=self._namespace, name=self._name)
        except NotFound:
            lease = None
        if lease is not None and not self._may_take(lease, asked):
            self._held_until = -math.inf
            return _Hold.FOREIGN
        is_fresh = asked < self._renewed + self._renew_period_s and self._holds()
        if lease is not None and self.leader == self._identity and is_fresh:
            return _Hold.OURS
        try:
            self._may_hold = True
            if lease is None:
                written = await self._client.create(LEASES, self._claim(None))
            else:
                written = await self._client.update(LEASES, self._claim(lease))
        except (AlreadyExists, Conflict):
            return _Hold.UNDECIDED  # somebody else wrote at the same moment: look again
        self._observed = _Observed(written, asked)
        self._renewed = asked
        self._held_until = held_until
        return _Hold.OURS

    def _may_take(self, lease: Mapping[str, Any], now: float) -> bool:
        """Whether the lease is ours, free, or has not changed for its whole duration."""
        if self._observed is None or self._observed.manifest != lease:
            self._observed = _Observed(lease, now)
        spec = self._observed.spec
        if self._observed.holder in ("", self._identity):
            return True
        duration_s = float(spec.get("leaseDurationSeconds") or self._lease_duration_s)
        return now >= self._observed.since + duration_s

    def _claim(self, lease: Mapping[str, Any] | None) -> dict[str, Any]:
        """The lease with us as its holder, now."""
        now = micro_time_text(self._clock())
        old: Mapping[str, Any] = (lease or {}).get("spec") or {}
        spec = {
            "leaseTransitions": 0,
            "acquireTime": now,
            **old,
            "holderIdentity": self._identity,
            "leaseDurationSeconds": math.ceil(self._lease_duration_s),
            "renewTime": now,
        }
        if lease is not None and old.get("holderIdentity") != self._identity:
            spec |= {"acquireTime": now, "leaseTransitions": (old.get("leaseTransitions") or 0) + 1}
        return {**(lease or self._blank()), "spec": spec}

    def _blank(self) -> dict[str, Any]:
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"namespace": self._namespace, "name": self._name},
        }

    async def _release(self) -> None:
        """Give the lease back if it is ours; a failure only means that others wait until it expires."""
        if not self._may_hold:
            return
        try:
            async with asyncio.timeout(self._retry_period_s):
                lease = await self._client.get(LEASES, namespace=self._namespace, name=self._name)
                spec = lease.get("spec") or {}
                if spec.get("holderIdentity") == self._identity:
                    now = micro_time_text(self._clock())
                    freed = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now}
                    await self._client.update(LEASES, {**lease, "spec": freed})
                    self._log.info("released the lease")
            self._may_hold = False
        except (KubeError, TimeoutError) as error:
            self._log.warning("releasing the lease failed", error=type(error).__name__)

    async def _stop(self, *tasks: asyncio.Future[None]) -> None:
        """Cancel all at once, then wait; what they raise meanwhile is logged, since their outcome no longer counts."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        pending = [task for task in tasks if not task.done()]
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)
        for task in pending:
            if not task.cancelled() and (error := task.exception()) is not None:
                self._log.error("task failed while it was stopped", exc_info=error)
        if (took_s := loop.time() - started) > self._lease_duration_s - self._renew_deadline_s:
            self._log.error("body stopped too late, another leader may have started", took_s=round(took_s, 3))

    async def _pause(self, due: float = -math.inf) -> None:
        """Wait for the next look, or until something is due (loop time) before that."""
        pause_s = self._retry_period_s * random.uniform(1.0, 1.0 + _JITTER)
        due_in_s = due - asyncio.get_running_loop().time()
        await asyncio.sleep(min(pause_s, due_in_s) if due_in_s > 0 else pause_s)


async def _run_fenced(on_started: Callable[[], Awaitable[None]], term: _Term) -> None:
    leading_while(term.goes_on)
    await on_started()


def machine_time_s() -> float:
    """Return the time of a clock that goes on while the loop stands still and, where there is one, while the machine sleeps."""
    return time.clock_gettime(_CLOCK)
