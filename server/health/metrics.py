"""The server's numbers as Prometheus series.

Owns names and labels. Reads counters at scrape time, so that the data path pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import dns.rcode
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import REGISTRY, Collector

from server import rdtype
from server.counters import DURATION_BUCKETS, RCODES
from server.health.state import ServerState
from server.text import name_text, type_text
from server.transfer.metrics import transfer_series
from server.transport import Transport
from zonemodel.name import WireName

MOST_ZONES: Final = 100
"""Zones with a series of their own; the others share one."""

_RCODES: Final = tuple(dns.rcode.to_text(dns.rcode.Rcode.make(number)) for number in range(RCODES))
_TYPES: Final = ("other", *map(type_text, rdtype.COUNTED))
_OTHER_ZONES: Final = "other"


class ServerCollector(Collector):
    """The series of one name server."""

    def __init__(self, server: ServerState) -> None:
        self._server = server
        self._zones = ZoneSeries()

    def collect(self) -> Iterator[Metric]:
        yield from self._queries()
        yield from self._asked()
        yield self._durations()
        yield from self._plain_counters()
        yield from self._limiter()
        yield from self._observers()
        yield from transfer_series(self._server.transfers)
        server = self._server
        yield GaugeMetricFamily("dns_api_server_tcp_open", "Open connections.", value=server.counters.tcp_open)
        yield GaugeMetricFamily("dns_api_server_zones", "Zones that are served.", value=len(server.catalog.tables))
        if (age_s := server.snapshot_age_s()) is not None:
            yield GaugeMetricFamily(
                "dns_api_server_snapshot_age_seconds", "Time since the API server was last heard of.", value=age_s
            )

    def _queries(self) -> Iterator[Metric]:
        counters = self._server.counters
        queries = CounterMetricFamily(
            "dns_api_server_queries", "Replies by transport and RCODE.", labels=("transport", "rcode")
        )
        for transport in Transport:
            for rcode, number in zip(_RCODES, counters.replies(transport), strict=True):
                if number:
                    queries.add_metric((transport.name.lower(), rcode), number)
        yield queries

    def _asked(self) -> Iterator[Metric]:
        catalog = self._server.catalog
        catalog.tally()
        asked = {table.apex: table.asked for table in catalog.tables.values()}
        by_type = CounterMetricFamily("dns_api_server_questions_by_type", "Questions by type.", labels=("type",))
        for kind, *numbers in zip(_TYPES, catalog.asked_elsewhere, *asked.values(), strict=True):
            if number := sum(numbers):
                by_type.add_metric((kind,), number)
        yield by_type
        by_zone = CounterMetricFamily(
            "dns_api_server_questions_by_zone",
            f"Questions by zone: {MOST_ZONES} zones on their own, all others together.",
            labels=("zone",),
        )
        for zone, number in self._zones.update({apex: sum(counts) for apex, counts in asked.items()}):
            by_zone.add_metric((zone,), number)
        yield by_zone
        yield CounterMetricFamily(
            "dns_api_server_questions_outside", "Questions for names in no zone.", value=sum(catalog.asked_elsewhere)
        )

    def _durations(self) -> Metric:
        family = HistogramMetricFamily(
            "dns_api_server_query_duration_seconds", "Time that replies took to make, sampled.", labels=("transport",)
        )
        for transport, durations in self._server.counters.durations.items():
            total, buckets = 0, []
            for number, count in enumerate(durations.buckets):
                total += count
                bound = "+Inf" if number == DURATION_BUCKETS else str(2**number / 1e6)
                buckets.append((bound, total))
            family.add_metric((transport.name.lower(),), buckets, durations.sum_s)
        return family

    def _plain_counters(self) -> Iterator[Metric]:
        counters = self._server.counters
        for name, text, value in (
            ("dropped", "Packets without a reply.", counters.dropped),
            ("udp_errors", "Failed socket operations.", counters.udp_errors),
            ("udp_shed", "Queries given up because too many waited for an answer to be made.", counters.udp_shed),
            ("proxy_errors", "Packets and connections with a broken PROXY header.", counters.proxy_errors),
            ("tcp_opened", "Connections accepted.", counters.tcp_opened),
            ("tcp_refused", "Connections over a limit.", counters.tcp_refused),
            ("tcp_evicted", "Connections closed to make room for another one.", counters.tcp_evicted),
            ("tcp_idle_closed", "Connections closed in silence.", counters.tcp_closed_idle),
            ("tcp_slow_closed", "Connections closed because the client did not read.", counters.tcp_closed_slow),
            ("tls_errors", "Connections whose TLS failed.", counters.tls_errors),
        ):
            yield CounterMetricFamily(f"dns_api_server_{name}", text, value=value)

    def _limiter(self) -> Iterator[Metric]:
        limiter = self._server.listeners.limiter
        if limiter is None:
            return
        family = CounterMetricFamily(
            "dns_api_server_rate_limited", "Replies past the rate limit by what became of them.", labels=("action",)
        )
        family.add_metric(("dropped",), limiter.dropped)
        family.add_metric(("shortened",), limiter.held_back)
        yield family

    def _observers(self) -> Iterator[Metric]:
        listeners = self._server.listeners
        if listeners.query_log is not None:
            yield CounterMetricFamily(
                "dns_api_server_query_log_left_out", "Lines that came too fast.", value=listeners.query_log.left_out
            )
        if listeners.dnstap is not None:
            yield CounterMetricFamily("dns_api_server_dnstap_sent", "Messages sent.", value=listeners.dnstap.sent)
            yield CounterMetricFamily(
                "dns_api_server_dnstap_left_out",
                "Exchanges that the collector was not there for, or too slow.",
                value=listeners.dnstap.left_out,
            )


class ZoneSeries:
    """Which zones have a series of their own: the busiest when places are given, then for good, so that no series ever falls."""

    def __init__(self) -> None:
        self._seen: dict[WireName, int] = {}
        self._own: dict[WireName, int] = {}
        self._others = 0

    def update(self, asked: dict[WireName, int]) -> Iterator[tuple[str, int]]:
        """Take the zones that are served, each with its questions so far, and yield what to show."""
        for apex in self._own.keys() - asked.keys():
            del self._own[apex]
        self._seen = {apex: self._seen.get(apex, 0) for apex in asked}
        for apex in sorted(asked, key=asked.__getitem__, reverse=True):
            began_anew = asked[apex] < self._seen[apex]
            news = asked[apex] - (0 if began_anew else self._seen[apex])
            self._seen[apex] = asked[apex]
            if apex in self._own or (news and len(self._own) < MOST_ZONES):
                self._own[apex] = self._own.get(apex, 0) + news
            else:
                self._others += news
        for apex, number in self._own.items():
            yield name_text(apex), number
        if self._others:
            yield _OTHER_ZONES, self._others


def exposition(registry: CollectorRegistry) -> bytes:
    """Return the server's series and those of the process in the text format."""
    return generate_latest(registry) + generate_latest(REGISTRY)
