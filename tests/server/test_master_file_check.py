"""What a check of a master file tells, and where: each rule on a file of its own, and none on files that are as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.lint.check import Report, check_zone_file
from server.lint.finding import Severity
from tests.server.beside import ZONES

HEAD = """\
$ORIGIN shop.test.
$TTL 300
@ IN SOA ns1 admin 7 7200 900 1209600 60
@ IN NS ns1
@ IN NS ns2.elsewhere.example.
ns1 IN A 192.0.2.1
"""
FIRST = HEAD.count("\n") + 1
"""The line of the first record behind the head."""


def check(tmp_path: Path, text: str, origin: str | None = None) -> Report:
    file = tmp_path / "shop.zone"
    file.write_text(text)
    return check_zone_file(file, origin)


def told(report: Report) -> list[tuple[int, str]]:
    return [(finding.place.line, finding.severity.value) for finding in report.findings]


def test_a_good_file_has_nothing_to_tell(tmp_path: Path) -> None:
    text = HEAD + (
        "@ IN MX 10 mail\nmail IN A 192.0.2.2\nwww IN CNAME mail\n*.dyn IN A 192.0.2.3\nw IN CNAME any.dyn\n"
        "child IN NS ns.child\nns.child IN AAAA 2001:db8::1\nchild IN DS 1 13 2 " + "ab" * 32 + "\n"
        "other IN NS ns.elsewhere.example.\n_sip._udp IN SRV 1 2 5060 mail\nold IN DNAME new\nnew IN A 192.0.2.4\n"
        "x.deep.new IN TXT a\n"
    )
    report = check(tmp_path, text)
    assert report.findings == ()
    assert (report.zone, report.serial, report.errors, report.warnings) == ("shop.test.", 7, 0, 0)


ERRORS = {
    "a line that cannot be read": ("www IN A 192.0.2.300\n", 0, "allowed is one IPv4 address"),
    "a type that is none": ("www IN NONSENSE x\n", 0, "found the record type 'NONSENSE'"),
    "an SOA at another name": ("sub IN SOA ns1 admin 1 2 3 4 5\n", 0, "found an SOA record at sub.shop.test."),
    "a second SOA": ("@ IN SOA ns1 admin 8 7200 900 1209600 60\n", 0, "found a second SOA record"),
    "a CNAME beside data": ("www IN A 192.0.2.1\nwww IN CNAME ns1\n", 1, "has a CNAME record beside A"),
    "data beside a CNAME": ("www IN CNAME ns1\nwww IN TXT a\n", 1, "has a CNAME record beside TXT"),
    "a CNAME at the apex": ("@ IN CNAME elsewhere.example.\n", 0, "shop.test. has a CNAME record beside NS, SOA"),
    "two CNAMEs": ("www IN CNAME ns1\nwww IN CNAME ns2\n", 1, "found a second CNAME record at www.shop.test."),
    "too many NSEC3 iterations": ("@ IN NSEC3PARAM 1 0 2501 -\n", 0, "2501 NSEC3 iterations, allowed are 2500"),
    "two DNAMEs": ("old IN DNAME a\nold IN DNAME b\n", 1, "found a second DNAME record"),
    "data below a DNAME": (
        "old IN DNAME ns1\nx.old IN A 192.0.2.1\n",
        1,
        "stands below the DNAME record of old.shop.test.",
    ),
    "a name server that is an alias": (
        "child IN NS ns3\nns3 IN CNAME ns1\n",
        0,
        "the name server ns3.shop.test. of child.shop.test. is an alias",
    ),
    "missing glue": ("child IN NS ns.child\n", 0, "glue is needed: A or AAAA records of ns.child.shop.test."),
    "a name server without an address": (
        "child IN NS ns3\n",
        0,
        "the name server ns3.shop.test. of child.shop.test. lies",
    ),
    "DS without a delegation": (
        "www IN DS 1 13 2 " + "ab" * 32 + "\n",
        0,
        "www.shop.test. has a DS record and is not delegated",
    ),
    "a circle of aliases": (
        "a IN CNAME b\nb IN CNAME a\n",
        0,
        "a.shop.test. -> b.shop.test. -> a.shop.test.: a circle",
    ),
    "an alias of itself": ("a IN CNAME a\n", 0, "a.shop.test. -> a.shop.test.: a circle"),
    "a signature that has expired": (
        "www IN A 192.0.2.1\nwww IN RRSIG A 13 3 300 20200101000000 20191201000000 1 shop.test. " + "ab" * 32 + "\n",
        1,
        "the signature of www.shop.test. A has expired at 2020-01-01T00:00:00+00:00",
    ),
    "a set that no message can hold": (
        "".join(f'big IN TXT "{number:03}{"x" * 250}"\n' for number in range(300)),
        0,
        "big.shop.test. TXT takes 79800 octets in a message",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_is_told_with_its_line(text: str, line: int, message: str, tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + text)
    matching = [each for each in report.findings if message in each.message]
    assert [each.severity for each in matching] == [Severity.ERROR], report.findings
    assert matching[0].place.line == FIRST + line
    assert str(matching[0]).startswith(f"{tmp_path}/shop.zone:{matching[0].place.line}: error: ")


WARNINGS = {
    "NSEC3 iterations": (
        "@ IN NSEC3PARAM 1 0 10 -\n",
        0,
        "has 10 NSEC3 iterations: resolvers may take the zone for unsigned",
    ),
    "a name outside": (
        "www.elsewhere.example. IN A 192.0.2.1\n",
        0,
        "lies outside the zone shop.test.; it is left out",
    ),
    "TTLs that differ in a set": ("www 60 IN A 192.0.2.1\nwww 90 IN A 192.0.2.2\n", 1, "the TTL 90, and 60 at"),
    "a record twice": ("www IN A 192.0.2.1\nwww IN A 192.0.2.1\n", 1, "www.shop.test. A is written twice"),
    "mail to an alias": (
        "@ IN MX 10 mail\nmail IN CNAME ns1\n",
        0,
        "the MX target mail.shop.test. of shop.test. is an alias",
    ),
    "mail to nobody": ("@ IN MX 10 mail\n", 0, "the MX target mail.shop.test. of shop.test. lies in this zone"),
    "a service at an alias": ("_a._tcp IN SRV 1 2 3 b\nb IN CNAME ns1\n", 0, "the SRV target b.shop.test. of"),
    "an alias of nothing": (
        "www IN CNAME gone\n",
        0,
        "www.shop.test. is an alias of gone.shop.test., which does not exist",
    ),
    "an alias of an alias of nothing": (
        "a IN CNAME b\nb IN CNAME gone\n",
        0,
        "by way of b.shop.test. of gone.shop.test.",
    ),
    "data below a delegation": (
        "child IN NS ns.elsewhere.example.\nx.child IN TXT a\n",
        1,
        "x.child.shop.test. TXT is hidden",
    ),
    "data beside a delegation": (
        "child IN NS ns.elsewhere.example.\nchild IN A 192.0.2.1\n",
        1,
        "child.shop.test. A is hidden",
    ),
    "a name server in another child": (
        "one IN NS ns.two\ntwo IN NS ns.elsewhere.example.\n",
        0,
        "the name server ns.two.shop.test. of one.shop.test. lies in another child",
    ),
    "a missing dot": ("www IN CNAME ns1.shop.test\n", 0, "if ns1.shop.test. is meant, a dot at its end is missing"),
    "an address for a name": ("@ IN MX 10 192.0.2.1\n", 0, "found is the address 192.0.2.1"),
    "a delegation of a wildcard": ("*.x IN NS ns.elsewhere.example.\n", 0, "found NS at the wildcard *.x.shop.test."),
}


@pytest.mark.parametrize(("text", "line", "message"), WARNINGS.values(), ids=WARNINGS.keys())
def test_a_warning_is_told_with_its_line(text: str, line: int, message: str, tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + text)
    matching = [each for each in report.findings if message in each.message]
    assert [(each.severity, each.place.line) for each in matching] == [(Severity.WARNING, FIRST + line)], (
        report.findings
    )
    assert report.errors == 0


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("7 900 900 1209600 60", "SOA retry is 900, allowed is less than refresh, 900"),
        ("7 7200 900 8000 60", "SOA expire is 8000: secondaries drop the zone"),
        ("7 7200 900 86400 60", "SOA expire is 86400, a week"),
        ("7 7200 900 1209600 604800", "SOA minimum is 604800"),
    ],
)
def test_times_of_the_soa_that_do_not_fit_together(numbers: str, message: str, tmp_path: Path) -> None:
    report = check(tmp_path, HEAD.replace("7 7200 900 1209600 60", numbers))
    assert [message in each.message for each in report.findings] == [True]
    assert told(report) == [(3, "warning")]


def test_one_name_server_is_few_and_none_is_an_error(tmp_path: Path) -> None:
    one = HEAD.replace("@ IN NS ns2.elsewhere.example.\n", "")
    assert told(check(tmp_path, one)) == [(4, "warning")]
    assert told(check(tmp_path, one.replace("@ IN NS ns1\n", ""))) == [(3, "error")]


def test_an_address_of_a_name_server_may_come_from_a_wildcard(tmp_path: Path) -> None:
    assert told(check(tmp_path, HEAD + "child IN NS ns.any\n*.any IN A 192.0.2.1\n")) == []


def test_everything_is_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = HEAD + "b IN CNAME gone\nb IN A 192.0.2.1\nchild IN NS ns.child\nwww.elsewhere.example. IN A 192.0.2.1\n"
    assert told(check(tmp_path, text)) == [
        (FIRST, "warning"),
        (FIRST + 1, "error"),
        (FIRST + 2, "error"),
        (FIRST + 3, "warning"),
    ]


def test_lines_of_included_files_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "more.zone").write_text("\n\nchild IN NS ns.child\n")
    report = check(tmp_path, HEAD + "$INCLUDE more.zone\n")
    assert [str(each.place) for each in report.findings] == [f"{tmp_path}/more.zone:3"]


def test_the_origin_may_be_given_and_is_compared(tmp_path: Path) -> None:
    text = HEAD.replace("$ORIGIN shop.test.\n", "")
    assert told(check(tmp_path, text, "shop.test")) == []
    assert check(tmp_path, HEAD, "other.test").errors > 0


@pytest.mark.parametrize("text", ["", "; nothing\n", "$TTL 60\n", "www.shop.test. 60 IN A 192.0.2.1\n"])
def test_a_file_without_a_zone_is_an_error(text: str, tmp_path: Path) -> None:
    report = check(tmp_path, text)
    assert (report.errors, report.zone) == (1, "")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    report = check_zone_file(tmp_path / "absent", None)
    assert [each.message for each in report.findings] == [f"cannot read {tmp_path}/absent: No such file or directory"]


@pytest.mark.parametrize("path", sorted(ZONES.glob("*.zone")), ids=lambda path: path.stem)
def test_what_the_server_serves_has_no_error_but_circles(path: Path) -> None:
    report = check_zone_file(path, None)
    assert all("circle" in each.message for each in report.findings if each.severity is Severity.ERROR)
