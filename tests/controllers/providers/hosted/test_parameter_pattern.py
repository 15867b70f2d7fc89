"""The patterns in the Provider's schema: admission refuses plain nonsense by its field, and never what the rules accept."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.provider import parse_provider
from controllers.api.reference import ProviderRef
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.target import Target
from controllers.providers.hosted.contract import provider_manifest
from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Parameters

SERVERS = [{"name": "ns1.dns.test"}]


def refused(parameters: dict[str, Any]) -> set[str]:
    """The fields that the schema refuses."""
    manifest = provider_manifest()
    version = manifest["spec"]["versions"][0]["name"]
    found = Contracts().resolve(
        parse_provider(manifest), ProviderRef(name=manifest["metadata"]["name"], version=version)
    )
    assert isinstance(found, Contract), found
    spec = Field("", {"spec": {"parameters": parameters}}).child("spec")
    faults = found.judge_payload(Target.ZONE_CLASS, "parameters", spec, required=True)
    return {fault.field.removeprefix("spec.parameters.") for fault in faults}


WRONG: list[tuple[dict[str, Any], set[str]]] = [
    (
        {"nameServers": [{"name": "NS1.dns.test"}, {"name": "ns2.dns.test."}]},
        {"nameServers[0].name", "nameServers[1].name"},
    ),
    (
        {"nameServers": [{"name": "ns1.dns.test", "addresses": ["192.0.2", "2001:db8::1", "host", "fe80::1%eth0"]}]},
        {f"nameServers[0].addresses[{index}]" for index in (0, 2, 3)},
    ),
    ({"nameServers": SERVERS, "soa": {"mname": "a..b", "rname": "me@dns.test"}}, {"soa.mname", "soa.rname"}),
    (
        {"nameServers": SERVERS, "transfer": {"allow": ["any", "key:", "10.0.0.0/x"], "notify": ["host:53", "[::1]"]}},
        {"transfer.allow[0]", "transfer.allow[1]", "transfer.allow[2]", "transfer.notify[0]", "transfer.notify[1]"},
    ),
]


@pytest.mark.parametrize(("parameters", "fields"), WRONG)
def test_nonsense_is_refused_by_its_field(parameters: dict[str, Any], fields: set[str]) -> None:
    assert refused(parameters) == fields
    assert not isinstance(parse_parameters(parameters), Parameters)


def names() -> Iterator[str]:
    yield from ("a", "a-b.c", "xn--bcher-kva.example", "1.2.3", "a" * 63 + ".test", "_a.b")


def networks() -> st.SearchStrategy[str]:
    prefixes = st.builds(lambda each, bits: f"{each}/{bits}", st.ip_addresses(), st.integers(0, 128))
    return st.one_of(st.ip_addresses().map(str), prefixes, st.sampled_from([f"key:{name}" for name in names()]))


def targets() -> st.SearchStrategy[str]:
    def with_port(address: IPv4Address | IPv6Address, port: int) -> str:
        return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"

    return st.one_of(st.ip_addresses().map(str), st.builds(with_port, st.ip_addresses(), st.integers(0, 70000)))


@given(
    name=st.sampled_from(list(names())),
    address=st.one_of(st.ip_addresses().map(str), st.ip_addresses(v=6).map(lambda each: each.exploded.upper())),
    allow=networks(),
    notify=targets(),
)
def test_what_the_rules_accept_is_never_refused(name: str, address: str, allow: str, notify: str) -> None:
    parameters = {
        "nameServers": [{"name": name, "addresses": [address]}],
        "soa": {"mname": name, "rname": f"_x.{name}"},
        "transfer": {"allow": [allow], "notify": [notify]},
    }
    if isinstance(parse_parameters(parameters), Parameters):
        assert refused(parameters) == set()
