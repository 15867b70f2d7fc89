"""Master files: the grammar of RFC 1035 section 5, what makes a zone, and the way back to text."""

from __future__ import annotations

import os
from pathlib import Path

import dns.rdatatype
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zonemodel.name import WireName, from_labels, to_wire
from zonemodel.record import MXBody, MXRecord, RecordBodies, encode_bodies, encode_text
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import ZoneFileError, parse_zone_text, read_zone_file, write_zone_file

HEAD = "$ORIGIN example.com.\n$TTL 60\n@ SOA ns hostmaster 1 2 3 4 5\n"
A, NS, CNAME, SOA, MX, TXT = 1, 2, 5, 6, 15, 16


def parse(body: str, origin: str | None = None) -> ZoneData:
    return parse_zone_text(HEAD + body, origin, "zone.txt")


def sets_of(zone: ZoneData) -> dict[tuple[WireName, int], RRset]:
    return {(each.owner, each.rdtype): each for each in zone.rrsets}


def found(body: str, owner: str, rdtype: int) -> RRset:
    return sets_of(parse(body))[to_wire(owner), rdtype]


def refusal(text: str, origin: str | None = None) -> ZoneFileError:
    with pytest.raises(ZoneFileError) as caught:
        parse_zone_text(text, origin, "zone.txt")
    assert str(caught.value) == f"zone.txt:{caught.value.line}: {caught.value.message}"
    return caught.value


# Grammar


def test_owners_are_inherited_completed_and_lowercased() -> None:
    zone = parse("WWW A 192.0.2.1\n    AAAA 2001:db8::1\nsub.Example.COM. A 192.0.2.2\n@ A 192.0.2.3\n")
    assert {(owner, rdtype) for owner, rdtype in sets_of(zone) if rdtype != SOA} == {
        (to_wire("www.example.com"), A),
        (to_wire("www.example.com"), 28),
        (to_wire("sub.example.com"), A),
        (to_wire("example.com"), A),
    }


@pytest.mark.parametrize("prefix", ["300 IN", "IN 300", "300", "5m IN", "IN 5M", "300 CLASS1"])
def test_ttl_and_class_come_in_either_order_or_not_at_all(prefix: str) -> None:
    assert found(f"www {prefix} A 192.0.2.1", "www.example.com", A).ttl_s == 300


def test_an_absent_ttl_is_the_default_then_the_last_stated_then_the_soa_minimum() -> None:
    assert found("a 7 A 192.0.2.1\nb A 192.0.2.1", "b.example.com", A).ttl_s == 60
    no_default = (
        "$ORIGIN example.com.\n@ 9 SOA ns hostmaster 1 2 3 4 5\na A 192.0.2.1\nb 7 A 192.0.2.1\nc A 192.0.2.1\n"
    )
    zone = sets_of(parse_zone_text(no_default, None, "zone.txt"))
    assert [zone[to_wire(f"{name}.example.com"), A].ttl_s for name in "abc"] == [9, 7, 7]
    nothing_stated = "example.com. SOA ns hostmaster 1 2 3 4 5\na A 192.0.2.1\n"
    assert {each.ttl_s for each in parse_zone_text(nothing_stated, None, "zone.txt").rrsets} == {5}


def test_a_default_ttl_holds_from_its_line_on() -> None:
    zone = sets_of(parse("a A 192.0.2.1\n$TTL 1h30m\nb A 192.0.2.1"))
    assert zone[to_wire("a.example.com"), A].ttl_s == 60
    assert zone[to_wire("b.example.com"), A].ttl_s == 5400


def test_parentheses_comments_quotes_and_escapes() -> None:
    body = 'www ( ; comment\n  TXT "a;b" (\n "c d" ) \\"e ) ; end\nx\\.y TXT "\\226\\\\" ; one label\n'
    assert found(body, "www.example.com", TXT).rdatas == (b'\x03a;b\x03c d\x02"e',)
    owner = from_labels([b"x.y", b"example", b"com"])
    assert sets_of(parse(body))[owner, TXT].rdatas == (b"\x02\xe2\\",)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_of_every_system(ending: str) -> None:
    text = (HEAD + "www A 192.0.2.1\n\nbad A x\n").replace("\n", ending)
    assert refusal(text).line == 6


def test_origin_changes_names_after_it_on_both_sides() -> None:
    body = "$ORIGIN sub\n@ NS ns1\n$ORIGIN example.com.\nwww CNAME @\n"
    assert found(body, "sub.example.com", NS).rdatas == (to_wire("ns1.sub.example.com"),)
    assert found(body, "www.example.com", CNAME).rdatas == (to_wire("example.com"),)


def test_types_without_a_form_of_their_own() -> None:
    assert found("www TYPE65280 \\# 4 0A00 0001", "www.example.com", 65280).rdatas == (b"\x0a\0\0\x01",)
    assert found("www TYPE65280 \\# 0", "www.example.com", 65280).rdatas == (b"",)
    assert found("www A \\# 4 C0000201", "www.example.com", A).rdatas == (b"\xc0\0\x02\x01",)


def test_record_data_are_uncompressed_and_keep_their_spelling() -> None:
    assert found("www MX 10 Mail", "www.example.com", MX).rdatas == (b"\0\x0a" + to_wire("Mail.example.com"),)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text("\ufeff" + HEAD)
    assert read_zone_file(tmp_path / "zone", None).origin == to_wire("example.com")


# Origin


def test_the_origin_is_the_soa_owner_however_names_are_completed() -> None:
    text = "$ORIGIN com.\n$TTL 1\nexample SOA ns.example h 1 2 3 4 5\nwww.example A 192.0.2.1\n"
    zone = parse_zone_text(text, None, "zone.txt")
    assert zone.origin == to_wire("example.com")
    assert (to_wire("www.example.com"), A) in sets_of(zone)


def test_the_origin_argument_completes_names_and_says_where_the_soa_stands() -> None:
    text = "$TTL 1\n@ SOA ns h 1 2 3 4 5\nwww A 192.0.2.1\n"
    for origin in ("example.com", "example.com.", "EXAMPLE.com"):
        assert (to_wire("www.example.com"), A) in sets_of(parse_zone_text(text, origin, "zone.txt"))
    error = refusal(HEAD, "example.org")
    assert (error.line, error.message) == (
        3,
        "found the SOA record at example.com., allowed is the origin given: example.org.",
    )


def test_a_bad_origin_argument_is_refused() -> None:
    for origin, why in (("a..b", "label is empty"), ("bücher.example", "xn--"), ("a" * 64, "63 octets")):
        message = refusal(HEAD, origin).message
        assert f"found the origin {origin!r}" in message
        assert why in message
        assert "allowed is a domain name" in message


def test_the_root_is_a_zone() -> None:
    zone = parse_zone_text(". 1 SOA a. b. 1 2 3 4 5\ncom. NS ns.com.\n", None, "zone.txt")
    assert zone.origin == b"\0"
    assert sets_of(zone)[to_wire("com"), NS].rdatas == (to_wire("ns.com"),)


def test_names_are_not_guessed_without_an_origin() -> None:
    assert "no origin is known" in refusal("www A 192.0.2.1\n").message
    assert "no origin is known" in refusal("www.example.com. 5 MX 1 mail\n").message


# Include


def test_included_files_are_found_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "zone").write_text(HEAD + "$INCLUDE sub/one sub\nwww A 192.0.2.1\n    TXT after\n")
    (tmp_path / "sub" / "one").write_text("@ A 192.0.2.2\n$INCLUDE two\n")
    (tmp_path / "sub" / "two").write_text("deep A 192.0.2.3\n$ORIGIN elsewhere.example.com.\n@ A 192.0.2.4\n")
    zone = sets_of(read_zone_file(tmp_path / "zone", None))
    for owner in ("sub", "deep.sub", "elsewhere", "www"):
        assert (to_wire(f"{owner}.example.com"), A) in zone
    assert (to_wire("www.example.com"), TXT) in zone


def test_errors_in_an_included_file_name_that_file(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text(HEAD + "$INCLUDE one\n")
    (tmp_path / "one").write_text("\nwww A x\n")
    with pytest.raises(ZoneFileError) as caught:
        read_zone_file(tmp_path / "zone", None)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "one"), 2)


def test_a_missing_include_is_an_error_of_the_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text(HEAD + "$INCLUDE nowhere\n")
    with pytest.raises(ZoneFileError, match=r"zone:4: cannot read .*nowhere: No such file"):
        read_zone_file(tmp_path / "zone", None)


def test_files_that_include_themselves_end_in_an_error(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text(HEAD)
    (tmp_path / "loop").write_text("$INCLUDE loop\n")
    (tmp_path / "zone").write_text(HEAD + "$INCLUDE loop\n")
    with pytest.raises(ZoneFileError, match=r"found \$INCLUDE at depth 9, allowed are 8"):
        read_zone_file(tmp_path / "zone", None)


# What makes a zone


def test_duplicates_are_one_record_whatever_the_case_of_their_names() -> None:
    assert found("a NS ns.Example.net.\nA NS NS.example.NET.", "a.example.com", NS).rdatas == (
        to_wire("ns.Example.net"),
    )
    assert len(found("a TXT x\na TXT X", "a.example.com", TXT).rdatas) == 2


def test_differing_ttls_of_a_set_become_the_lowest_and_are_reported() -> None:
    zone = parse("a 7 A 192.0.2.1\na 5 A 192.0.2.2\na 6 A 192.0.2.3\n")
    assert sets_of(zone)[to_wire("a.example.com"), A].ttl_s == 5
    assert zone.warnings == (
        "zone.txt:5: a.example.com. A has the TTLs 7 and 5, taking 5 (RFC 2181 section 5.2)",
        "zone.txt:6: a.example.com. A has the TTLs 5 and 6, taking 5 (RFC 2181 section 5.2)",
    )
    assert parse("a 7 A 192.0.2.1\na 7 A 192.0.2.2").warnings == ()


def test_what_lies_outside_is_left_out_and_reported() -> None:
    zone = parse("a A 192.0.2.1\nwww.example.org. A 192.0.2.1\ncom. NS a\nnotexample.com. TXT x\n")
    assert {owner for owner, _ in sets_of(zone)} == {to_wire("example.com"), to_wire("a.example.com")}
    what = "left out www.example.org. and 2 more record sets, outside the zone example.com."
    assert (zone.left_out, zone.warnings) == (3, (f"zone.txt:5: {what} (RFC 1035 section 5.2)",))
    assert parse("a A 192.0.2.1").left_out == 0


def test_signatures_have_the_ttls_of_what_they_cover() -> None:
    rrsig = "RRSIG {} 8 2 1 20300101000000 20290101000000 1 example.com. AQID"
    zone = parse(f"a 7 {rrsig.format('A')}\na 5 {rrsig.format('TXT')}\n")
    assert zone.warnings == ()


def test_a_transfer_that_repeats_its_soa_is_a_zone() -> None:
    soa = HEAD.splitlines()[2]
    assert len(found(soa, "example.com", SOA).rdatas) == 1


REFUSALS = [
    ("", 1, "no SOA record up to the end, exactly one is needed"),
    ("www.example.com. 5 A 192.0.2.1\n", 2, "no SOA record up to the end"),
    (
        HEAD + "@ SOA ns hostmaster 2 2 3 4 5",
        4,
        "second SOA record at example.com., allowed is one; the first is at zone",
    ),
    (HEAD + "a SOA ns hostmaster 2 2 3 4 5", 4, "second SOA record at a.example.com., allowed is one"),
    (HEAD + "a CNAME b\n\na CNAME c", 6, "second CNAME record at a.example.com., allowed is one; the first is at zone"),
    (HEAD + "a A 192.0.2", 4, "'a A 192.0.2' (text input is malformed), allowed is one IPv4 address such as 192.0.2.1"),
    (HEAD + "a A 192.0.2.1 x", 4, '("x" is more than the record data hold), allowed is one IPv4'),
    (HEAD + "a A", 4, "allowed is one IPv4"),
    (HEAD + "a", 4, "no record type in 'a', allowed is [TTL] [IN] TYPE DATA"),
    (HEAD + "a CH TXT x", 4, "found the class CH, allowed is IN"),
    (HEAD + "a IN IN A 192.0.2.1", 4, "found the record type 'IN'"),
    (HEAD + "a FOO x", 4, "found the record type 'FOO', allowed is a type mnemonic such as A or TXT, or TYPE"),
    (HEAD + "a AXFR x", 4, "stands only in queries and messages"),
    (HEAD + "a TYPE0 \\# 0", 4, "stands only in queries and messages"),
    (HEAD + "a 2147483648 A 192.0.2.1", 4, "found the TTL 2147483648, allowed are 0 to 2147483647 seconds"),
    (HEAD + "a 1x A 192.0.2.1", 4, "found the TTL '1x', allowed are 0 to 2147483647 seconds, or such as 1h30m"),
    (HEAD + "$TTL x", 4, "found the TTL 'x'"),
    (HEAD + "$TTL", 4, "found the TTL"),
    (HEAD + "$ORIGIN", 4, "$ORIGIN NAME"),
    (
        HEAD + "$DATE",
        4,
        "directive $DATE, allowed are $ORIGIN NAME, $TTL SECONDS, $INCLUDE FILE [ORIGIN] and $GENERATE",
    ),
    (HEAD + "$INCLUDE other", 4, "$INCLUDE other, allowed only in a master file on disk"),
    (HEAD + "   A 192.0.2.1\n" + "(", 5, "unbalanced parentheses"),
    (HEAD + 'a TXT "x\ny"', 4, "newline in quoted string"),
    (HEAD + "a TXT " + "x" * 256, 4, "strings of at most 255 octets each"),
    (HEAD + "a" * 64 + " A 192.0.2.1", 4, "63 octets"),
    (HEAD + "a..b A 192.0.2.1", 4, "label is empty"),
    (HEAD + "bücher A 192.0.2.1", 4, "write it in its xn-- form"),
    (HEAD + "a MX 10 bücher", 4, "write it in its xn-- form"),
    (HEAD + "a TYPE99 \\# 3 0102", 4, "found 'a TYPE99"),
    (HEAD + "a MX 65536 b", 4, "allowed is a preference from 0 to 65535 and a domain name"),
    (" A 192.0.2.1", 1, "the first record has no owner"),
    ("a.example. A 192.0.2.1", 1, "found no TTL in 'a.example. A 192.0.2.1' and nothing says one"),
]


@pytest.mark.parametrize(("text", "line", "message"), REFUSALS, ids=[message for _, _, message in REFUSALS])
def test_refusals_say_where_what_was_found_and_what_is_allowed(text: str, line: int, message: str) -> None:
    error = refusal(text)
    assert error.line == line
    assert message in error.message
    assert len(error.message) < 400


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ZoneFileError, match=r"cannot read .*: No such file or directory"):
        read_zone_file(tmp_path / "absent", None)
    with pytest.raises(ZoneFileError, match=r"cannot read .*: Is a directory"):
        read_zone_file(tmp_path, None)


def test_octets_that_are_no_text_are_refused_with_the_escape_to_write(tmp_path: Path) -> None:
    (tmp_path / "zone").write_bytes(HEAD.encode() + b"a TXT caf\xe9\n")
    with pytest.raises(ZoneFileError, match=r"zone:4: found the octet 0xe9, which is not UTF-8; write it as \\233"):
        read_zone_file(tmp_path / "zone", None)


@given(st.text(st.sampled_from('a1 \t\n();"\\@.$AINTXSOC#')))
def test_a_text_is_a_zone_or_a_refusal_and_nothing_else(body: str) -> None:
    try:
        zone = parse(body)
    except ZoneFileError:
        return
    assert sum(each.rdtype == SOA for each in zone.rrsets) == 1


# The way back

LABEL = st.one_of(
    st.binary(min_size=1, max_size=20),
    st.from_regex(rb"[a-z0-9-]{1,20}", fullmatch=True),
    st.sampled_from([b"@", b"*", b"$ttl", b"a.b", b'"', b"(", b";", b"\\", b" ", b"\0", b"\xff"]),
)
TARGETS = st.lists(LABEL, max_size=4).map(from_labels)
UNKNOWN_TYPES = st.integers(65280, 65534)


def _set(owner: list[bytes], rdtype: int, ttl_s: int, rdatas: set[bytes]) -> RRset:
    labels = [label.lower() for label in owner]
    return RRset(from_labels([*labels, b"example", b"com"]), rdtype, ttl_s, tuple(sorted(rdatas)))


RDATAS = st.one_of(
    st.tuples(st.just(A), st.sets(st.binary(min_size=4, max_size=4), min_size=1, max_size=3)),
    st.tuples(st.just(TXT), st.sets(st.text(max_size=600).map(encode_text), min_size=1, max_size=3)),
    st.tuples(
        st.just(TXT), st.sets(st.binary(max_size=255).map(lambda v: bytes([len(v)]) + v), min_size=1, max_size=3)
    ),
    st.tuples(st.just(CNAME), st.sets(TARGETS, min_size=1, max_size=1)),
    st.tuples(UNKNOWN_TYPES, st.sets(st.binary(max_size=50), min_size=1, max_size=3)),
)
SETS = st.builds(
    lambda owner, typed, ttl_s: _set(owner, typed[0], ttl_s, typed[1]),
    st.lists(LABEL, max_size=3),
    RDATAS,
    st.integers(0, 2**31 - 1),
)


@settings(max_examples=200)
@given(st.lists(SETS, max_size=8, unique_by=lambda each: (each.owner, each.rdtype)))
def test_a_zone_survives_its_text(sets: list[RRset]) -> None:
    soa = next(each for each in parse("").rrsets if each.rdtype == SOA)
    zone = ZoneData(to_wire("example.com"), (soa, *sets))
    text = write_zone_file(zone)
    again = parse_zone_text(text, None, "written")
    assert again.origin == zone.origin
    assert sets_of(again) == sets_of(zone)
    assert write_zone_file(again) == text


def test_the_text_is_sorted_readable_and_the_same_for_the_same_sets() -> None:
    mx = RecordBodies(
        mx=MXBody(records=(MXRecord(preference=20, exchange="b.example"), MXRecord(preference=3, exchange="a")))
    )
    sets = [
        *parse('www A 192.0.2.2\nwww A 192.0.2.1\n@ NS ns\na.www TXT "x y"\n*.www AAAA 2001:db8::1\n').rrsets,
        RRset(to_wire("example.com"), MX, 60, encode_bodies(mx)),
        RRset(to_wire("example.com"), 65280, 60, (b"\x01",)),
    ]
    expected = """\
$ORIGIN example.com.
@ 60 IN SOA ns.example.com. hostmaster.example.com. 1 2 3 4 5
@ 60 IN NS ns.example.com.
@ 60 IN MX 3 a.
@ 60 IN MX 20 b.example.
@ 60 IN TYPE65280 \\# 1 01
www 60 IN A 192.0.2.1
www 60 IN A 192.0.2.2
*.www 60 IN AAAA 2001:db8::1
a.www 60 IN TXT "x y"
"""
    for order in (sets, sets[::-1]):
        assert write_zone_file(ZoneData(to_wire("example.com"), tuple(order))) == expected


def test_octets_that_no_text_can_carry_are_refused() -> None:
    broken = RRset(to_wire("example.com"), A, 1, (b"\x01\x02",))
    with pytest.raises(ValueError, match="the octets 0102 are no A record data"):
        write_zone_file(ZoneData(to_wire("example.com"), (broken,)))


SAMPLES = [
    'CAA 128 issue "ca.example.net; account=1"',
    "SRV 1 2 3 target",
    "PTR host.example.org.",
    "DNAME other.example.net.",
    "HINFO PDP-11/70 UNIX",
    'NAPTR 100 50 s http+I2R+I2C+I2R "" _http._tcp',
    "LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m",
    "SSHFP 2 1 123456789ABCDEF67890123456789ABCDEF67890",
    "TLSA 3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B56664C5D3D6",
    "DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
    "DNSKEY 256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3",
    "NSEC host A MX RRSIG NSEC TYPE1234",
    "SVCB 1 foo alpn=h2,h3 port=8004",
    "HTTPS 0 www",
    'URI 10 1 "ftp://ftp1.example.com/public"',
    "RP admin txt",
    "EUI48 00-00-5e-00-53-2a",
]


@pytest.mark.parametrize("sample", SAMPLES, ids=[each.split()[0] for each in SAMPLES])
def test_records_of_any_type_survive_the_text(sample: str) -> None:
    zone = parse(f"www {sample}\n")
    rdtype = int(dns.rdatatype.from_text(sample.split()[0]))
    assert (to_wire("www.example.com"), rdtype) in sets_of(zone)
    again = parse_zone_text(write_zone_file(zone), None, "written")
    assert sets_of(again) == sets_of(zone)


@pytest.mark.skipif("DNS_API_DATA" not in os.environ, reason="DNS_API_DATA names no folder of zones")
def test_real_zones_survive_the_text() -> None:
    paths = sorted((Path(os.environ["DNS_API_DATA"]) / "zones").glob("*.zone"))
    assert paths
    for path in paths:
        zone = read_zone_file(path, None)
        assert sets_of(parse_zone_text(write_zone_file(zone), None, "written")) == sets_of(zone), path.name
