"""What each provider makes of endpoints."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.endpoint_conversion import ConversionInput, EndpointConversion, Fragment, Unconvertible
from controllers.apps.gateway.hostname import in_common
from controllers.providers.cloudflare.endpoint import ENDPOINT as CLOUDFLARE
from controllers.providers.external.endpoint import ENDPOINT as EXTERNAL
from controllers.providers.hosted.endpoint import ENDPOINT as HOSTED
from controllers.providers.route53.endpoint import ENDPOINT as ROUTE53
from controllers.providers.route53.load_balancer import ZONES, load_balancer_of
from controllers.providers.route53.payload import Options

ALL = [HOSTED, EXTERNAL, CLOUDFLARE, ROUTE53]


def ask(conversion: EndpointConversion, *values: str, name: str = "app") -> list[dict[str, Any]] | str:
    """Return the fragments, or the reason why there are none."""
    found = conversion.convert(question(*values, name=name))
    return found.reason if isinstance(found, Unconvertible) else [each.dump() for each in found]


def question(*values: str, name: str = "app") -> ConversionInput:
    targets = [{"type": "IPAddress" if value[0].isdigit() else "Hostname", "value": value} for value in values]
    hostname = "example.test" if name == "@" else f"{name}.example.test"
    given = {"hostname": hostname, "name": name, "zone": {"domainName": "example.test"}, "targets": targets}
    return ConversionInput.model_validate(given)


@pytest.mark.parametrize("conversion", ALL, ids=lambda each: each.provider.name)
def test_addresses_become_records_of_their_families(conversion: EndpointConversion) -> None:
    found = ask(conversion, "192.0.2.1", "2001:db8::1", "192.0.2.2", "192.0.2.1")
    assert found == [
        {"type": "A", "name": "app", "ttl": 300, "a": {"addresses": ["192.0.2.1", "192.0.2.2"]}},
        {"type": "AAAA", "name": "app", "ttl": 300, "aaaa": {"addresses": ["2001:db8::1"]}},
    ]


@pytest.mark.parametrize("conversion", ALL, ids=lambda each: each.provider.name)
def test_addresses_and_names_do_not_mix(conversion: EndpointConversion) -> None:
    assert ask(conversion, "192.0.2.1", "lb.test") == "MixedTargets"
    assert ask(conversion, "one.lb.test", "two.lb.test") == "SeveralHostnames"


@pytest.mark.parametrize("conversion", [HOSTED, EXTERNAL, CLOUDFLARE], ids=lambda each: each.provider.name)
def test_one_name_becomes_a_cname(conversion: EndpointConversion) -> None:
    assert ask(conversion, "lb.test") == [{"type": "CNAME", "name": "app", "ttl": 300, "cname": {"target": "lb.test"}}]


def test_only_cloudflare_has_a_cname_at_the_apex() -> None:
    assert ask(HOSTED, "lb.test", name="@") == "ApexHostname"
    assert ask(EXTERNAL, "lb.test", name="@") == "ApexHostname"
    assert isinstance(ask(CLOUDFLARE, "lb.test", name="@"), list)


@pytest.mark.parametrize("name", ["@", "app", "*"])
def test_load_balancers_become_aliases_of_both_families(name: str) -> None:
    found = ask(ROUTE53, "x-1.us-east-1.elb.amazonaws.com", name=name)
    assert isinstance(found, list)
    assert [(each["type"], each["name"], "ttl" in each) for each in found] == [
        ("A", name, False),
        ("AAAA", name, False),
    ]
    alias = {
        "dnsName": "x-1.us-east-1.elb.amazonaws.com.",
        "hostedZoneID": "Z35SXDOTRQ7X7K",
        "evaluateTargetHealth": False,
    }
    assert all(each["options"] == {"alias": alias} for each in found)
    Options.model_validate(found[0]["options"], strict=True)


@pytest.mark.parametrize(
    ("hostname", "zone_id"),
    [
        ("a.eu-west-1.elb.amazonaws.com", "Z32O12XQLNTSW2"),
        ("dualstack.a.eu-west-1.elb.amazonaws.com", "Z32O12XQLNTSW2"),
        ("a.elb.eu-west-1.amazonaws.com", "Z2IFOLAFXWLO4F"),
        ("a.cn-north-1.elb.amazonaws.com.cn", "Z1GDH35T77C1KE"),
        ("a.elb.cn-north-1.amazonaws.com.cn", "Z3QFB96KMJ7ED6"),
        ("a.ap-south-2.elb.amazonaws.com", "Z0173938T07WNTVAEPZN"),
        ("a.elb.ap-south-2.amazonaws.com", "Z0711778386UTO08407HT"),
        ("a.ap-southeast-4.elb.amazonaws.com", "Z09517862IB2WZLPXG76F"),
        ("a.elb.ap-southeast-4.amazonaws.com", "Z01156963G8MIIL7X90IV"),
        ("a.ca-west-1.elb.amazonaws.com", "Z06473681N0SF6OS049SD"),
        ("a.elb.ca-west-1.amazonaws.com", "Z02754302KBB00W2LKWZ9"),
        ("a.il-central-1.elb.amazonaws.com", "Z09170902867EHPV2DABU"),
        ("a.elb.mx-central-1.amazonaws.com", "Z02031231H3ID6HYJ9A7U"),
        ("eu-west-1.elb.amazonaws.com", None),
        ("a.eu-west-1.elb.amazonaws.com.evil.test", None),
        ("aeu-west-1.elb.amazonaws.com", None),
        ("a.mars-1.elb.amazonaws.com", None),
        ("a.cn-north-1.elb.amazonaws.com", None),
        ("a.eu-west-1.elb.amazonaws.com.cn", None),
        ("d1.cloudfront.net", None),
    ],
)
def test_the_zone_of_a_load_balancer_follows_from_whole_labels(hostname: str, zone_id: str | None) -> None:
    found = load_balancer_of(hostname)
    assert (found.zone_id if found is not None else None) == zone_id


def test_other_names_fail_in_route_53() -> None:
    assert ask(ROUTE53, "lb.test") == "UnknownAliasTarget"


@pytest.mark.parametrize("hostname", ["a.mars-1.elb.amazonaws.com", "a.elb.mars-1.amazonaws.com"])
def test_a_load_balancer_in_an_unknown_region_fails_and_says_which(hostname: str) -> None:
    found = ROUTE53.convert(question(hostname))
    assert isinstance(found, Unconvertible)
    assert found.reason == "UnknownRegion"
    assert "region mars-1" in found.message


def test_no_two_regions_share_a_hosted_zone() -> None:
    """A slip in the table would be an alias to a load balancer of somebody else."""
    found = [each for pair in ZONES.values() for each in pair]
    assert len(found) == len(set(found))
    assert all(re.fullmatch(r"Z[0-9A-Z]{11,21}", each) for each in found)


@given(st.lists(st.ip_addresses().map(str), min_size=1, max_size=10))
def test_every_address_is_in_exactly_one_fragment(addresses: list[str]) -> None:
    found = ask(HOSTED, *[each for each in addresses if each[0].isdigit()] or ["192.0.2.1"])
    assert isinstance(found, list)
    held = [
        each for fragment in found for body in ("a", "aaaa") for each in fragment.get(body, {}).get("addresses", ())
    ]
    assert len(held) == len(set(held))
    assert all(Fragment.model_validate(each) for each in found)


@pytest.mark.parametrize(
    ("routes", "listener", "found"),
    [
        (["a.example.test"], "", {"a.example.test"}),
        ([], "a.example.test", {"a.example.test"}),
        ([], "", set()),
        (["a.example.test"], "a.example.test", {"a.example.test"}),
        (["a.example.test"], "b.example.test", set()),
        (["a.example.test", "a.b.example.test"], "*.example.test", {"a.example.test", "a.b.example.test"}),
        (["*.example.test"], "a.example.test", {"a.example.test"}),
        (["*.example.test"], "*.example.test", {"*.example.test"}),
        (["*.b.example.test"], "*.example.test", {"*.b.example.test"}),
        (["*.example.test"], "*.b.example.test", {"*.b.example.test"}),
        (["example.test"], "*.example.test", set()),
        (["notexample.test"], "*.example.test", set()),
        (["*.example.test"], "*.elsewhere.test", set()),
    ],
)
def test_hostnames_in_common(routes: list[str], listener: str, found: set[str]) -> None:
    assert in_common(routes, listener) == found
