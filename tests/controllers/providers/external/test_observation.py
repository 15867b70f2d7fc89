"""What answers mean for a record set: by type, by server, and in which order objections count."""

from __future__ import annotations

from typing import Any

import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from controllers.api.zone_unit import UnitRecordSet
from controllers.probe.answer import GARBAGE, SILENCE, Answer, Outcome, Question, read_answer
from controllers.probe.subject import question_about
from controllers.providers.external.observation import judge_records, judge_stopped
from controllers.providers.external.pending import lines_to_set
from controllers.providers.external.wanted import Wanted, wanted_of
from zonemodel.name import Fqdn

DOMAIN = Fqdn("shop.test")


def item(kind: str, body: dict[str, Any], name: str = "www") -> UnitRecordSet:
    return UnitRecordSet.model_validate(
        {
            "recordSetNamespace": "team",
            "recordSetName": "claim",
            "observedGeneration": 1,
            "name": name,
            "type": kind,
            "ttl": 300,
            kind.lower(): body,
        }
    )


def wanted(kind: str, body: dict[str, Any]) -> Wanted:
    return wanted_of(item(kind, body), DOMAIN)


def served(kind: str, *texts: str, ttl: int = 300) -> Answer:
    """A server's answer with these records, as dnspython reads it from a message."""
    query = dns.message.make_query("www.shop.test", kind)
    reply = dns.message.make_response(query)
    reply.flags |= 0x0400
    reply.answer.append(dns.rrset.from_text("WWW.shop.test.", ttl, "IN", kind, *texts))
    question = Question("www.shop.test", dns.rdatatype.from_text(kind))
    return read_answer(dns.message.from_wire(reply.to_wire()), question, DOMAIN)


SAME: list[tuple[str, dict[str, Any], list[str]]] = [
    ("A", {"addresses": ["192.0.2.2", "192.0.2.1"]}, ["192.0.2.1", "192.0.2.2"]),
    ("AAAA", {"addresses": ["2001:DB8:0:0:0:0:0:1"]}, ["2001:db8::1"]),
    ("CNAME", {"target": "app.shop.test"}, ["APP.Shop.Test."]),
    ("TXT", {"values": ["a" * 300]}, [f'"{"a" * 200}" "{"a" * 100}"']),
    ("TXT", {"values": ['say "hi" \\ ä']}, ['"say \\"hi\\" \\\\ \\195\\164"']),
    (
        "MX",
        {"records": [{"preference": 20, "exchange": "b.test"}, {"preference": 10, "exchange": "a.test"}]},
        ["10 A.test.", "20 b.test."],
    ),
    ("MX", {"records": [{"preference": 0, "exchange": "."}]}, ["0 ."]),
    ("CAA", {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]}, ['0 ISSUE "ca.test"']),
    ("NS", {"nameServers": ["ns2.test", "ns1.test"]}, ["NS1.test.", "ns2.test."]),
]


@pytest.mark.parametrize(("kind", "body", "texts"), SAME)
def test_records_are_compared_by_what_they_say(kind: str, body: dict[str, Any], texts: list[str]) -> None:
    found = judge_records(wanted(kind, body), [("ns1", served(kind, *texts))], require_all=True)
    assert (found.programmed.status, found.programmed.reason, found.missing) == ("True", "Programmed", False)


@pytest.mark.parametrize(
    ("kind", "body", "texts"),
    [
        ("A", {"addresses": ["192.0.2.1"]}, ["192.0.2.1", "192.0.2.2"]),
        ("A", {"addresses": ["192.0.2.1", "192.0.2.2"]}, ["192.0.2.1"]),
        ("TXT", {"values": ["ab"]}, ['"a" "c"']),
        ("TXT", {"values": ["a", "b"]}, ['"a" "b"']),
        ("TXT", {"values": ["Ab"]}, ['"ab"']),
        ("MX", {"records": [{"preference": 10, "exchange": "a.test"}]}, ["20 a.test."]),
        ("CAA", {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]}, ['128 issue "ca.test"']),
    ],
)
def test_other_records_are_a_mismatch(kind: str, body: dict[str, Any], texts: list[str]) -> None:
    found = judge_records(wanted(kind, body), [("ns1", served(kind, *texts))], require_all=True)
    assert (found.programmed.status, found.programmed.reason, found.missing) == (
        "False",
        "ExternalResourceMismatch",
        True,
    )


@pytest.mark.parametrize(("kind", "body", "texts"), SAME)
def test_pending_lines_are_a_zone_file_that_gives_the_records(
    kind: str, body: dict[str, Any], texts: list[str]
) -> None:
    want = wanted(kind, body)
    lines = lines_to_set(want, [])
    read = [dns.rrset.from_text(*line.split(" ", 4)[:2], *line.split(" ", 4)[2:]) for line in lines]  # type: ignore[arg-type] # a TTL
    assert {each.ttl for each in read} == {300}
    merged = served(kind, *(each[0].to_text() for each in read))
    assert merged.values == want.values


WWW = wanted("A", {"addresses": ["192.0.2.1"]})
GOOD = served("A", "192.0.2.1")
OTHER = served("A", "192.0.2.9")
ALIAS = Answer(Outcome.ALIAS, "NOERROR", frozenset(), 60, ("other.test",))
CUT = Answer(Outcome.REFERRAL, "NOERROR", frozenset({"ns.test"}), 60, cut="www.shop.test")
NO_NAME, NO_DATA = Answer(Outcome.NO_NAME, "NXDOMAIN"), Answer(Outcome.NO_DATA, "NOERROR")
LAME, FAILED = Answer(Outcome.LAME, "REFUSED"), Answer(Outcome.FAILED, "SERVFAIL")


@pytest.mark.parametrize(
    ("answers", "status", "reason"),
    [
        ([GOOD, GOOD], "True", "Programmed"),
        ([GOOD, OTHER], "False", "ExternalResourceMismatch"),
        ([GOOD, ALIAS], "False", "ExternalResourceMismatch"),
        ([GOOD, CUT], "False", "ExternalResourceMismatch"),
        ([GOOD, NO_NAME], "False", "ExternalResourceNotFound"),
        ([GOOD, NO_DATA], "False", "ExternalResourceNotFound"),
        ([GOOD, LAME], "False", "ProviderConflict"),
        ([GOOD, SILENCE], "Unknown", "ProviderUnavailable"),
        ([GOOD, FAILED], "Unknown", "ProviderUnavailable"),
        ([GOOD, GARBAGE], "Unknown", "ProviderUnavailable"),
        ([SILENCE, FAILED], "False", "ProviderUnavailable"),
        ([], "False", "ProviderUnavailable"),
        ([OTHER, NO_NAME, LAME, SILENCE], "False", "ExternalResourceMismatch"),
        ([NO_NAME, LAME, SILENCE], "False", "ExternalResourceNotFound"),
        ([LAME, SILENCE], "False", "ProviderConflict"),
    ],
)
def test_what_is_known_to_be_wrong_counts_before_what_is_not_known(
    answers: list[Answer], status: str, reason: str
) -> None:
    told = [(f"ns{number}", answer) for number, answer in enumerate(answers)]
    found = judge_records(WWW, told, require_all=True).programmed
    assert (found.status, found.reason) == (status, reason)


def test_one_server_is_enough_when_the_class_says_so() -> None:
    told = [("ns1", GOOD), ("ns2", OTHER), ("ns3", SILENCE)]
    assert judge_records(WWW, told, require_all=False).programmed.accepted
    assert judge_records(WWW, told[1:], require_all=False).programmed.reason == "ExternalResourceMismatch"


@pytest.mark.parametrize(
    ("answers", "stopped"),
    [
        ([NO_NAME, NO_DATA, OTHER, ALIAS, CUT], True),
        ([NO_NAME, GOOD], False),
        ([NO_NAME, served("A", "192.0.2.1", "192.0.2.9")], False),
        ([NO_NAME, SILENCE], False),
        ([NO_NAME, LAME], False),
        ([NO_NAME, FAILED], False),
        ([], False),
    ],
)
def test_a_deletion_is_done_when_every_server_has_said_so(answers: list[Answer], stopped: bool) -> None:
    told = [(f"ns{number}", answer) for number, answer in enumerate(answers)]
    assert (judge_stopped(WWW, told) is None) is stopped


@pytest.mark.parametrize("kind", ["TXT", "CAA"])
def test_what_a_server_says_cannot_put_a_line_into_a_zone_file_or_move_a_cursor(kind: str) -> None:
    evil = b"x\nevil IN A 192.0.2.66\r\x1b[2J\x00\xff"
    escaped = "".join(f"\\{octet:03}" for octet in evil)
    texts = {"TXT": f'"{escaped}"', "CAA": f'0 issue "{escaped}"'}
    bodies: dict[str, dict[str, Any]] = {
        "TXT": {"values": ["good"]},
        "CAA": {"records": [{"flags": 0, "tag": "issue", "value": "ca.test"}]},
    }
    want, answer = wanted(kind, bodies[kind]), served(kind, texts[kind])
    message = judge_records(want, [("ns1", answer)], require_all=True).programmed.message
    told = [message, *lines_to_set(want, [answer])]
    assert "evil IN A" in told[0]
    assert all(line.isprintable() and line.isascii() for line in told)


def test_messages_and_lines_are_bounded() -> None:
    values = [f"{number:04}" + "x" * 3990 for number in range(100)]
    want = wanted("TXT", {"values": values})
    told = [(f"ns{number}.a-server-with-a-rather-long-name.example", OTHER) for number in range(64)]
    assert len(judge_records(want, told, require_all=True).programmed.message) <= 2048
    lines = lines_to_set(want, [OTHER] * 64)
    assert sum(map(len, lines)) < 30_000
    assert any(line.startswith("; and ") for line in lines)
    many = served("TXT", *(f'"{number:03}{"y" * 200}"' for number in range(200)))
    surplus = lines_to_set(wanted("TXT", {"values": ["good"]}), [many])
    assert len(surplus) == 18
    assert surplus[-1] == "; remove: 184 more records of TXT at www.shop.test."
    assert sum(map(len, surplus)) < 6_000


def test_the_star_of_a_wildcard_is_asked_for_as_a_name_nobody_has() -> None:
    assert question_about("*", 1, DOMAIN, "x1").name == "x1.shop.test"
    assert question_about("*.app", 1, DOMAIN, "x1").name == "x1.app.shop.test"
    assert question_about("@", 1, DOMAIN, "x1").name == "shop.test"
    assert question_about("www", 1, DOMAIN, "x1").name == "www.shop.test"
