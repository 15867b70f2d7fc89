"""Types that hardly any zone holds: their octets are those that BIND makes of the same lines."""

from __future__ import annotations

import pytest

from zonemodel.zonefile import ZoneFileError, parse_zone_text, write_zone_file

HEAD = "$ORIGIN k.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n"
NS = "026e73016b047465737400"

CASES = [
    ("MD ns", 3, NS),
    ("MF ns.k.test.", 4, NS),
    ("MB Ns", 7, "024e73016b047465737400"),
    ("MG ns", 8, NS),
    ("MR ns", 9, NS),
    ("MINFO ns a.b", 14, NS + "01610162016b047465737400"),
    ("NXT b.k.test. A MX NXT", 30, "0162016b04746573740040010002"),
    ("EID 0102 03", 31, "010203"),
    ("NIMLOC 0102", 32, "0102"),
    ("ATMA +61200123456", 34, "013631323030313233343536"),
    ("ATMA 39.246f.00.0e7c9c.0312.0001.0001.000012345678.00", 34, "0039246f000e7c9c03120001000100001234567800"),
    ("A6 0 2001:db8::1", 38, "0020010db8000000000000000000000001"),
    ("A6 64 ::1:2:3:4 pre", 38, "40000100020003000403707265016b047465737400"),
    ("A6 128 pre", 38, "8003707265016b047465737400"),
    ("SINK 1 2 3 AQID", 40, "010203010203"),
    ("RKEY 0 3 RSASHA1 AQPS Kmyn", 57, "000003050103d22a6ca7"),
    ("TALINK a.k.test. b", 58, "0161016b0474657374000162016b047465737400"),
    ('DOA 1 2 3 "text/plain" AQID', 259, "0000000100000002030a746578742f706c61696e010203"),
    ('DOA 4294967295 2 3 "" -', 259, "ffffffff000000020300"),
    ("TA 60485 RSASHA1 1 2BB183AF", 32768, "ec4505012bb183af"),
    ("MB \\# 3 016100", 7, "016100"),
    ("WKS 10.0.0.1 TCP TELNET smtp 6", 11, "0a0000010602000140"),
    ("WKS 10.0.0.1 17", 11, "0a00000111"),
    ("WKS 10.0.0.1 udp domain 65535", 11, "0a00000111" + "00" * 6 + "04" + "00" * 8184 + "01"),
    ("NID 10 14:4fff:ff20:ee64", 104, "000a00144fffff20ee64"),
    ("NID 10 0014:4fff:ff20:ee64", 104, "000a00144fffff20ee64"),
    ("L64 20 2001:db8:0:0", 106, "001420010db800000000"),
    ("SVCB 0 ns alpn=h2", 64, "0000" + NS + "00010003026832"),
    ("SVCB \\# 20 0000 " + NS + " 00010003 026832", 64, "0000" + NS + "00010003026832"),
    ("HTTPS 00 ns", 65, "0000" + NS),
    ('HTTPS 0 . port=53 key65000="a b" ; c', 65, "00000000030002" + "0035" + "fde80003612062"),
]


@pytest.mark.parametrize(("text", "rdtype", "octets"), CASES)
def test_record_data_are_read_and_survive_a_file(text: str, rdtype: int, octets: str) -> None:
    zone = parse_zone_text(f"{HEAD}a {text}\n", None, "zone.txt")
    found = zone.rrsets[-1]
    assert (found.rdtype, [each.hex() for each in found.rdatas]) == (rdtype, [octets])
    assert parse_zone_text(write_zone_file(zone), None, "again").rrsets == zone.rrsets


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("MB", "allowed is the form of MB"),
        ("MINFO ns", "allowed is the form of MINFO"),
        ("MB ns x", '"x" is more than the record data hold'),
        ("TA 60485 5 1 2B1", "is not hexadecimal digits"),
        ("TA 65536 5 1 2B", "65536 is more than 2 octets hold"),
        ("SINK 1 2 3 !", "is not base64"),
        ("A6 129 ::", "the prefix length 129 is more than 128"),
        ("A6 0 x", "is not an IPv6 address"),
        ("NXT b TYPE200", "TYPE200 has no bit"),
        ("RKEY 0 3 FOO AQ==", "RKEY"),
        ("WKS 10.0.0.1 tcp nowhere", "'nowhere' is no number up to 65535 and no name that is known"),
        ("WKS 10.0.0.1 256", "'256' is no number up to 255"),
        ("WKS 10.0.0 tcp", "is not an IPv4 address"),
        ("NID 10 1:2:3", "'1:2:3' is not four groups of hexadecimal digits"),
        ("NID 10 1:2:3:", "'1:2:3:' is not four groups of hexadecimal digits"),
        ("L64 10 1:2:3:g", "is not hexadecimal digits"),
        ("SVCB 0 ns alpn=h2 alpn=h3", "SVCB"),
        ("SVCB 0", "SVCB"),
        ("SVCB \\# 4 00000001", "SVCB"),
    ],
)
def test_what_is_not_of_the_form_is_told(text: str, complaint: str) -> None:
    with pytest.raises(ZoneFileError, match=r"zone.txt:4: found ") as caught:
        parse_zone_text(f"{HEAD}a {text}\n", None, "zone.txt")
    assert complaint in str(caught.value)
