"""Record bodies and their octets, checked against an independent codec (dnspython's)."""

from ipaddress import IPv4Address, IPv6Address

import dns.rdata
import dns.rdataclass
import dns.rdatatype
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.zonemodel.test_name import NAMES
from zonemodel.record import (
    AAAABody,
    ABody,
    CAABody,
    CAARecord,
    CNAMEBody,
    MXBody,
    MXRecord,
    NSBody,
    RecordBodies,
    RecordType,
    TXTBody,
    encode_bodies,
    encode_text,
)


def from_text(kind: str, text: str) -> bytes:
    wire = dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.from_text(kind), text).to_wire()
    assert wire is not None
    return wire


def test_codes_are_those_of_the_registry() -> None:
    assert {each: int(dns.rdatatype.from_text(each)) for each in RecordType} == {each: each.code for each in RecordType}


def test_every_type_has_a_body_field() -> None:
    assert {each.field for each in RecordType} == set(RecordBodies.model_fields)


@given(st.lists(st.ip_addresses(v=4), min_size=1, max_size=5))
def test_a(addresses: list[IPv4Address]) -> None:
    body = RecordBodies(a=ABody(addresses=tuple(map(str, addresses))))
    assert encode_bodies(body) == tuple(sorted({from_text("A", str(each)) for each in addresses}))


@given(st.lists(st.ip_addresses(v=6), min_size=1, max_size=5))
def test_aaaa(addresses: list[IPv6Address]) -> None:
    body = RecordBodies(aaaa=AAAABody(addresses=tuple(map(str, addresses))))
    assert encode_bodies(body) == tuple(sorted({from_text("AAAA", str(each)) for each in addresses}))


def test_one_address_in_two_spellings_is_one_record() -> None:
    body = RecordBodies(aaaa=AAAABody(addresses=("2001:db8::1", "2001:0db8:0:0:0:0:0:1")))
    assert len(encode_bodies(body)) == 1


@given(st.text(st.characters(codec="utf-8"), max_size=1200))
def test_txt_is_split_in_strings_of_255_octets_and_joins_again(text: str) -> None:
    wire = encode_text(text)
    parsed = dns.rdata.from_wire(dns.rdataclass.IN, dns.rdatatype.TXT, wire, 0, len(wire))
    strings = parsed.strings  # type: ignore[attr-defined]  # of dnspython's TXT class, which the generic type hides
    assert b"".join(strings) == text.encode()
    assert all(len(each) == 255 for each in strings[:-1])


@given(NAMES)
def test_cname(target: str) -> None:
    assert encode_bodies(RecordBodies(cname=CNAMEBody(target=target))) == (from_text("CNAME", target + "."),)


@given(st.integers(0, 65535), NAMES)
def test_mx(preference: int, exchange: str) -> None:
    body = RecordBodies(mx=MXBody(records=(MXRecord(preference=preference, exchange=exchange),)))
    assert encode_bodies(body) == (from_text("MX", f"{preference} {exchange}."),)


def test_null_mx() -> None:
    body = RecordBodies(mx=MXBody(records=(MXRecord(preference=0, exchange="."),)))
    assert encode_bodies(body) == (b"\0\0\0",)


@given(st.integers(0, 255), st.from_regex(r"[a-z0-9]{1,15}", fullmatch=True), st.from_regex(r"[ -~]*", fullmatch=True))
def test_caa(flags: int, tag: str, value: str) -> None:
    body = RecordBodies(caa=CAABody(records=(CAARecord(flags=flags, tag=tag, value=value),)))
    (wire,) = encode_bodies(body)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert wire == from_text("CAA", f'{flags} {tag} "{quoted}"')


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_ns(names: list[str]) -> None:
    body = RecordBodies(ns=NSBody(name_servers=tuple(names)))
    assert encode_bodies(body) == tuple(sorted(from_text("NS", f"{each}.") for each in names))


def test_order_in_the_claim_does_not_matter() -> None:
    one = RecordBodies(txt=TXTBody(values=("b", "a", "ab")))
    other = RecordBodies(txt=TXTBody(values=("ab", "b", "a")))
    assert encode_bodies(one) == encode_bodies(other)


@pytest.mark.parametrize(
    "bodies",
    [
        RecordBodies(),
        RecordBodies(a=ABody(addresses=("2001:db8::1",))),
        RecordBodies(aaaa=AAAABody(addresses=("192.0.2.1",))),
        RecordBodies(cname=CNAMEBody(target="a..b")),
        RecordBodies(caa=CAABody(records=(CAARecord(flags=0, tag="", value="x"),))),
        RecordBodies(caa=CAABody(records=(CAARecord(flags=0, tag="ä", value="x"),))),
    ],
)
def test_values_without_a_wire_form_are_refused(bodies: RecordBodies) -> None:
    with pytest.raises(ValueError, match=r".+"):
        encode_bodies(bodies)


def test_numbers_outside_their_field_are_refused_at_the_edge() -> None:
    with pytest.raises(ValidationError):
        MXRecord(preference=65536, exchange="a")
    with pytest.raises(ValidationError):
        CAARecord(flags=256, tag="issue", value="x")
    with pytest.raises(ValidationError):
        ABody(addresses=())


def test_bodies_cross_the_api_edge_in_camel_case() -> None:
    body = RecordBodies.model_validate({"ns": {"nameServers": ["ns1.example.net"]}, "unknown": 1})
    assert body.ns == NSBody(name_servers=("ns1.example.net",))
    assert body.dump() == {"ns": {"nameServers": ["ns1.example.net"]}}
