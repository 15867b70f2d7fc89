"""Prometheus series of the manager: names, labels and how they are counted. Serves nothing; `metrics_server` does.

The names are those that controller-runtime has for the same thing, with `dns_api_` in front.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from controllers.runtime.tracing import span

WORKQUEUE_DEPTH: Final = Gauge("dns_api_workqueue_depth", "Keys that wait for a worker.", ("controller",))
ACTIVE_WORKERS: Final = Gauge("dns_api_active_workers", "Keys that are being reconciled.", ("controller",))
RECONCILE_SECONDS: Final = Histogram(
    "dns_api_reconcile_time_seconds",
    "Duration of one reconcile.",
    ("controller",),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
RECONCILE_ERRORS: Final = Counter("dns_api_reconcile_errors", "Reconciles that failed.", ("controller", "kind"))
EVENTS_DROPPED: Final = Counter("dns_api_events_dropped", "Events that were not recorded.", ("cause",))
PROVIDER_CALLS: Final = Counter(
    "dns_api_provider_calls", "Requests to what a provider manages, by what came of them.", ("provider", "code")
)
DRIFT_REPAIRS: Final = Counter(
    "dns_api_drift_repairs", "Changes sent to put back what somebody else had altered.", ("provider",)
)
GUARD_HOLDS: Final = Counter("dns_api_change_guard_holds", "Steps that the change guard of a ZoneClass held.")
GUARD_HELD_ZONES: Final = Gauge("dns_api_change_guard_held_zones", "Zones with a step that the change guard holds.")
UNPROGRAMMED: Final = Gauge(
    "dns_api_unprogrammed_objects", "Zones and RecordSets that are not programmed, by why not.", ("kind", "reason")
)
UNPROGRAMMED_SECONDS: Final = Gauge(
    "dns_api_unprogrammed_seconds", "For how long the one of them is not that waits longest.", ("kind", "reason")
)

DONE: Final = "ok"


@contextmanager
def provider_call(provider: str, operation: str = "") -> Iterator[None]:
    """Count one request by its code: `ok`, or the name of the error class that it ends with; it is a span, too."""
    code = DONE
    try:
        with span("provider call", provider=provider, operation=operation):
            yield
    except BaseException as error:
        code = type(error).__name__
        raise
    finally:
        PROVIDER_CALLS.labels(provider, code).inc()


class Tally:
    """The keys that are in some state now: `entered` counts those that come into it, `present` shows how many are in it."""

    def __init__(self, entered: Counter, present: Gauge) -> None:
        self._entered = entered
        self._present = present
        self._keys: set[Hashable] = set()
        present.set(0)

    def note(self, key: Hashable, holds: bool) -> None:
        """Say whether a key is in the state."""
        if holds and key not in self._keys:
            self._keys.add(key)
            self._entered.inc()
        elif not holds:
            self._keys.discard(key)
        self._present.set(len(self._keys))

    def close(self) -> None:
        """Show nothing any more: somebody else watches the state now."""
        self._keys.clear()
        self._present.set(0)
