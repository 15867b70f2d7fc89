"""Questions to NSD, Knot and BIND: what comes back as data, as "no", as a delegation, as lame and as silence."""

from __future__ import annotations

from pathlib import Path

import dns.message
import dns.rdatatype
import pytest

from controllers.probe.address import Address
from controllers.probe.answer import Answer, Outcome, Question, read_answer
from controllers.probe.delegation import Walk
from controllers.probe.exchange import NetworkExchange
from controllers.probe.round import Round, Server, probe
from tests.controllers.probe.peer import KINDS, free_port, running_peer, silent_server, zone_text

ZONE = "shop.test"
BIG = " ".join(f'"{letter * 200}"' for letter in "abcdefghi")
BODY = f"""ns1 IN A 127.0.0.1
ns2 IN A 127.0.0.1
www IN A 192.0.2.1
www IN A 192.0.2.2
alias IN CNAME www
out IN CNAME www.elsewhere.test.
*.app 60 IN A 192.0.2.7
child IN NS ns.child
ns.child IN A 192.0.2.53
big IN TXT {BIG}
mail IN MX 10 MX1.{ZONE}.
caa IN CAA 0 issue "ca.test"
"""
TIMEOUT_S = 10.0


async def ask(server: Address, name: str, kind: str) -> Answer:
    question = Question(name, dns.rdatatype.from_text(kind))
    reply = await NetworkExchange().ask(server, question, TIMEOUT_S)
    return read_answer(reply, question, ZONE) if isinstance(reply, dns.message.Message) else reply


@pytest.mark.parametrize("kind", KINDS)
async def test_answers_are_told_apart(kind: str, tmp_path: Path) -> None:
    async with running_peer(kind, tmp_path / kind, {ZONE: zone_text(ZONE, BODY)}) as peer:

        async def told(name: str, rtype: str) -> Answer:
            return await ask(peer.address, name, rtype)

        www = await told("www.shop.test", "A")
        assert www == Answer(Outcome.DATA, "NOERROR", frozenset({"192.0.2.1", "192.0.2.2"}), 300)
        assert (await told("www.shop.test", "AAAA")).outcome is Outcome.NO_DATA
        assert (await told("nothing.shop.test", "A")).outcome is Outcome.NO_NAME
        alias = await told("alias.shop.test", "A")
        assert (alias.outcome, alias.chain) == (Outcome.ALIAS, ("www.shop.test",))
        assert alias.values == {"192.0.2.1", "192.0.2.2"}
        out = await told("out.shop.test", "A")
        assert (out.outcome, out.chain, out.values) == (Outcome.ALIAS, ("www.elsewhere.test",), frozenset())
        assert (await told("alias.shop.test", "CNAME")).values == {"www.shop.test"}
        assert (await told("qwertyuiop.app.shop.test", "A")).values == {"192.0.2.7"}
        child = await told("child.shop.test", "NS")
        assert child.outcome is Outcome.DATA
        assert child.values == {"ns.child.shop.test"}
        below = await told("host.child.shop.test", "A")
        assert (below.outcome, below.cut) == (Outcome.REFERRAL, "child.shop.test")
        assert (await told("mail.shop.test", "MX")).values == {"10 mx1.shop.test"}
        assert (await told("caa.shop.test", "CAA")).values == {'0 issue "ca.test"'}
        foreign = await told("www.elsewhere.test", "A")
        assert foreign.outcome is Outcome.LAME


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_that_udp_cuts_comes_over_tcp(kind: str, tmp_path: Path) -> None:
    async with running_peer(kind, tmp_path / kind, {ZONE: zone_text(ZONE, BODY)}) as peer:
        big = await ask(peer.address, "big.shop.test", "TXT")
        assert big.values == {"".join(letter * 200 for letter in "abcdefghi")}


async def test_a_silent_server_is_spared_the_rest_of_the_round(tmp_path: Path) -> None:
    async with running_peer("nsd", tmp_path / "nsd", {ZONE: zone_text(ZONE, BODY)}) as peer:
        with silent_server() as silent:
            servers = [Server("here", (peer.address,)), Server("gone", (silent,))]
            questions = [Question(f"n{number}.shop.test", dns.rdatatype.A) for number in range(20)]
            found = await probe(ZONE, servers, questions, NetworkExchange(), 0.4)
    assert {answer.outcome for answer in found[silent].values()} == {Outcome.SILENT}
    assert len(found[silent]) == len(found[peer.address]) == 22
    assert {found[peer.address][each].outcome for each in questions} == {Outcome.NO_NAME}


async def test_the_walk_follows_the_delegation_and_reads_what_the_apex_names(tmp_path: Path) -> None:
    hosts = ["127.0.1.1", "127.0.1.2", "127.0.1.3"]
    port = free_port(*hosts)
    # ns3 is named at the apex only: the zone above does not know it yet.
    body = "ns1 IN A 127.0.1.2\nns3 IN A 127.0.1.3\n"
    own = zone_text(ZONE, body, names=("ns1", "ns3"))
    above = zone_text(
        "test", f"ns1 IN A {hosts[0]}\nns2 IN A {hosts[0]}\nshop IN NS ns1.shop\nns1.shop IN A 127.0.1.2\n"
    )
    async with (
        running_peer("nsd", tmp_path / "above", {"test": above}, hosts[0], port) as parent,
        running_peer("nsd", tmp_path / "one", {ZONE: own}, hosts[1], port),
        running_peer("knot", tmp_path / "two", {ZONE: own}, hosts[2], port),
    ):
        walk = Walk(NetworkExchange(), (parent.address,), TIMEOUT_S, port)
        found = await walk.discover(ZONE)
        assert [(each.name, [str(a) for a in each.addresses]) for each in found.servers] == [
            ("ns1.shop.test", [f"127.0.1.2:{port}"]),
            ("ns3.shop.test", [f"127.0.1.3:{port}"]),
        ]
        assert found.faults == ("the apex names ns3.shop.test, which the zone above does not delegate to",)
        missing = await walk.discover("nowhere.test")
        assert missing.servers == ()
        assert missing.faults == ("no name server of test delegates nowhere.test",)
        answers = await probe(ZONE, found.servers, [], NetworkExchange(), TIMEOUT_S)
        apex = Round(ZONE, found.servers, answers).apex(dns.rdatatype.NS)
        assert {answer.values for _, answer in apex} == {frozenset({"ns1.shop.test", "ns3.shop.test"})}
