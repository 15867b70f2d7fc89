from __future__ import annotations

import pytest

from kube.resource import ResourceRef

ZONES = ResourceRef("dns.example.io", "v1", "zones", "Zone")
CORE_EVENTS = ResourceRef("", "v1", "events", "Event")
PROVIDERS = ResourceRef("dns.example.io", "v1", "providers", "Provider", namespaced=False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (ZONES.path(), "/apis/dns.example.io/v1/zones"),
        (ZONES.path("team-a"), "/apis/dns.example.io/v1/namespaces/team-a/zones"),
        (ZONES.path("team-a", "z"), "/apis/dns.example.io/v1/namespaces/team-a/zones/z"),
        (ZONES.path("team-a", "z", "status"), "/apis/dns.example.io/v1/namespaces/team-a/zones/z/status"),
        (CORE_EVENTS.path("a", "e"), "/api/v1/namespaces/a/events/e"),
        (PROVIDERS.path(name="route53"), "/apis/dns.example.io/v1/providers/route53"),
        (PROVIDERS.path(name="a/b c"), "/apis/dns.example.io/v1/providers/a%2Fb%20c"),
    ],
)
def test_paths_follow_the_api_conventions(path: str, expected: str) -> None:
    assert path == expected


def test_api_version_of_the_core_group_has_no_slash() -> None:
    assert (ZONES.api_version, CORE_EVENTS.api_version) == ("dns.example.io/v1", "v1")


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="cluster scoped"):
        PROVIDERS.path("team-a")
    with pytest.raises(ValueError, match="namespace: missing"):
        ZONES.path(name="z")
    with pytest.raises(ValueError, match="name: missing"):
        ZONES.path("team-a", "", "status")
