"""The numbers of transfers as Prometheus series.

Owns names and labels. Reads counters at scrape time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from server.transfer.service import Transfers


def transfer_series(transfers: Transfers) -> Iterator[Metric]:
    """Yield the series of one server's transfers."""
    counters = transfers.counters
    yield _by_kind("sent", "Transfers to secondaries, finished.", counters.sent)
    yield _by_kind("received", "Transfers from primaries, taken.", counters.received)
    for name, text, value in (
        ("transfers_refused", "Requests for transfers that were refused.", counters.refused),
        ("refresh_failures", "Refreshes that no primary could be asked for.", counters.refresh_failures),
        ("notices_sent", "Notices of changes that were answered.", counters.notices_sent),
        ("notices_failed", "Notices of changes that nobody ever answered.", counters.notices_failed),
        ("notices_received", "Notices of primaries.", counters.notices_received),
    ):
        yield CounterMetricFamily(f"dns_api_server_{name}", text, value=value)
    yield GaugeMetricFamily(
        "dns_api_server_zones_withheld", "Zones of primaries that are not there or expired.", value=transfers.withheld
    )


def _by_kind(way: str, text: str, counter: Counter[str]) -> Metric:
    family = CounterMetricFamily(f"dns_api_server_transfers_{way}", text, labels=("kind",))
    for kind in ("AXFR", "IXFR"):
        family.add_metric((kind,), counter[kind])
    return family
