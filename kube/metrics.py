"""Prometheus series of the API client side. Names and labels only; never counts by itself.

What the transport counts is read when somebody asks: short commands use it without the Prometheus library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import Counter, Gauge
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import REGISTRY, Collector

from kube.transport import REQUESTS

RELISTS: Final = Counter("dns_api_informer_relists", "Complete listings that an informer made.", ("resource",))
WATCH_FAILURES: Final = Counter(
    "dns_api_informer_failures", "Listings and watches that ended with an error.", ("resource", "error")
)
UNDECODABLE: Final = Counter(
    "dns_api_informer_undecodable", "Objects that an informer could not decode.", ("resource",)
)
UNDECODABLE_NOW: Final = Gauge(
    "dns_api_informer_undecodable_objects", "Objects of which only an older state, or none, can be used.", ("resource",)
)
SUBSCRIBER_FAILURES: Final = Counter(
    "dns_api_informer_subscriber_failures", "Changes for which a subscriber raised.", ("resource",)
)
WATCH_RESTARTS: Final = Counter(
    "dns_api_watch_restarts", "Watches that ended before their time and were opened again.", ("resource",)
)
LEADING: Final = Gauge(
    "dns_api_leader_election_master_status", "Whether this process holds the Lease: 1, or 0.", ("name",)
)


class _RequestCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            "dns_api_rest_client_requests",
            "Requests to the API server by status code, `<error>` where no answer came.",
            labels=("code", "method"),
        )
        for (code, method), number in tuple(REQUESTS.items()):
            family.add_metric((code, method), number)
        yield family


REGISTRY.register(_RequestCollector())
