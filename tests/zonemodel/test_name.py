"""Names: spellings, octets (RFC 1035 sections 2.3.4 and 3.1) and the rules for accepting them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zonemodel.name import (
    APEX,
    Fqdn,
    OwnerName,
    WireName,
    from_labels,
    is_within,
    object_to_domain,
    object_to_length,
    object_to_owner,
    object_to_target,
    owner_fqdn,
    relative_to,
    to_wire,
    wire_labels,
)

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
NAMES = st.lists(LABELS, min_size=1, max_size=6).map(".".join)


@given(NAMES, NAMES)
def test_owner_and_fqdn_are_inverse(owner: str, domain: str) -> None:
    assert relative_to(owner_fqdn(OwnerName(owner), Fqdn(domain)), Fqdn(domain)) == owner


@given(NAMES)
def test_apex_is_the_domain_itself(domain: str) -> None:
    assert owner_fqdn(APEX, Fqdn(domain)) == domain
    assert relative_to(Fqdn(domain), Fqdn(domain)) == APEX


def test_equal_characters_at_the_end_do_not_make_a_subdomain() -> None:
    assert relative_to(Fqdn("notexample.com"), Fqdn("example.com")) is None
    assert relative_to(Fqdn("com"), Fqdn("example.com")) is None


@given(NAMES)
def test_wire_form_has_length_octets_and_ends_in_the_root(name: str) -> None:
    wire = to_wire(name)
    assert wire == to_wire(name + ".")
    assert [label.decode() for label in wire_labels(wire)] == name.split(".")
    assert len(wire) == len(name) + 2


@given(st.lists(st.binary(min_size=1, max_size=63), max_size=3))
def test_labels_of_any_octets_survive_the_wire(labels: list[bytes]) -> None:
    assert wire_labels(from_labels(labels)) == labels


@pytest.mark.parametrize("root", ["", "."])
def test_root_is_one_zero_octet(root: str) -> None:
    assert to_wire(root) == b"\0"
    assert wire_labels(to_wire(root)) == []


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("a..b", "label of 0 octets, allowed are 1 to 63"),
        (".a", "label of 0 octets"),
        ("a" * 64, "label of 64 octets, allowed are 1 to 63"),
        (".".join(["a" * 63] * 4), "takes 257 octets on the wire, allowed are 255"),
        ("ä.example", "ascii"),
    ],
)
def test_names_without_a_wire_form_are_refused(name: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        to_wire(name)


def test_longest_name_fits() -> None:
    assert len(to_wire(".".join(["a" * 63] * 3 + ["a" * 61]))) == 255


@pytest.mark.parametrize(
    ("name", "apex", "expected"),
    [
        ("example.com", "example.com", True),
        ("a.b.example.com", "example.com", True),
        ("example.com", "", True),
        ("notexample.com", "example.com", False),
        ("com", "example.com", False),
        ("example.org", "example.com", False),
    ],
)
def test_within_counts_whole_labels(name: str, apex: str, expected: bool) -> None:
    assert is_within(to_wire(name), to_wire(apex)) is expected


def test_octets_of_a_label_that_look_like_labels_are_not_within() -> None:
    assert not is_within(WireName(b"\x05a\x03com\0"), to_wire("com"))


@pytest.mark.parametrize("owner", ["@", "*", "*.app", "www", "a.b.c", "0", "xn--bcher-kva", "a-b", "a" * 63])
def test_owners_of_every_type(owner: str) -> None:
    assert object_to_owner(owner, underscore=False) is None
    assert object_to_owner(owner, underscore=True) is None


@pytest.mark.parametrize("owner", ["_dmarc", "s1._domainkey", "*._domainkey", "_acme-challenge.www"])
def test_underscores_begin_labels_of_txt_and_cname_only(owner: str) -> None:
    assert object_to_owner(owner, underscore=True) is None
    assert object_to_owner(owner, underscore=False) is not None


@pytest.mark.parametrize(
    ("owner", "complaint"),
    [
        ("", "empty"),
        ("WWW", "lowercase"),
        ("www.", "must not end in a dot"),
        ("a..b", "empty label"),
        (".a", "empty label"),
        ("*.", "empty"),
        ("*.*", "label '*'"),
        ("a.*", "label '*'"),
        ("**", "label '**'"),
        ("@.a", "label '@'"),
        ("-a", "label '-a'"),
        ("a-", "label 'a-'"),
        ("a b", "label 'a b'"),
        ("a\n", "label 'a"),
        ("a_b", "label 'a_b'"),
        ("_", "label '_'"),
        ("__a", "label '__a'"),
        ("_-a", "label '_-a'"),
        ("bücher", "xn--"),
        ("a" * 64, "64 octets, allowed are 1 to 63"),
        (".".join(["a" * 60] * 5), "on the wire, allowed are 255"),
    ],
)
def test_owners_that_are_objected_to(owner: str, complaint: str) -> None:
    assert complaint in str(object_to_owner(owner, underscore=True))


def test_domains_have_neither_wildcards_nor_underscores() -> None:
    assert object_to_domain("example.com") is None
    assert object_to_domain("com") is None
    for refused in ("*.example.com", "@", "_dmarc.example.com", "example.com.", ""):
        assert object_to_domain(refused) is not None


def test_targets_may_have_underscored_labels() -> None:
    assert object_to_target("_x1.acm-validations.example.net") is None
    assert object_to_target("*.example.net") is not None


def test_length_is_judged_on_the_wire_with_the_domain() -> None:
    owner = ".".join(["a" * 63] * 3)
    assert object_to_length(OwnerName(owner), Fqdn("b" * 61)) is None
    complaint = object_to_length(OwnerName(owner), Fqdn("b" * 62))
    assert complaint is not None
    assert "takes 256 octets on the wire, allowed are 255" in complaint
    assert len(complaint) < 200


@given(NAMES)
def test_accepted_domains_have_a_wire_form(name: str) -> None:
    if object_to_domain(name) is None:
        assert to_wire(name)
