"""The chart's alerts and dashboards as data, and faults that alerts are for, planted into what a healthy product was scraped to show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.helm.place import CHART
from tests.helm.promql import UNITS_S, Node, parse
from tests.helm.promql_value import History, Labels, Vector, evaluate

DASHBOARDS: Final = sorted((CHART / "dashboards").glob("*.json"))
ALERTS: Final = sorted((CHART / "files" / "alerts").glob("*.yaml"))
SCRAPE_S: Final = 30.0
PASSED_S: Final = 2 * 3600.0
"""Longer than any range and any `for`."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One rule; `for_s` is how long it has to hold."""

    name: str
    node: Node
    for_s: float
    annotations: Mapping[str, str]

    def fires(self, history: History) -> bool:
        """Say whether it fires at the end of a history that lasts `PASSED_S`."""
        moments = int(self.for_s / SCRAPE_S)
        return all(evaluate(self.node, history, PASSED_S - number * SCRAPE_S) for number in range(moments + 1))


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a series of each process that has it: its value, what it grows by in a minute, or that it is gone.

    `labels` say which of the series it is, or which comes into being: like one that is there, or with the labels that are said.
    """

    series: str
    labels: Mapping[str, str] = field(default_factory=dict)
    value: float | None = 0.0
    grows: float = 0.0


def alerts() -> list[Alert]:
    groups = [group for path in ALERTS for group in yaml.safe_load(path.read_text(encoding="utf-8"))]
    return [
        Alert(each["alert"], parse(each["expr"]), _seconds(each.get("for", "0s")), each["annotations"])
        for group in groups
        for each in group["rules"]
    ]


def panels() -> Iterator[tuple[str, str, str]]:
    """Yield title, expression and legend of all that dashboards show."""
    for path in DASHBOARDS:
        dashboard: Any = json.loads(path.read_text(encoding="utf-8"))
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"], target["legendFormat"]


def expressions(path: Path) -> Iterator[str]:
    """Yield every expression of a file."""
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.suffix == ".json":
        yield from (target["expr"] for panel in loaded["panels"] for target in panel["targets"])
    else:
        yield from (rule["expr"] for group in loaded for rule in group["rules"])


def lasting(scraped: Vector, *faults: Fault) -> History:
    """Return scrapes over `PASSED_S` of what stays as it was scraped, but for the faults."""
    history = {labels: _samples(value, 0.0) for labels, value in scraped.items()}
    for fault in faults:
        for labels in _concerned(fault, scraped):
            if fault.value is None:
                history.pop(labels)
            else:
                history[labels] = _samples(fault.value, fault.grows)
    return history


def _samples(value: float, grows: float) -> list[tuple[float, float]]:
    moments = range(int(PASSED_S / SCRAPE_S) + 1)
    return [(number * SCRAPE_S, value + grows * number * SCRAPE_S / 60) for number in moments]


def _concerned(fault: Fault, scraped: Vector) -> set[Labels]:
    alike = [dict(labels) for labels in scraped if dict(labels)["__name__"] == fault.series]
    if not alike:
        return {frozenset({"__name__": fault.series, "pod": "pod-0", **fault.labels}.items())}
    if fault.value is None:
        return {frozenset(each.items()) for each in alike}
    unknown = fault.labels.keys() - alike[0].keys()
    assert not unknown, f"{fault.series} has no labels {unknown}"
    return {frozenset({**each, **fault.labels}.items()) for each in alike}


def _seconds(text: str) -> float:
    return float(text[:-1]) * UNITS_S[text[-1]]


FAULTS: Final[Mapping[str, tuple[Fault, ...]]] = {
    "DnsApiNobodyLeads": (Fault("dns_api_leader_election_master_status"),),
    "DnsApiTwoLead": (Fault("dns_api_leader_election_master_status", {"pod": "another"}, 1),),
    "DnsApiReconcilesFail": (Fault("dns_api_reconcile_errors_total", {"kind": "Forbidden"}, grows=10),),
    # One key fails, at the longest interval that a queue has.
    "DnsApiUnexpectedErrors": (Fault("dns_api_reconcile_errors_total", {"kind": "Unexpected"}, grows=0.2),),
    "DnsApiQueueGrows": (Fault("dns_api_workqueue_depth", {"controller": "core"}, 200),),
    "DnsApiProviderFails": (
        Fault("dns_api_provider_calls_total", {"code": "ok"}, grows=1),
        Fault("dns_api_provider_calls_total", {"code": "Unavailable"}, grows=3),
    ),
    "DnsApiDriftRepaired": (Fault("dns_api_drift_repairs_total", {"provider": "route53"}, grows=1),),
    "DnsApiChangeHeld": (Fault("dns_api_change_guard_held_zones", value=1),),
    "DnsApiNotProgrammed": (
        Fault("dns_api_unprogrammed_seconds", {"kind": "RecordSet", "reason": "ProviderConflict"}, 1801),
    ),
    # It was there when the manager started, so that nothing grows.
    "DnsApiObjectsNotUnderstood": (Fault("dns_api_informer_undecodable_objects", {"resource": "zones"}, 1),),
    # One manager, at the longest interval that an informer tries again at.
    "DnsApiFollowingFails": (
        Fault("dns_api_informer_failures_total", {"resource": "zones", "error": "Forbidden"}, grows=6.1),
    ),
    "DnsApiNameServersGone": (Fault("dns_api_server_zones", value=None),),
    "DnsApiNameServerStale": (Fault("dns_api_server_snapshot_age_seconds", value=301, grows=1),),
    "DnsApiNameServersDisagree": (Fault("dns_api_server_zones", {"pod": "another"}, 9),),
    "DnsApiServerFailures": (
        Fault("dns_api_server_queries_total", {"rcode": "NOERROR"}, grows=1000),
        Fault("dns_api_server_queries_total", {"rcode": "SERVFAIL"}, grows=20),
    ),
    "DnsApiQueriesShed": (Fault("dns_api_server_udp_shed_total", grows=100),),
    "DnsApiRateLimiting": (Fault("dns_api_server_rate_limited_total", {"action": "dropped"}, grows=10_000),),
    "DnsApiConnectionsRefused": (Fault("dns_api_server_tcp_refused_total", grows=100),),
    "DnsApiTlsFailures": (Fault("dns_api_server_tls_errors_total", grows=100),),
    "DnsApiSecondariesNotNotified": (Fault("dns_api_server_notices_failed_total", grows=0.1),),
    "DnsApiZonesWithheld": (Fault("dns_api_server_zones_withheld", value=1),),
}
"""What each alert is for, as small as it has to be noticed."""
EVERYDAY: Final[Mapping[str, tuple[Fault, ...]]] = {
    "conflicts": (Fault("dns_api_reconcile_errors_total", {"kind": "Conflict"}, grows=60),),
    "claims that are on their way at every moment": (
        Fault("dns_api_unprogrammed_objects", {"kind": "RecordSet", "reason": "ProviderChangePending"}, 100),
        Fault("dns_api_unprogrammed_seconds", {"kind": "RecordSet", "reason": "ProviderChangePending"}, 300),
    ),
    "queries": (Fault("dns_api_server_queries_total", {"rcode": "NOERROR"}, grows=1e6),),
    "a few failures of a provider": (
        Fault("dns_api_provider_calls_total", {"code": "ok"}, grows=60),
        Fault("dns_api_provider_calls_total", {"code": "ThrottledError"}, grows=1),
    ),
}
"""What nobody has to be told of."""
