"""Which zone a hostname belongs to, and what a route's standing is: decisions without an API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.zone import Zone, parse_zone
from controllers.apps.endpoint.choice import choose, suffixes
from controllers.apps.gateway.kind import HttpRoute, parse_http_route
from controllers.apps.gateway.standing import Standing, judge_route

LABELS = st.sampled_from(["a", "b", "ab", "test"])
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
GRACE_S = 300.0


def zone(domain: str, name: str = "zone", namespace: str = "default", age: int = 0, *, deleting: bool = False) -> Zone:
    metadata: dict[str, Any] = {
        "namespace": namespace,
        "name": name,
        "creationTimestamp": f"2026-01-01T00:00:{59 - age:02}Z",
    }
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T01:00:00Z"
    provider = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
    spec = {"domainName": domain, "zoneClassRef": {"name": "class"}, "provider": provider}
    return parse_zone({"metadata": metadata, "spec": spec})


def chosen(hostname: str, *zones: Zone) -> str | None:
    found = choose(hostname, lambda domain: [each for each in zones if each.spec.domain_name == domain])
    return found.meta.name if found is not None else None


def test_of_equal_zones_the_oldest_is_chosen_then_the_first_by_name() -> None:
    assert chosen("a.b.test", zone("b.test", "young", age=1), zone("b.test", "old", age=9)) == "old"
    assert chosen("a.b.test", zone("b.test", "two", "ns-b"), zone("b.test", "one", "ns-b")) == "one"
    assert chosen("a.b.test", zone("b.test", "a", "ns-b"), zone("b.test", "z", "ns-a")) == "z"


def test_a_zone_that_is_going_does_not_count() -> None:
    assert chosen("a.b.test", zone("b.test", "going", deleting=True), zone("test", "staying")) == "staying"
    assert chosen("a.b.test", zone("b.test", "going", deleting=True)) is None


def test_a_wildcard_belongs_to_the_zone_above_it() -> None:
    assert chosen("*.b.test", zone("b.test", "zone")) == "zone"
    assert list(suffixes("*.b.test")) == ["b.test", "test"]


@given(NAMES, st.lists(NAMES, max_size=8, unique=True))
def test_the_choice_is_the_one_with_the_most_labels_in_common(hostname: str, domains: list[str]) -> None:
    labels = hostname.split(".")
    within = [each for each in domains if labels[-len(each.split(".")) :] == each.split(".")]
    best = max(within, key=lambda each: len(each.split(".")), default=None)
    assert chosen(hostname, *(zone(each, each) for each in domains)) == best


def route(*parents: dict[str, Any], generation: int = 2, refs: int = 1) -> HttpRoute:
    metadata = {"namespace": "default", "name": "route", "generation": generation}
    spec = {"hostnames": ["a.test"], "parentRefs": [{"name": f"gateway-{number}"} for number in range(refs)]}
    return parse_http_route({"metadata": metadata, "spec": spec, "status": {"parents": list(parents)}})


def said(status: str, number: int = 0, *, ago_s: float = 0, generation: int = 2, **ref: Any) -> dict[str, Any]:
    condition = {
        "type": "Accepted",
        "status": status,
        "reason": "Because",
        "observedGeneration": generation,
        "lastTransitionTime": (NOW - timedelta(seconds=ago_s)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return {"parentRef": {"name": f"gateway-{number}", **ref}, "conditions": [condition]}


@pytest.mark.parametrize(
    ("found", "standing"),
    [
        pytest.param(route(said("True")), Standing.ACCEPTED, id="accepted"),
        pytest.param(
            route(said("True", namespace="default", group="gateway.networking.k8s.io")),
            Standing.ACCEPTED,
            id="spelled out",
        ),
        pytest.param(route(said("True"), said("True", 1), refs=2), Standing.ACCEPTED, id="by both"),
        pytest.param(route(said("True"), refs=2), Standing.IN_DOUBT, id="by one of two"),
        pytest.param(route(), Standing.IN_DOUBT, id="nobody said anything"),
        pytest.param(route(said("True", generation=1)), Standing.IN_DOUBT, id="about an older generation"),
        pytest.param(
            route(said("False", generation=1, ago_s=9999)), Standing.IN_DOUBT, id="refused an older generation"
        ),
        pytest.param(route(said("Unknown", ago_s=9999)), Standing.IN_DOUBT, id="unknown"),
        pytest.param(route(said("False", ago_s=10)), Standing.IN_DOUBT, id="refused a moment ago"),
        pytest.param(route(said("False", ago_s=301)), Standing.REFUSED, id="refused for long"),
        pytest.param(
            route(said("True"), said("False", 1, ago_s=301), refs=2), Standing.REFUSED, id="refused by one of two"
        ),
        pytest.param(route(said("True", sectionName="other")), Standing.IN_DOUBT, id="for another section"),
    ],
)
def test_the_standing_of_a_route(found: HttpRoute, standing: Standing) -> None:
    assert judge_route(found, NOW, GRACE_S).standing is standing


def test_a_refusal_tells_when_its_grace_ends() -> None:
    judgement = judge_route(route(said("False", ago_s=100)), NOW, GRACE_S)
    assert judgement.again_s == pytest.approx(200)
    assert "Because" in judgement.message
