"""From a claim to its answer, and from the answer back to the claim's status."""

from __future__ import annotations

import dns.flags
import dns.rcode
import pytest

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from kube.errors import Invalid
from tests.product.claim import NAME_SERVERS, ZONE, ZONE_CLASS, claim, records_of, zone, zone_class
from tests.product.stage import Stage, condition, is_programmed
from tests.server.question import records

TEXT = 'v=spf1 include:_spf.example.net -all; "quoted" \\ backslash'

ONE_OF_EACH = [
    claim("@", "A", "192.0.2.10", "192.0.2.11", ttl=300),
    claim("@", "AAAA", "2001:db8::10"),
    claim("@", "MX", "10 mx1.example.net", "20 mx2.example.net"),
    claim("nomail", "MX", "0 ."),
    claim("@", "CAA", "0 issue letsencrypt.org", "128 iodef mailto:security@example.net", "0 issuewild ;"),
    claim("@", "TXT", TEXT, "two words"),
    claim("_dmarc", "TXT", "v=DMARC1; p=reject"),
    claim("long", "TXT", "x" * 4000),
    claim("out", "CNAME", "elsewhere.example.net"),
]


async def test_what_is_programmed_is_answered_at_once(stage: Stage) -> None:
    await stage.set_up()
    for each in ONE_OF_EACH:
        await stage.apply(each.manifest())
        obj = await stage.until_programmed(RECORD_SETS, each.name)
        assert stage.answer(each.owner, each.type, tcp=True) == each.records(stage.domain)
        accepted, programmed = condition(obj, "Accepted"), condition(obj, "Programmed")
        assert accepted is not None
        assert programmed is not None
        assert (accepted["status"], accepted["reason"]) == ("True", "Accepted")
        assert programmed["reason"] == "Programmed"
        assert obj["status"]["zone"] == {"ref": {"namespace": stage.namespace, "name": ZONE}}
        assert obj["status"]["observedGeneration"] == obj["metadata"]["generation"]
    stage.assert_answered(ONE_OF_EACH)


async def test_the_zone_speaks_of_its_name_servers(stage: Stage) -> None:
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    obj = await stage.until_programmed(ZONES, ZONE)
    assert obj["status"]["nameServers"] == list(NAME_SERVERS)
    answered = {data for _, _, _, data in stage.answer("@", "NS")}
    assert answered == {data for _, _, _, data in claim("@", "NS", *NAME_SERVERS).records(stage.domain)}
    soa = stage.ask("@", "SOA").answer[0][0]
    assert (soa.mname.to_text(), soa.minimum) == (f"{NAME_SERVERS[0]}.", 30)


async def test_a_zone_without_records_says_that_names_do_not_exist(stage: Stage) -> None:
    await stage.set_up()
    reply = stage.ask("nothing", "A")
    assert reply.rcode() == dns.rcode.NXDOMAIN
    assert reply.flags & dns.flags.AA
    (soa,) = reply.authority
    assert (soa.name.to_text(), soa.ttl) == (f"{stage.domain}.", 30)


async def test_a_wildcard_answers_for_names_that_do_not_exist(stage: Stage) -> None:
    wild, below = claim("*.app", "A", "192.0.2.30"), claim("taken.app", "TXT", "here")
    await stage.set_up(wild, below)
    for name in ("blue.app", "a.b.app", "*.app"):
        assert stage.answer(name, "A") == wild.records(stage.domain, f"{name}.{stage.domain}.")
    assert stage.answer("taken.app", "A") == set()
    assert stage.answer("app", "A") == set()
    assert stage.rcode("below.taken.app", "A") == "NXDOMAIN"


async def test_an_empty_non_terminal_exists_as_long_as_something_is_below_it(stage: Stage) -> None:
    deep = claim("leaf.of.tree", "A", "192.0.2.1")
    await stage.set_up(deep)
    assert stage.answer("of.tree", "A") == set()
    assert stage.answer("tree", "TXT") == set()
    assert stage.rcode("other.tree", "A") == "NXDOMAIN"
    await stage.delete(RECORD_SETS, deep.name)
    await stage.until_gone(RECORD_SETS, deep.name)
    assert stage.rcode("of.tree", "A") == "NXDOMAIN"
    assert stage.rcode("tree", "A") == "NXDOMAIN"


async def test_a_delegation_refers_with_its_glue(stage: Stage) -> None:
    inside, outside = f"ns1.lab.{stage.domain}", "ns.example.org"
    cut = claim("lab", "NS", inside, outside, ttl=3600)
    glue = claim("ns1.lab", "A", "192.0.2.40"), claim("ns1.lab", "AAAA", "2001:db8::40")
    await stage.set_up(cut, *glue)
    for name in ("lab", "www.lab", "ns1.lab"):
        reply = stage.ask(name, "A")
        assert reply.rcode() == dns.rcode.NOERROR
        assert not reply.flags & dns.flags.AA
        assert reply.answer == []
        assert records(reply.authority) == cut.records(stage.domain)
        assert records(reply.additional) == records_of(glue, stage.domain)


async def test_an_alias_is_followed_inside_its_zone(stage: Stage) -> None:
    chain = [
        claim("www", "CNAME", f"front.{stage.domain}"),
        claim("front", "CNAME", f"host.{stage.domain}", ttl=30),
        claim("host", "A", "192.0.2.50"),
    ]
    out = claim("out", "CNAME", "elsewhere.example.net")
    dangling = claim("dangling", "CNAME", f"nowhere.{stage.domain}")
    await stage.set_up(*chain, out, dangling)
    assert stage.answer("www", "A") == records_of(chain, stage.domain)
    assert stage.answer("www", "CNAME") == chain[0].records(stage.domain)
    assert stage.answer("www", "AAAA") == records_of(chain[:2], stage.domain)
    assert stage.answer("out", "A") == out.records(stage.domain)
    reply = stage.ask("dangling", "A")
    assert (reply.rcode(), records(reply.answer)) == (dns.rcode.NXDOMAIN, dangling.records(stage.domain))


async def test_an_edit_is_programmed_only_when_it_is_answered(stage: Stage) -> None:
    await stage.set_up(claim("www", "A", "192.0.2.1"))
    serial = stage.serial()
    for number in range(2, 12):
        edited = claim("www", "A", f"192.0.2.{number}", f"198.51.100.{number}", ttl=60 + number)
        await stage.publish(edited)
        assert stage.answer("www", "A") == edited.records(stage.domain)
        assert stage.serial() > serial
        serial = stage.serial()


async def test_an_edit_that_changes_no_answer_is_programmed_as_well(stage: Stage) -> None:
    www = claim("www", "A", "192.0.2.1")
    await stage.set_up(www)
    serial = stage.serial()
    longer = www.manifest()
    longer["spec"]["zoneRef"]["namespace"] = stage.namespace
    with pytest.raises(Invalid, match=r"spec\.zoneRef"):
        await stage.apply(longer)
    rules = [
        {
            "namespaces": {"selector": {"matchLabels": {"team": "web"}}},
            "records": [{"name": {"pattern": ".*"}, "types": ["A"]}],
        }
    ]
    opened = zone(stage.domain)
    opened["spec"]["allowedRecordSets"] = rules
    await stage.apply(opened)
    obj = await stage.until_programmed(ZONES, ZONE)
    assert obj["metadata"]["generation"] == 2
    assert stage.serial() == serial
    stage.assert_answered([www])


async def test_many_edits_in_a_row_end_with_the_last_one(stage: Stage) -> None:
    await stage.set_up(claim("www", "A", "192.0.2.1"))
    for number in range(2, 42):
        await stage.apply(claim("www", "A", f"192.0.2.{number}").manifest())
    await stage.until_programmed(RECORD_SETS, "www-a")
    stage.assert_answered([claim("www", "A", "192.0.2.41")])


@pytest.mark.parametrize(
    ("kind", "reason"), [("none", "ZoneNotResolved"), ("class", "ZoneClassNotResolved")], ids=lambda each: each
)
async def test_what_is_missing_is_told_and_waited_for(stage: Stage, kind: str, reason: str) -> None:
    wanted = claim("www", "A", "192.0.2.1")
    await stage.apply(wanted.manifest())
    if kind == "class":
        await stage.apply(zone(stage.domain))
        found = await stage.until_condition(ZONES, ZONE, "Accepted", "Unknown", "ZoneClassNotResolved")
        assert f"{stage.namespace}/{ZONE_CLASS}" in found["message"]
    await stage.until_condition(RECORD_SETS, wanted.name, "Accepted", "Unknown", reason)
    assert stage.rcode("www", "A") == "REFUSED"
    await stage.apply(zone_class())
    await stage.apply(zone(stage.domain))
    await stage.until_programmed(RECORD_SETS, wanted.name)
    stage.assert_answered([wanted])


async def test_a_class_edit_reaches_the_answers(stage: Stage) -> None:
    await stage.set_up(claim("www", "A", "192.0.2.1"))
    before = stage.serial()
    servers = [{"name": "ns9.example.net"}, {"name": f"ns.{stage.domain}", "addresses": ["192.0.2.9", "2001:db8::9"]}]
    await stage.apply(zone_class(nameServers=servers, negativeTTL=7))
    obj = await stage.until_there(ZONES, ZONE, lambda obj: obj["status"]["nameServers"][0] == "ns9.example.net")
    assert obj["status"]["nameServers"] == ["ns9.example.net", f"ns.{stage.domain}"]
    await stage.until_there(ZONES, ZONE, is_programmed)
    reply = stage.ask("@", "NS")
    assert {rdata.to_text() for rdata in reply.answer[0]} == {"ns9.example.net.", f"ns.{stage.domain}."}
    assert {data for rrset in reply.additional for data in map(str, rrset)} == {"192.0.2.9", "2001:db8::9"}
    assert stage.ask("nothing", "A").authority[0].ttl == 7
    assert stage.serial() > before
    await stage.until_there(ZONE_CLASSES, ZONE_CLASS, lambda obj: condition(obj, "Accepted") is not None)


async def test_events_tell_how_a_claim_got_on(stage: Stage) -> None:
    www = claim("www", "A", "192.0.2.1")
    await stage.set_up(www)
    for obj, reason in ((www.name, "Accepted"), (www.name, "Programmed"), (ZONE, "Accepted"), (ZONE, "Programmed")):
        found = await stage.until_event(obj, reason)
        assert found["type"] == "Normal"
    await stage.apply(www.manifest(name="rival"))
    found = await stage.until_event("rival", "RecordSetConflict")
    assert found["type"] == "Warning"
    assert www.name in found["message"]
    assert found["related"]["name"] == ZONE
