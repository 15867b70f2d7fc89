"""Prometheus series of the API client side. Names and labels only; never counts by itself."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter

RELISTS: Final = Counter("dns_api_informer_relists", "Complete listings that an informer made.", ("resource",))
WATCH_FAILURES: Final = Counter(
    "dns_api_informer_failures", "Listings and watches that ended with an error.", ("resource", "error")
)
UNDECODABLE: Final = Counter(
    "dns_api_informer_undecodable", "Objects that an informer could not decode.", ("resource",)
)
SUBSCRIBER_FAILURES: Final = Counter(
    "dns_api_informer_subscriber_failures", "Changes for which a subscriber raised.", ("resource",)
)
