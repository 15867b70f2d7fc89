"""Names and values, both ways: what we write is read back as what was meant, however Route 53 spells it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.providers.route53.name import read_name, same_name, write_name
from controllers.providers.route53.record import (
    RecordKey,
    alias_record,
    bare_id,
    fingerprint,
    read_record,
    values_record,
)
from controllers.providers.route53.value import Unreadable, quote, read_value, write_values
from tests.controllers.providers.route53.fake import name as theirs
from tests.controllers.providers.route53.fake.value import check_value, strings_of
from zonemodel.record import (
    AAAABody,
    CAABody,
    CAARecord,
    CNAMEBody,
    MXBody,
    MXRecord,
    RecordBodies,
    RecordType,
    TXTBody,
)

OCTETS = st.binary(min_size=1, max_size=20)
PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=980)


def test_an_asterisk_is_one_name_in_both_spellings() -> None:
    assert read_name("\\052.Platform2.test.") == read_name("*.platform2.test") == "*.platform2.test"
    assert write_name("*.platform2.test") == "\\052.platform2.test."
    assert same_name("\\052.a.test", "*.A.test.")
    assert not same_name("a\\056b.test", "a.b.test")


@given(st.lists(OCTETS, min_size=1, max_size=4))
def test_names_of_any_octets_are_read_as_the_service_writes_them(labels: list[bytes]) -> None:
    lower = tuple(label.lower() for label in labels)
    spelled = "".join(f"{''.join(f'{chr(92)}{octet:03o}' for octet in label)}." for label in labels)
    canonical = read_name(spelled)
    assert read_name(theirs.write_name(lower)) == canonical
    assert theirs.read_name(write_name(canonical)) == lower
    assert read_name(write_name(canonical)) == canonical


@pytest.mark.parametrize("broken", ["a\\", "a\\05", "a\\9", "a\\400.test"])
def test_an_escape_that_is_none_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="escape"):
        read_name(broken)


@given(PRINTABLE)
def test_texts_are_quoted_cut_and_read_back(text: str) -> None:
    (value,) = write_values(RecordType.TXT, RecordBodies(txt=TXTBody(values=(text,))))
    assert read_value("TXT", value) == text.encode()
    strings = strings_of(value)
    assert b"".join(strings) == text.encode()
    assert len(strings) == -(-len(text) // 255)


@pytest.mark.parametrize("octets", [1, 255, 256, 510, 511, 3953])
def test_texts_are_cut_at_255_octets(octets: int) -> None:
    (value,) = write_values(RecordType.TXT, RecordBodies(txt=TXTBody(values=("x" * octets,))))
    assert [len(each) for each in strings_of(value)] == [255] * (octets // 255) + [octets % 255] * bool(octets % 255)


@pytest.mark.parametrize("text", ["x" * 3954, "x" * 4000, '"' * 2000, "\\" * 1000])
def test_a_text_that_is_too_long_with_its_quotes_and_escapes_is_not_sent(text: str) -> None:
    with pytest.raises(ValueError, match=r"txt: found a value that takes 4[0-9]{3} characters .* allowed are 4000"):
        write_values(RecordType.TXT, RecordBodies(txt=TXTBody(values=("short", text))))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"ab"', '"a" "b"'),
        ('"a;b"', '"a\\073b"'),
        ('"a\\"b"', '"a\\042b"'),
        ('"a\\\\b"', '"a\\134b"'),
        ('"a b"', '"a\\040b"'),
    ],
)
def test_quotes_escapes_and_chunks_alone_are_no_difference(one: str, other: str) -> None:
    assert read_value("TXT", one) == read_value("TXT", other)


@pytest.mark.parametrize("text", ["tab\there", "line\n", "ü", "\x7f"])
def test_what_is_not_printable_ascii_is_not_sent(text: str) -> None:
    with pytest.raises(ValueError, match=r"txt\.values\[0\]"):
        write_values(RecordType.TXT, RecordBodies(txt=TXTBody(values=(text,))))


@given(st.ip_addresses(v=6))
def test_ipv6_addresses_are_compared_as_addresses(address: object) -> None:
    exploded = getattr(address, "exploded")  # noqa: B009 - hypothesis has no narrower type
    (value,) = write_values(RecordType.AAAA, RecordBodies(aaaa=AAAABody(addresses=(str(address),))))
    assert read_value("AAAA", value) == read_value("AAAA", exploded.upper()) == address


@given(st.integers(0, 255), st.from_regex(r"[a-z0-9]{1,15}", fullmatch=True), PRINTABLE)
def test_caa_values_are_quoted_and_read_back(flags: int, tag: str, text: str) -> None:
    body = CAABody(records=(CAARecord(flags=flags, tag=tag, value=text),))
    (value,) = write_values(RecordType.CAA, RecordBodies(caa=body))
    assert read_value("CAA", value) == (flags, tag, text.encode())
    check_value("CAA", value)


def test_mx_and_names_are_compared_without_last_dot_and_case() -> None:
    mx = RecordBodies(mx=MXBody(records=(MXRecord(preference=10, exchange="mx.example.net"),)))
    assert write_values(RecordType.MX, mx) == ("10 mx.example.net.",)
    assert read_value("MX", "10  MX.example.net") == read_value("MX", "10 mx.example.net.")
    null = RecordBodies(mx=MXBody(records=(MXRecord(preference=0, exchange="."),)))
    assert write_values(RecordType.MX, null) == ("0 .",)
    assert read_value("MX", "0 .") == (0, "")
    target = RecordBodies(cname=CNAMEBody(target="a.example.net"))
    assert write_values(RecordType.CNAME, target) == ("a.example.net.",)
    assert read_value("CNAME", "A.example.NET") == "a.example.net"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("A", "1.2.3"),
        ("AAAA", "1.2.3.4"),
        ("TXT", "unquoted"),
        ("MX", "mx.example.net"),
        ("MX", "x y"),
        ("CAA", "0 issue"),
    ],
)
def test_a_value_that_is_none_equals_nothing_that_we_write(kind: str, text: str) -> None:
    assert read_value(kind, text) == Unreadable(text)


def test_a_record_set_of_two_equal_values_is_not_the_one_of_one() -> None:
    key = RecordKey("a.test", "CNAME")
    once = values_record(key, 60, ["b.test."])
    twice = read_record({**once.wire, "ResourceRecords": [{"Value": "b.test."}, {"Value": "B.test"}]})
    assert once != twice


def test_aliases_are_compared_without_case_dot_and_prefix() -> None:
    key = RecordKey("a.test", "A")
    ours = alias_record(key, "lb.example.net.", "Z1", evaluate_target_health=True)
    target = {"HostedZoneId": "/hostedzone/Z1", "DNSName": "LB.example.NET", "EvaluateTargetHealth": True}
    assert read_record({"Name": "A.test.", "Type": "A", "AliasTarget": target}) == ours
    assert (
        read_record({"Name": "a.test.", "Type": "A", "AliasTarget": {**target, "EvaluateTargetHealth": False}}) != ours
    )
    assert values_record(key, 60, ["192.0.2.1"]) != ours
    assert bare_id("/hostedzone/Z1") == bare_id("Z1") == "Z1"


def test_a_fingerprint_is_of_the_meaning() -> None:
    key = RecordKey("a.test", "TXT")
    one = values_record(key, 60, ['"ab"', '"c"'])
    assert fingerprint(one) == fingerprint(values_record(key, 60, ['"c"', '"a" "b"']))
    assert fingerprint(one) != fingerprint(values_record(key, 61, ['"ab"', '"c"']))
    assert quote('a"b\\') == '"a\\"b\\134"'
