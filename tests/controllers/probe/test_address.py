"""Where servers listen, as people write it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.probe.address import Address, ServerName, parse_server
from zonemodel.name import Fqdn

PORTS = st.integers(min_value=1, max_value=65535)


@given(st.ip_addresses(), PORTS)
def test_what_is_shown_is_read_again(address: IPv4Address | IPv6Address, port: int) -> None:
    server = Address(str(address), port)
    assert parse_server(str(server)) == server


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("192.0.2.1", Address("192.0.2.1", 53)),
        ("192.0.2.1:5300", Address("192.0.2.1", 5300)),
        ("2001:DB8:0::1", Address("2001:db8::1", 53)),
        ("[2001:db8::1]", Address("2001:db8::1", 53)),
        ("[2001:db8::1]:5300", Address("2001:db8::1", 5300)),
        ("ns1.example.com", ServerName(Fqdn("ns1.example.com"))),
    ],
)
def test_addresses_and_names(text: str, server: Address | ServerName) -> None:
    assert parse_server(text) == server


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":53",
        "192.0.2.1:",
        "192.0.2.1:0",
        "192.0.2.1:65536",
        "192.0.2.1:+53",
        "192.0.2.256",
        "192.0.2",
        "[192.0.2.1",
        "[ns1.example.com]:53",
        "2001:db8::1]:53",
        "fe80::1%eth0",
        "NS1.example.com",
        "ns1..example.com",
        "a b",
        "ns1_x.example.com",
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: an address or a name"):
        parse_server(text)


def test_a_name_keeps_whether_a_port_was_given() -> None:
    assert str(parse_server("ns1.example.com:5300")) == "ns1.example.com:5300"
    assert str(parse_server("ns1.example.com.")) == "ns1.example.com"
