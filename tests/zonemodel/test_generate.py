"""$GENERATE: one line for many records, as BIND reads it."""

from __future__ import annotations

import pytest

from zonemodel.name import to_wire
from zonemodel.rrset import ZoneData
from zonemodel.zonefile import ZoneFileError, parse_zone_text, write_zone_file

HEAD = "$ORIGIN k.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n"


def parse(body: str) -> ZoneData:
    return parse_zone_text(HEAD + body, None, "zone.txt")


def lines(body: str) -> list[str]:
    return write_zone_file(parse(body)).splitlines()[2:]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1-2 h$ A 192.0.2.$", ["h1 60 IN A 192.0.2.1", "h2 60 IN A 192.0.2.2"]),
        ("0-4/2 $ 7 IN PTR h$", [f"{each} 7 IN PTR h{each}.k.test." for each in (0, 2, 4)]),
        ("8-9 w${10,3,d} CNAME a${-8}", ["w018 60 IN CNAME a0.k.test.", "w019 60 IN CNAME a1.k.test."]),
        ("10-10 x${0,3,x}${0,3,X}o${0,3,o} TXT $", ['x00a00ao012 60 IN TXT "10"']),
        ("10-10 ${0,7,n}.p PTR ${0,7,N}.q", ["a.0.0.0.p 60 IN PTR A.0.0.0.q.k.test."]),
        ("300-300 ${0,1,n} TXT x", ['c.2.1 60 IN TXT "x"']),
        ('1-1 a TXT "$$" "\\$" "\\\\"', ['a 60 IN TXT "$" "$" "\\\\"']),
        ("5-5 a TXT x ; $ of them", ['a 60 IN TXT "x"']),
    ],
)
def test_the_number_stands_where_the_line_has_a_dollar(line: str, expected: list[str]) -> None:
    assert lines(f"$GENERATE {line}") == expected


def test_it_goes_on_where_it_stands() -> None:
    found = lines("$ORIGIN sub\n$generate 1-1 h$ A 192.0.2.1\n$TTL 9\n$GENERATE 2-2 h$ A 192.0.2.2\nb A 192.0.2.3\n")
    assert found == [
        "b.sub 9 IN A 192.0.2.3",
        "h1.sub 60 IN A 192.0.2.1",
        "h2.sub 9 IN A 192.0.2.2",
    ]


def test_a_network_of_4096_names_is_generated() -> None:
    zone = parse("$GENERATE 0-4095 h$ A 192.0.2.1")
    assert len(zone.rrsets) == 4097
    assert zone.rrsets[-1].owner == to_wire("h4095.k.test")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "found no record behind $GENERATE"),
        ("1-2", "found no record behind $GENERATE"),
        ("2-1 h A 192.0.2.1", "found the range '2-1', allowed is one that rises"),
        ("1-2/0 h A 192.0.2.1", "allowed is one that rises, by steps of 1 or more"),
        ("x h A 192.0.2.1", "found the range 'x', allowed is FIRST-LAST"),
        ("0-65536 h$ A 192.0.2.1", "allowed are 65536 records a line"),
        ("1-2 h${a} A 192.0.2.1", "found ${a}, allowed is ${OFFSET"),
        ("1-2 h${-2} A 192.0.2.1", "found ${-2}, which makes 1 less than 0"),
        ("1-2 h$ A 192.0.2.x", "found 'h1 A 192.0.2.x'"),
        ("1-2 h$ A ( 192.0.2.1", "unbalanced parentheses"),
    ],
)
def test_what_cannot_be_generated_is_told_with_its_line(line: str, complaint: str) -> None:
    with pytest.raises(ZoneFileError) as caught:
        parse(f"a A 192.0.2.1\n$GENERATE {line}")
    assert caught.value.line == 5
    assert complaint in caught.value.message
