"""What a round says about a withdrawal: along aliases and wildcards, and about servers that nobody asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import dns.rdatatype
import pytest

from controllers.api.record_withdrawal_item import UnitWithdrawal
from controllers.ledger.sighting import sight, subject_of
from controllers.ledger.withdrawal import ServerWord, Sighting
from controllers.probe.address import Address, ServerName
from controllers.probe.answer import GARBAGE, NO_ROUTE, SILENCE, Answer, Outcome, Question
from controllers.probe.prober import ALIAS_LIMIT, Plan, Prober
from controllers.probe.round import Round, Server
from tests.controllers.ledger.withdrawal_item import ADDRESS, WITHDRAWAL
from tests.controllers.probe.internet import RESOLVER, Internet, internet
from zonemodel.name import Fqdn

ZONE = Fqdn("shop.test")
ONE, TWO = "192.0.2.11", "192.0.2.12"
ITEM = UnitWithdrawal.model_validate(WITHDRAWAL)
AT_ONE = (Address(ONE),)


async def seen(world: Internet, item: UnitWithdrawal = ITEM, **plan: object) -> Sighting:
    found = await probed(world, item, **plan)
    sighting = sight(item, found)
    assert sighting is not None
    return sighting


async def probed(world: Internet, item: UnitWithdrawal = ITEM, **plan: object) -> Round:
    of = Plan(ZONE, (subject_of(item),), resolvers=(RESOLVER,), timeout_s=1.0)
    return await Prober(world, 53).probe(replace(of, **plan))  # type: ignore[arg-type] # fields of a plan


def chain(hops: int) -> str:
    names = ["www", *(f"c{number}" for number in range(1, hops + 1))]
    aliases = "".join(f"{name} 60 CNAME {target}\n" for name, target in pairwise(names))
    return f"@ NS ns1.example.\n{aliases}{names[-1]} 900 A {ADDRESS}\n"


@pytest.mark.parametrize("hops", [0, 1, ALIAS_LIMIT - 1, ALIAS_LIMIT])
async def test_as_many_aliases_are_followed_as_are_allowed(hops: int) -> None:
    world = internet("", {ONE: chain(hops)})
    (word,) = (await seen(world, name_servers=AT_ONE)).words
    assert word == ServerWord(ONE, "NOERROR", answered=True, gave=True, ttl_s=900)
    other = ITEM.model_copy(update={"address": "192.0.2.77"})
    (word,) = (await seen(world, other, name_servers=AT_ONE)).words
    assert word == ServerWord(ONE, "NOERROR", answered=True)


@pytest.mark.parametrize("body", [chain(ALIAS_LIMIT + 1), "@ NS ns1.example.\nwww CNAME a\na CNAME www\n"])
async def test_a_chain_that_is_too_long_or_a_circle_is_said_to_be_one(body: str) -> None:
    (word,) = (await seen(internet("", {ONE: body}), name_servers=AT_ONE)).words
    assert word == ServerWord(ONE, "CHAIN", answered=False)


async def test_a_name_server_that_the_apex_names_and_nobody_asked_may_give_the_address() -> None:
    world = internet("", {ONE: "@ NS ns1.example.\n@ NS ns2.example.\n"}, {"ns1.example": ONE})
    by_name = (ServerName(Fqdn("ns1.example")),)
    assert list((await seen(world, name_servers=by_name)).silent) == [ServerWord("ns2.example", "NOTASKED", False)]
    assert not (await seen(world, name_servers=AT_ONE)).silent


async def test_an_apex_that_came_to_name_another_server_within_the_round_counts() -> None:
    above, own = f"shop NS ns1.shop\nns1.shop A {ONE}\n", f"@ NS ns1\nns1 A {ONE}\n"
    world = internet(above, {ONE: own})
    found = await probed(world)
    before = sight(ITEM, found)
    assert before is not None
    assert not before.silent
    world.serve(ONE, ZONE, f"{own}@ NS ns2\nns2 A {TWO}\n")
    answers = (await probed(world, name_servers=AT_ONE)).answers
    later = sight(ITEM, replace(found, answers=answers))
    assert later is not None
    assert [(word.server, word.rcode) for word in later.silent] == [("ns2.shop.test", "NOTASKED")]


async def test_a_server_that_does_not_tell_who_else_there_is_has_not_answered() -> None:
    world = internet(f"shop NS ns1.shop\nns1.shop A {ONE}\n", {})
    world.serve(ONE, ZONE, f"@ NS ns1\nns1 A {ONE}\n", silent_about=frozenset({"NS"}))
    assert [(word.server, word.rcode) for word in (await seen(world)).silent] == [("ns1.shop.test", "TIMEOUT")]


async def test_servers_without_a_known_address_have_not_answered() -> None:
    body = f"@ NS ns1\n@ NS gone.example.\nns1 A {ONE}\n"
    world = internet(f"shop NS ns1.shop\nns1.shop A {ONE}\n", {ONE: body})
    assert [(word.server, word.rcode) for word in (await seen(world)).silent] == [("gone.example", "NOADDRESS")]


async def test_a_wildcard_counts_by_what_it_makes_of_names_and_as_it_is_written() -> None:
    star = ITEM.model_copy(update={"name": "*.app"})
    made = internet("", {ONE: f"@ NS ns1.example.\n*.app 60 A {ADDRESS}\n"})
    assert [word.gave for word in (await seen(made, star, name_servers=AT_ONE)).words] == [True]
    assert dns.rdatatype.A in {each.type for each in (await probed(made, star, name_servers=AT_ONE)).asked}


async def test_a_round_that_did_not_ask_about_it_says_nothing() -> None:
    found = await probed(internet("", {ONE: chain(0)}), name_servers=AT_ONE)
    assert sight(ITEM.model_copy(update={"name": "other"}), found) is None


async def test_of_servers_known_by_address_nobody_has_to_tell_who_else_there_is() -> None:
    world = internet("", {ONE: "www A 192.0.2.2\n"})  # no name servers at the apex
    (word,) = (await seen(world, name_servers=AT_ONE)).words
    assert word == ServerWord(ONE, "NOERROR", answered=True)


async def test_every_address_of_a_server_that_can_be_reached_counts() -> None:
    clean, giving = "@ NS ns1.example.\n", f"@ NS ns1.example.\nwww A {ADDRESS}\n"
    world = internet("", {ONE: clean, TWO: giving})
    both = (Server("pod", (Address(ONE), Address(TWO))),)
    words = (await seen(world, servers=both)).words
    assert [(word.server, word.gave) for word in words] == [(f"pod ({ONE})", False), (f"pod ({TWO})", True)]


NAME = Question("www.shop.test", int(dns.rdatatype.A))
APEX = Question("shop.test", int(dns.rdatatype.SOA))
CUT = Answer(Outcome.REFERRAL, "NOERROR", frozenset({"ns.example"}), 60, cut="www.shop.test")
LED = Answer(Outcome.ALIAS, "NOERROR", frozenset(), 60, ("app.shop.test",))


def soa(serial: int) -> Answer:
    return Answer(Outcome.DATA, "NOERROR", frozenset({f"ns1.example. h.example. {serial} 1 1 1 1"}))


@pytest.mark.parametrize(
    ("answer", "rcode"),
    [
        (LED, "NOTASKED"),
        (CUT, "REFERRAL"),
        # A name server may be called like an address, which does not make it one.
        (Answer(Outcome.REFERRAL, "NOERROR", frozenset({ADDRESS}), 60, cut="www.shop.test"), "REFERRAL"),
        # Glue is no answer of the zone's, neither with the address nor without.
        (replace(CUT, glue=frozenset({ADDRESS})), "REFERRAL"),
        (replace(CUT, glue=frozenset({"192.0.2.99"})), "REFERRAL"),
        (NO_ROUTE, "UNREACHABLE"),
        (SILENCE, "TIMEOUT"),
        (GARBAGE, "MALFORMED"),
    ],
)
def test_whoever_has_not_said_what_a_name_points_at_has_not_answered(answer: Answer, rcode: str) -> None:
    answers = {Address(ONE): {NAME: answer, APEX: NO_ROUTE if answer is NO_ROUTE else soa(1)}}
    found = Round(ZONE, (Server("ns1", AT_ONE),), answers, asked=frozenset({NAME, APEX}))
    sighting = sight(ITEM, found)
    assert sighting is not None
    assert list(sighting.words) == [ServerWord("ns1", rcode, answered=False)]


def test_the_serial_is_the_oldest_that_a_server_has() -> None:
    clean = Answer(Outcome.NO_NAME, "NXDOMAIN")
    answers = {Address(host): {NAME: clean, APEX: soa(serial)} for host, serial in ((ONE, 8), (TWO, 7))}
    servers = (Server("ns1", AT_ONE), Server("ns2", (Address(TWO),)))
    sighting = sight(ITEM, Round(ZONE, servers, answers, asked=frozenset({NAME, APEX})))
    assert sighting is not None
    assert sighting.serial == 7
    assert not sighting.silent
