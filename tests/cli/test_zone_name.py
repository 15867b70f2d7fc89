"""Names of imported objects: readable where they can be, unique always."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.zone.name import MAX_OBJECT_NAME, MAX_ZONE_NAME, record_set_object_name, zone_object_name
from zonemodel.name import Fqdn, OwnerName
from zonemodel.record import RecordType

SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
LABELS = st.one_of(
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True),
    st.sampled_from(["a", "mx", "apex", "wildcard", "x-a", "eu-mx", "x-a-a", "a" * 63]),
)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
OWNERS = st.one_of(
    NAMES,
    NAMES.map("*.{}".format),
    NAMES.map("_{}".format),
    NAMES.map("*._{}".format),
    st.sampled_from(["@", "*", "apex", "wildcard", "_apex", "_wildcard", "wildcard.a"]),
)
KEYS = st.tuples(NAMES, OWNERS, st.sampled_from(RecordType))


@pytest.mark.parametrize(
    ("owner", "record_type", "name"),
    [
        ("www", RecordType.A, "www-a.example.com"),
        ("www", RecordType.AAAA, "www-aaaa.example.com"),
        ("@", RecordType.MX, "apex-mx.example.com"),
        ("*", RecordType.TXT, "wildcard-txt.example.com"),
        ("*.app", RecordType.CNAME, "wildcard.app-cname.example.com"),
        ("db-a.eu", RecordType.NS, "db-a.eu-ns-0a4b1f6c.example.com"),
    ],
)
def test_plain_records_have_readable_names(owner: str, record_type: RecordType, name: str) -> None:
    found = record_set_object_name("example.com", OwnerName(owner), record_type)
    assert re.sub(r"-[0-9a-f]{8}\.", "-0a4b1f6c.", found) == name


def test_rewritten_owners_keep_their_readable_part() -> None:
    found = record_set_object_name("example.com", OwnerName("_dmarc"), RecordType.TXT)
    assert re.fullmatch(r"dmarc-txt-[0-9a-f]{8}\.example\.com", found)
    assert found == record_set_object_name("example.com", OwnerName("_dmarc"), RecordType.TXT)


@settings(deadline=None)
@given(KEYS, KEYS)
def test_two_records_never_share_a_name(one: tuple[str, str, RecordType], other: tuple[str, str, RecordType]) -> None:
    def name(key: tuple[str, str, RecordType]) -> str:
        return record_set_object_name(key[0], OwnerName(key[1]), key[2])

    assert (name(one) == name(other)) == (one == other)


def test_a_record_of_a_parent_and_one_of_its_child_zone_differ() -> None:
    parent = record_set_object_name("example.com", OwnerName("ns.sub"), RecordType.A)
    child = record_set_object_name("sub.example.com", OwnerName("ns"), RecordType.A)
    assert parent != child


@settings(deadline=None)
@given(st.lists(LABELS, min_size=1, max_size=8).map(".".join).filter(lambda name: len(name) <= 253))
def test_every_name_is_an_object_name(domain: str) -> None:
    zone = zone_object_name(Fqdn(domain))
    assert SUBDOMAIN.fullmatch(zone)
    assert len(zone) <= MAX_ZONE_NAME
    for owner in ("@", "*", "www", "_" + "a" * 62, ".".join(["a" * 63] * 3), "a" * 63):
        name = record_set_object_name(zone, OwnerName(owner), RecordType.CNAME)
        assert SUBDOMAIN.fullmatch(name)
        assert len(name) <= MAX_OBJECT_NAME


@pytest.mark.parametrize("length", range(1, MAX_ZONE_NAME + 1))
def test_an_owner_may_be_cut_anywhere(length: int) -> None:
    zone = "a" * length if length <= 63 else ".".join(["z" * 20] * 9)[:length].rstrip(".")
    for owner in (".".join(["a" * 63] * 3), ".".join(["b" * 31] * 7)):
        name = record_set_object_name(zone, OwnerName(owner), RecordType.CNAME)
        assert SUBDOMAIN.fullmatch(name)
        assert len(name) <= MAX_OBJECT_NAME


def test_zones_are_named_by_their_domain() -> None:
    assert zone_object_name(Fqdn("example.com")) == "example.com"
    part = zone_object_name(Fqdn("example.part-1"))
    assert re.fullmatch(r"example\.part-1-[0-9a-f]{8}", part)
