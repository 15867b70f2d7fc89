"""The server's numbers as Prometheus series.

Owns names and labels. Reads counters at scrape time, so that the data path pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import dns.rcode
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import REGISTRY, Collector

if TYPE_CHECKING:
    from server.app import NameServer

_RCODES: Final = tuple(dns.rcode.to_text(dns.rcode.Rcode.make(number)) for number in range(16))


class ServerCollector(Collector):
    """The series of one name server."""

    def __init__(self, server: NameServer) -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        server, counters = self._server, self._server.counters
        queries = CounterMetricFamily(
            "dns_api_server_queries", "Replies by transport and RCODE.", labels=("transport", "rcode")
        )
        for transport, by_rcode in (("udp", counters.udp), ("tcp", counters.tcp)):
            for rcode, number in zip(_RCODES, by_rcode, strict=True):
                if number:
                    queries.add_metric((transport, rcode), number)
        yield queries
        yield CounterMetricFamily("dns_api_server_dropped", "Packets without a reply.", value=counters.dropped)
        yield CounterMetricFamily("dns_api_server_udp_errors", "Failed socket operations.", value=counters.udp_errors)
        yield CounterMetricFamily(
            "dns_api_server_tcp_refused", "TCP connections over a limit.", value=counters.tcp_refused
        )
        yield CounterMetricFamily(
            "dns_api_server_tcp_idle_closed", "TCP connections closed in silence.", value=counters.tcp_closed_idle
        )
        yield GaugeMetricFamily("dns_api_server_tcp_open", "Open TCP connections.", value=counters.tcp_open)
        yield GaugeMetricFamily("dns_api_server_zones", "Zones that are served.", value=len(server.catalog.tables))
        if (age_s := server.snapshot_age_s()) is not None:
            yield GaugeMetricFamily(
                "dns_api_server_snapshot_age_seconds", "Time since the API server was last heard of.", value=age_s
            )


def exposition(registry: CollectorRegistry) -> bytes:
    """Return the server's series and those of the process in the text format."""
    return generate_latest(registry) + generate_latest(REGISTRY)
