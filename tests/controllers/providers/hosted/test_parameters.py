"""ZoneClass parameters: what they mean, and every fault of a wrong payload by its path."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.providers.hosted.parameter_rule import parse_parameters
from controllers.providers.hosted.parameters import Parameters, head_of, servers_without_addresses
from zonemodel.name import Fqdn

SERVERS = [{"name": "ns1.dns.test"}]


def faults_of(payload: dict[str, Any] | None) -> list[str]:
    found = parse_parameters(payload)
    assert isinstance(found, tuple)
    return [str(fault) for fault in found]


def parsed(payload: dict[str, Any]) -> Parameters:
    found = parse_parameters(payload)
    assert isinstance(found, Parameters), found
    return found


def test_defaults_make_a_whole_head() -> None:
    head = head_of(parsed({"nameServers": [{"name": "ns1.dns.test"}, {"name": "ns2.dns.test"}]}), Fqdn("example.test"))
    assert head.soa.dump() == {
        "mname": "ns1.dns.test",
        "rname": "hostmaster.example.test",
        "refresh": 7200,
        "retry": 900,
        "expire": 1209600,
        "minimum": 300,
        "ttl": 3600,
    }
    assert [server.name for server in head.name_servers] == ["ns1.dns.test", "ns2.dns.test"]
    assert head.transfer.dump() == {"allow": [], "notify": []}


@pytest.mark.parametrize(
    "payload", [{"negativeTTL": 30}, {"soa": {"minimum": 30}}, {"negativeTTL": 30, "soa": {"minimum": 30}}]
)
def test_negative_ttl_is_the_minimum_of_the_soa(payload: dict[str, Any]) -> None:
    assert head_of(parsed({"nameServers": SERVERS, **payload}), Fqdn("example.test")).soa.minimum == 30


def test_null_counts_as_left_out() -> None:
    assert parsed({"nameServers": [{"name": "ns1.dns.test", "addresses": None}], "soa": None, "minReadyServers": None})


def test_every_kind_of_transfer_entry_is_accepted() -> None:
    transfer = {
        "allow": ["192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "key:secondary.example"],
        "notify": ["192.0.2.1", "192.0.2.1:5300", "2001:db8::1", "[2001:db8::1]:5300"],
    }
    assert parsed({"nameServers": SERVERS, "transfer": transfer}).transfer.dump() == transfer


def test_name_servers_inside_the_zone_need_addresses_and_others_do_not() -> None:
    names = ["ns.example.test", "ns.other.test", "example.test", "nsexample.test"]
    parameters = parsed({"nameServers": [{"name": name} for name in names]})
    assert list(servers_without_addresses(parameters, Fqdn("example.test"))) == [
        (0, "ns.example.test"),
        (2, "example.test"),
    ]


@pytest.mark.parametrize("payload", [None, {}])
def test_name_servers_are_required(payload: dict[str, Any] | None) -> None:
    assert faults_of(payload) == [
        "spec.parameters.nameServers: found nothing, allowed: a value, since the field is required"
    ]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"nameServers": []}, "nameServers: found [], allowed: at least 1 item"),
        ({"nameServers": "ns1"}, 'nameServers: found "ns1", allowed: a list'),
        ({"nameServers": [{"name": 5}]}, "nameServers[0].name: found 5, allowed: a text"),
        ({"nameServers": ["ns1"]}, 'nameServers[0]: found "ns1", allowed: an object'),
        (
            {"nameServers": [{"name": "NS1.dns.test"}]},
            'nameServers[0].name: found "NS1.dns.test", allowed: a domain name; it must be lowercase',
        ),
        (
            {"nameServers": [*SERVERS, *SERVERS]},
            (
                'nameServers[1].name: found "ns1.dns.test", allowed: each name once; '
                "it is the same as spec.parameters.nameServers[0].name"
            ),
        ),
        (
            {"nameServers": [{"name": "ns1.dns.test", "addresses": ["192.0.2"]}]},
            'nameServers[0].addresses[0]: found "192.0.2", allowed: an IPv4 or IPv6 address',
        ),
        (
            {"nameServers": [{"name": "ns1.dns.test", "addresses": ["2001:db8::1", "2001:DB8:0::1"]}]},
            (
                'nameServers[0].addresses[1]: found "2001:DB8:0::1", allowed: each entry once; '
                "it is the same as spec.parameters.nameServers[0].addresses[0]"
            ),
        ),
        ({"nameServers": SERVERS, "soa": {"refresh": 0}}, "soa.refresh: found 0, allowed: 1 or more"),
        ({"nameServers": SERVERS, "soa": {"ttl": 2**31}}, "soa.ttl: found 2147483648, allowed: 2147483647 or less"),
        ({"nameServers": SERVERS, "soa": {"ttl": "60"}}, 'soa.ttl: found "60", allowed: an integer'),
        ({"nameServers": SERVERS, "soa": {"ttl": True}}, "soa.ttl: found true, allowed: an integer"),
        (
            {"nameServers": SERVERS, "negativeTtl": 60},
            "negativeTtl: found 60, allowed: nothing, since there is no such field",
        ),
        (
            {"nameServers": SERVERS, "negativeTTL": 60, "soa": {"minimum": 30}},
            "negativeTTL: found 60, allowed: the same as spec.parameters.soa.minimum, which is 30, or only one of them",
        ),
        ({"nameServers": SERVERS, "minReadyServers": 0}, "minReadyServers: found 0, allowed: 1 or more"),
        (
            {"nameServers": SERVERS, "transfer": {"allow": ["192.0.2.1/24"]}},
            (
                'transfer.allow[0]: found "192.0.2.1/24", allowed: an IPv4 or IPv6 address, '
                "a prefix such as 192.0.2.0/24 without host bits, or key:<name>"
            ),
        ),
        (
            {"nameServers": SERVERS, "transfer": {"notify": ["2001:db8::1:65536:1:2:3:4:5"]}},
            (
                'transfer.notify[0]: found "2001:db8::1:65536:1:2:3:4:5", allowed: an IPv4 or IPv6 address, '
                "with a port as 192.0.2.1:5300 or [2001:db8::1]:5300 when it is not 53"
            ),
        ),
    ],
)
def test_fault_names_path_found_and_allowed(payload: dict[str, Any], expected: str) -> None:
    assert faults_of(payload) == [f"spec.parameters.{expected}"]


def test_mail_address_is_told_how_it_is_written_in_a_soa() -> None:
    (fault,) = faults_of({"nameServers": SERVERS, "soa": {"rname": "admin@example.test"}})
    assert "with a dot where a mail address has the @" in fault


def test_all_faults_are_told_at_once() -> None:
    payload = {
        "nameServers": [{"name": "ns1.dns.test", "addresses": ["x", "y"]}, {"name": "-"}],
        "soa": {"mname": "A."},
        "transfer": {"allow": ["key:"], "notify": ["192.0.2.1:0"]},
    }
    paths = [fault.split(":")[0].removeprefix("spec.parameters.") for fault in faults_of(payload)]
    assert paths == [
        "nameServers[0].addresses[0]",
        "nameServers[0].addresses[1]",
        "nameServers[1].name",
        "soa.mname",
        "transfer.allow[0]",
        "transfer.notify[0]",
    ]
