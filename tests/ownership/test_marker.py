"""What a marker says: a record, nothing that could be told, or nothing to us."""

from __future__ import annotations

import pytest

from ownership.error import FormatError
from ownership.marker import Marker, UnclearMarker, parse_marker, write_marker
from ownership.member import Https, Member, MemberType, Srv
from ownership.naming import OwnerID, is_marker_name, state_hash
from tests.ownership.golden import b64, marker
from zonemodel.name import Fqdn


def test_a_versioned_marker_tells_owner_record_and_metadata() -> None:
    found = parse_marker(marker("prod", "A", "192.0.2.1", proxied="true", note="a=b"))
    member = Member(MemberType.A, "192.0.2.1")
    assert found == Marker(OwnerID("prod"), member, (("note", "a=b"), ("proxied", "true")))


def test_services_and_https_records_have_fields_of_their_own() -> None:
    numbers = {"record-srv-priority": "10", "record-srv-weight": "0", "record-srv-port": "65535"}
    found = parse_marker(marker("", "SRV", "sip.example.com", **numbers))
    assert found == Marker(OwnerID(""), Member(MemberType.SRV, "sip.example.com", srv=Srv(10, 0, 65535)))
    fields = {"record-https-priority": "1", "record-https-target-name": b64(b"."), "record-https-alpn": b64(b"h2,h3")}
    found = parse_marker(marker("", "HTTPS", "1 .", **fields))
    assert found == Marker(OwnerID(""), Member(MemberType.HTTPS, "1 .", https=Https(1, ".", "h2,h3")))


@pytest.mark.parametrize(
    "value",
    [
        "",
        "heritage=dnsweaver-fork",
        "heritage=dnsweaver-fork,instance=prod",
        "heritage=dnsweaver;instance=prod",
        " heritage=dnsweaver",
        "Heritage=dnsweaver",
        "heritage=external-dns,external-dns/owner=prod",
        "instance=prod,heritage=dnsweaver",
    ],
)
def test_other_texts_are_no_markers(value: str) -> None:
    assert parse_marker(value) is None


@pytest.mark.parametrize(
    ("value", "owner", "reason"),
    [
        ("heritage=dnsweaver", "", "tells no record"),
        ("heritage=dnsweaver,instance=prod", "prod", "tells no record"),
        ("heritage=dnsweaver,instance=prod,proxied=true", "prod", "tells no record"),
        ("heritage=dnsweaver,", "", "allowed is key=value"),
        (marker("prod", "A", "x") + ",flag", "prod", "found 'flag', allowed is key=value"),
        (marker("prod", "A", "x") + ",record-type=A", "prod", "'record-type' twice"),
        (marker("prod", "A", "x") + ",z=1,z=1", "prod", "'z' twice"),
        (marker("prod", "A", "x") + ",heritage=dnsweaver", "prod", "heritage twice"),
        (marker("prod", "A", "x").replace("n=2", "n=1"), "prod", "record-version: found '1'"),
        (marker("prod", "PTR", "x"), "prod", "record-type: found 'PTR'"),
        (marker("prod", "a", "x"), "prod", "record-type: found 'a'"),
        (marker("prod", "A", "x").replace("record-target", "target"), "prod", "record-target is missing"),
        (marker("prod", "A", "x").replace("eA", "eA=="), "prod", "record-target: found"),
        (marker("prod", "A", "x").replace("eA", "e"), "prod", "record-target: found"),
        (marker("prod", "A", "x").replace("eA", "_w"), "prod", "base64url of UTF-8"),
        (marker("prod", "SRV", "x", **{"record-srv-priority": "65536"}), "prod", "record-srv-priority: found '65536'"),
        (marker("prod", "SRV", "x", **{"record-srv-priority": "+1"}), "prod", "record-srv-priority: found '+1'"),
        (marker("prod", "SRV", "x", **{"record-srv-priority": "١"}), "prod", "record-srv-priority"),
        (marker("prod", "HTTPS", "x"), "prod", "record-https-target-name is missing"),
    ],
)
def test_a_marker_that_tells_no_record_is_ours_and_unclear(value: str, owner: str, reason: str) -> None:
    found = parse_marker(value)
    assert isinstance(found, UnclearMarker)
    assert found.owner == owner
    assert reason in found.reason


@pytest.mark.parametrize(
    "metadata", [("instance", "x"), ("record-type", "x"), ("a,b", "x"), ("a=b", "x"), ("", "x"), ("a", "x,y")]
)
def test_metadata_that_would_read_as_something_else_is_refused(metadata: tuple[str, str]) -> None:
    with pytest.raises(FormatError, match="found the metadata"):
        write_marker(Marker(OwnerID("prod"), Member(MemberType.A, "192.0.2.1"), (metadata,)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Member(MemberType.A, "192.0.2.1"), Member(MemberType.A, " 192.0.2.1 ")),
        (Member(MemberType.AAAA, "2001:db8:0::1"), Member(MemberType.AAAA, "2001:DB8::1")),
        (Member(MemberType.CNAME, "www.example.com"), Member(MemberType.CNAME, "WWW.example.com.")),
        (Member(MemberType.MX, "10 mail.example.com"), Member(MemberType.MX, "10 Mail.example.com.")),
        (Member(MemberType.MX, "10 mail.example.com"), Member(MemberType.MX, "010 mail.example.com")),
        (Member(MemberType.CAA, "0 issue CA.test; a=b"), Member(MemberType.CAA, "00 Issue CA.test; a=b")),
        (Member(MemberType.NS, "ns.example.com"), Member(MemberType.NS, "ns.example.com.")),
        (
            Member(MemberType.HTTPS, "x", https=Https(1, "svc.example.com", "h2")),
            Member(MemberType.HTTPS, "x", https=Https(1, "Svc.example.com.", "h2")),
        ),
    ],
)
def test_spellings_of_one_record_are_one_record(one: Member, other: Member) -> None:
    assert one.identity == other.identity


def test_texts_and_addresses_of_the_other_family_are_compared_as_they_are() -> None:
    assert Member(MemberType.TXT, "A ").identity != Member(MemberType.TXT, "a").identity
    assert Member(MemberType.A, "2001:db8::1").identity == Member(MemberType.A, "2001:db8::1")
    assert Member(MemberType.CAA, "0 issue a.test").identity != Member(MemberType.CAA, "0 issue A.test").identity
    assert Member(MemberType.CAA, "0 issue a.test").identity != Member(MemberType.CAA, "128 issue a.test").identity
    assert Member(MemberType.A, "not an address").identity.target == "not an address"


def test_names_of_manifests_and_markers_are_told_from_others() -> None:
    zone, digits = Fqdn("example.com"), "0123456789abcdef"
    assert state_hash(Fqdn(f"_dnsweaver-state.{digits}.{zone}"), zone) == digits
    for label in (digits[1:], f"{digits[1:]}g", digits.upper(), f"{digits[1:]}.a"):
        assert state_hash(Fqdn(f"_dnsweaver-state.{label}.{zone}"), zone) is None
    assert is_marker_name(Fqdn(f"_dnsweaver.www.{zone}"), zone)
    assert not is_marker_name(Fqdn("_dnsweaver.www.example.net"), zone)
    assert not is_marker_name(Fqdn(f"www.{zone}"), zone)
