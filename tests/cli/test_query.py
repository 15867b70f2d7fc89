"""`dns-api query`: what it asks, shows and compares, against servers of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dns.rdataclass
import dns.rdatatype
import pytest
from typer.testing import CliRunner

from cli.dns.question import QuestionError, parse_words
from cli.main import build
from server.config import Tls, ZoneFile
from tests.server.beside import Beside, beside, config
from tests.server.certificate import write_certificate
from tests.server.running import ANY_PORT

ZONE = """\
$ORIGIN shop.test.
$TTL 300
@ IN SOA ns1 admin 7 7200 900 1209600 60
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN A 192.0.2.2
www IN A 192.0.2.3
long IN TXT "{long}" "{long}" "{long}" "{long}" "{long}" "{long}"
""".format(long="x" * 250)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "shop.zone").write_text(ZONE)
    tls = Tls((ANY_PORT,), *write_certificate(folder, 1))
    with beside(config(zone_files=(ZoneFile(folder / "shop.zone"),), nsid=b"one", tls=tls)) as found:
        yield found


@pytest.fixture
def at(server: Beside) -> str:
    return f"@{server.server.addresses[0]}"


def query(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(build("query"), ["query", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def shown(*words: str) -> list[str]:
    code, out, err = query(*words)
    assert code == 0, err
    return out.splitlines()


def test_a_reply_is_shown_with_everything_in_it(at: str) -> None:
    lines = shown("www.shop.test", at)
    assert lines[0].startswith(";; NOERROR, flags: qr aa, id: ")
    assert lines[1] == ";; EDNS: version 0, flags: none, payload: 1232 octets"
    assert lines[2:8] == [
        "",
        ";; QUESTION",
        "www.shop.test. IN A",
        "",
        ";; ANSWER",
        "www.shop.test. 300 IN A 192.0.2.2",
    ]
    assert lines[-1].startswith(";; 74 octets from ")
    assert " over UDP in " in lines[-1]


def test_short_is_the_data_alone(at: str) -> None:
    assert shown("www.shop.test", at, "--short") == ["192.0.2.2", "192.0.2.3"]
    assert shown("-s", at[1:], "shop.test.", "NS", "--short") == ["ns1.shop.test."]


@pytest.mark.parametrize(("option", "carrier"), [("--tcp", "TCP"), ("--no-edns", "UDP"), ("--dnssec", "UDP")])
def test_the_manner_can_be_chosen(option: str, carrier: str, at: str) -> None:
    lines = shown("www.shop.test", at, option)
    assert f" over {carrier} in " in lines[-1]
    assert any("EDNS" in line for line in lines) is (option != "--no-edns")
    assert any("flags: do" in line for line in lines) is (option == "--dnssec")


def test_tls_with_and_without_a_certificate_to_trust(server: Beside, tmp_path: Path) -> None:
    address = f"@{server.server.tls_addresses[0]}"
    assert " over TLS in " in shown("www.shop.test", address, "--tls")[-1]
    other, _ = write_certificate(tmp_path, 2)
    code, _, err = query("www.shop.test", address, "--tls", "--tls-ca", str(other))
    assert code == 1
    assert err.startswith("error: no reply from 127.0.0.1:")


def test_a_reply_that_is_cut_short_is_asked_for_again(at: str) -> None:
    assert " over TCP in " in shown("long.shop.test", "TXT", at)[-1]
    lines = shown("long.shop.test", "TXT", at, "--keep-truncated")
    assert "tc" in lines[0]
    assert " over UDP in " in lines[-1]


def test_nsid_and_chaos(at: str) -> None:
    assert ";;   NSID one" in shown("www.shop.test", at, "--nsid")
    assert shown("version.bind", "CH", "TXT", at, "--short") == ['"dns-api"']


def test_no_reply_fails_with_whom_was_asked() -> None:
    code, _, err = query("www.shop.test", "@127.0.0.1:9", "--tcp", "--timeout", "1")
    assert (code, err) == (1, "error: no reply from 127.0.0.1:9 over TCP: Connection refused\n")
    code, _, err = query("www.shop.test", "@192.0.2.1:port")
    assert code == 1
    assert "allowed is HOST[:PORT]" in err
    code, _, err = query("www.shop.test", "@nowhere.invalid")
    assert code == 1
    assert "cannot find the server nowhere.invalid" in err


@pytest.mark.parametrize(
    "words", [["www.shop.test", "NONSENSE"], ["a..b"], [], ["www.shop.test", "A", "AAAA"], ["x", "--file", "absent"]]
)
def test_a_wrong_command_line_is_told_apart(words: list[str]) -> None:
    code, _, err = query(*words)
    assert code == 2
    assert "Error" in err


def test_two_servers_that_say_the_same(at: str, tmp_path: Path) -> None:
    (tmp_path / "shop.zone").write_text(ZONE)
    with beside(config(zone_files=(ZoneFile(tmp_path / "shop.zone"),))) as other:
        assert shown("www.shop.test", at, "--compare", str(other.server.addresses[0])) == [
            "1 question: 1 same, 0 different"
        ]


def test_two_servers_that_differ_are_shown_line_by_line(server: Beside, at: str, tmp_path: Path) -> None:
    (tmp_path / "shop.zone").write_text(ZONE.replace("192.0.2.3", "192.0.2.99").replace("$TTL 300", "$TTL 600"))
    questions = tmp_path / "questions"
    questions.write_text("# all\nwww.shop.test A\n\ngone.shop.test MX ; missing\nshop.test NS\n")
    with beside(config(zone_files=(ZoneFile(tmp_path / "shop.zone"),))) as other:
        theirs = str(other.server.addresses[0])
        code, out, _ = query(at, "--file", str(questions), "--compare", theirs, "--ignore-ttl")
        assert (code, out.splitlines()) == (
            1,
            [
                "www.shop.test. A",
                f"--- {server.server.addresses[0]}",
                f"+++ {theirs}",
                "-answer: www.shop.test. 0 IN A 192.0.2.3",
                "+answer: www.shop.test. 0 IN A 192.0.2.99",
                "3 questions: 2 same, 1 different",
            ],
        )
        code, out, _ = query(at, "shop.test", "NS", "--compare", theirs)
        assert code == 1
        assert "-answer: shop.test. 300 IN NS ns1.shop.test." in out
        code, out, _ = query(at, "gone.test", "--compare", theirs)
        assert (code, out) == (0, "1 question: 1 same, 0 different\n")


def test_a_file_of_questions_is_asked_line_by_line(at: str, tmp_path: Path) -> None:
    file = tmp_path / "questions"
    file.write_text("www.shop.test\nshop.test NS\n")
    assert shown("--file", str(file), at, "--short") == ["192.0.2.2", "192.0.2.3", "ns1.shop.test."]
    file.write_text("www.shop.test\n\nshop.test NONSENSE\n")
    code, _, err = query("--file", str(file), at)
    assert code == 2
    assert "questions:3: found the type 'NONSENSE'" in " ".join(err.split())


def test_words_come_in_any_order() -> None:
    question, server = parse_words(["@192.0.2.1:53", "www.example.com", "MX"])
    assert (str(question), server) == ("www.example.com. MX", "192.0.2.1:53")
    question, _ = parse_words(["id.server", "TXT", "CH"])
    assert (question.rdclass, question.rdtype) == (dns.rdataclass.CH, dns.rdatatype.TXT)
    assert str(question) == "id.server. CH TXT"
    assert str(parse_words(["www.example.com", "type65280"])[0]) == "www.example.com. TYPE65280"
    assert str(parse_words(["mx", "A"])[0]) == "mx. A"


@pytest.mark.parametrize(
    ("word", "question"),
    [("192.0.2.7", "7.2.0.192.in-addr.arpa. PTR"), ("2001:db8::1", "1." + "0." * 23 + "8.b.d.0.1.0.0.2.ip6.arpa. PTR")],
)
def test_an_address_asks_for_its_name(word: str, question: str) -> None:
    assert str(parse_words([word])[0]) == question


def test_words_that_are_no_question_are_named() -> None:
    with pytest.raises(QuestionError, match=r"allowed is NAME \[CLASS\] \[TYPE\] \[@SERVER\]"):
        parse_words(["www.example.com", "A", "www.example.org"])
