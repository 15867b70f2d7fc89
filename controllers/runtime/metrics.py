"""Prometheus series of the controllers. Names and labels only."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

QUEUE_DEPTH: Final = Gauge("dns_api_queue_depth", "Keys that wait for a worker.", ("controller",))
RECONCILE_SECONDS: Final = Histogram(
    "dns_api_reconcile_seconds",
    "Duration of one reconcile.",
    ("controller",),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
RECONCILE_ERRORS: Final = Counter("dns_api_reconcile_errors", "Reconciles that failed.", ("controller", "kind"))
EVENTS_DROPPED: Final = Counter("dns_api_events_dropped", "Events that were not recorded.", ("cause",))
