"""What a round says of servers that were asked, that nobody could ask, and that nobody knew of."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import dns.message
import dns.rdatatype
import pytest

from controllers.probe.address import Address, ServerName
from controllers.probe.answer import NO_ROUTE, SILENCE, Answer, Outcome, Question
from controllers.probe.apex import NAME_LIMIT
from controllers.probe.exchange import SHARE_LIMIT
from controllers.probe.prober import Plan, Prober
from controllers.probe.round import OUTSTANDING_LIMIT, Round, Server
from controllers.probe.subject import LONGEST_NAME_CHARS, Subject, question_about
from tests.controllers.probe.internet import RESOLVER, Internet, internet
from zonemodel.name import Fqdn

ZONE = Fqdn("shop.test")
ONE, TWO = "192.0.2.11", "192.0.2.12"
WWW = Question("www.shop.test", dns.rdatatype.A)
PLAN = Plan(ZONE, (Subject("www", dns.rdatatype.A),), resolvers=(RESOLVER,), timeout_s=1.0)


async def probed(world: Internet, plan: Plan = PLAN) -> Round:
    return await Prober(world, 53).probe(plan)


async def test_a_server_without_an_address_has_its_word_on_everything_that_is_asked() -> None:
    world = internet(
        "shop NS ns1.shop\nshop NS gone.example.\nns1.shop A 192.0.2.11\n",
        {ONE: "@ NS ns1\n@ NS gone.example.\nns1 A 192.0.2.11\nwww A 192.0.2.1\n"},
    )
    found = await probed(world)
    told = {name: (answer.outcome, answer.rcode) for name, answer in found.told(WWW)}
    assert told == {
        "ns1.shop.test": (Outcome.DATA, "NOERROR"),
        "gone.example": (Outcome.UNASKED, "NOADDRESS"),
    }
    assert [answer.rcode for _, answer in found.apex(dns.rdatatype.SOA)] == ["NOADDRESS", "NOERROR"]
    assert found.told(Question("other.shop.test", dns.rdatatype.A)) == []


async def test_when_no_server_has_an_address_each_of_them_has_its_word() -> None:
    found = await probed(internet("shop NS gone.example.\nshop NS lost.example.\n", {}))
    assert [(name, answer.rcode) for name, answer in found.told(WWW)] == [
        ("gone.example", "NOADDRESS"),
        ("lost.example", "NOADDRESS"),
    ]


@pytest.mark.parametrize(
    ("outcome", "unheard"), [(each, each is Outcome.SILENT) for each in Outcome], ids=lambda value: str(value)
)
def test_a_round_that_somebody_was_silent_in_is_told_from_one_with_answers(outcome: Outcome, unheard: bool) -> None:
    here, there = Address("192.0.2.1"), Address("192.0.2.2")
    question = Question("shop.test", dns.rdatatype.SOA)
    answers = {here: {question: Answer(Outcome.DATA, "NOERROR")}, there: {question: Answer(outcome, "")}}
    servers = (Server("ns1", (here, there)),)
    assert Round("shop.test", servers, answers).unheard is unheard
    assert Round("shop.test", (), {}).unheard
    assert Round("shop.test", (replace(servers[0], gap="UNRESOLVED"),), {}).unheard, (
        "a resolver's answer may have got lost"
    )
    assert not Round("shop.test", (replace(servers[0], gap="TOOMANY"),), {}).unheard
    assert not Round("shop.test", (), {}, denied=True).unheard


async def test_a_name_server_that_the_apex_names_and_nobody_asked_is_known() -> None:
    world = internet("", {ONE: "@ NS ns1.example.\n@ NS ns2.example.\n"}, {"ns1.example": ONE})
    by_name = await probed(world, replace(PLAN, name_servers=(ServerName(Fqdn("ns1.example")),)))
    assert by_name.left_out() == ("ns2.example",)
    # Whose an address is cannot be told from a name.
    assert (await probed(world, replace(PLAN, name_servers=(Address(ONE),)))).left_out() == ()
    assert (await probed(world, replace(PLAN, servers=(Server("pod-a", (Address(ONE),)),)))).left_out() == ()


async def test_a_round_tells_how_long_it_took_by_a_clock_of_its_own() -> None:
    seconds = iter((100.0, 107.5, 200.0, 201.0))
    prober = Prober(internet("", {}), 53, clock=lambda: next(seconds))
    plan = replace(PLAN, name_servers=(Address(ONE),))
    one, other = await prober.probe(plan), await prober.probe(plan)
    assert (one.began_s, one.ended_s, other.began_s, other.ended_s) == (100.0, 107.5, 200.0, 201.0)
    assert one.clock == other.clock
    assert one.clock != (await probed(internet("", {}), plan)).clock


@pytest.mark.parametrize(
    "change",
    [
        {"domain": Fqdn("other.test")},
        {"servers": (Server("pod", ()),)},
        {"name_servers": (Address(ONE),)},
        {"resolvers": ()},
    ],
)
def test_plans_that_ask_other_servers_or_about_another_zone_are_told_apart(change: dict[str, object]) -> None:
    assert PLAN.asks_the_same_servers(replace(PLAN, subjects=(), stamp="x"))
    assert not PLAN.asks_the_same_servers(replace(PLAN, **change))  # type: ignore[arg-type] # fields of a plan


LABEL = "0123456789abcdef0123"


def long_domain(chars: int) -> Fqdn:
    name = ".".join(["d" * 63] * 5)[-chars:]
    return Fqdn(f"x{name[1:]}" if name.startswith(".") else name)


@pytest.mark.parametrize(("domain_chars", "label_chars"), [(200, 20), (232, 20), (233, 19), (251, 1)])
async def test_the_label_for_a_wildcard_is_as_long_as_a_name_has_room_for(domain_chars: int, label_chars: int) -> None:
    domain = long_domain(domain_chars)
    question = question_about("*", dns.rdatatype.A, domain, LABEL)
    assert question.name == f"{LABEL[:label_chars]}.{domain}"
    assert len(question.name) <= LONGEST_NAME_CHARS
    world = Internet()
    world.serve(ONE, domain, "@ NS ns1.example.\n* A 192.0.2.7\n")
    plan = Plan(domain, (Subject("*", dns.rdatatype.A, proof=True),), name_servers=(Address(ONE),))
    found = await probed(world, plan)
    assert {each.name.partition(".")[0] for each in found.asked} >= {found.label[:label_chars], "*"}


def test_only_the_star_of_a_wildcard_is_replaced() -> None:
    assert question_about("*.app", 1, ZONE, "new").name == "new.app.shop.test"
    assert question_about("app", 1, ZONE, "new").name == "app.shop.test"


class Mute(Internet):
    """Answers for SOA records, and for every `lets_through`th question; notes how many questions it got."""

    count, lets_through = 0, 0

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        number = self.count = self.count + 1
        await asyncio.sleep(0)
        known = question.type == dns.rdatatype.SOA or (self.lets_through and number % self.lets_through == 0)
        return await super().ask(server, question, timeout_s, recursion=recursion) if known else SILENCE


async def test_a_server_that_stays_silent_is_spared_the_rest_of_the_round() -> None:
    world = Mute()
    world.serve(ONE, ZONE, "@ NS ns1.example.\n")
    names = tuple(Subject(f"n{number}", int(dns.rdatatype.A)) for number in range(200))
    found = await probed(world, Plan(ZONE, names, name_servers=(Address(ONE),)))
    assert world.count <= OUTSTANDING_LIMIT + 8, "those that were under way"
    words = [found.told(Question(f"n{number}.shop.test", dns.rdatatype.A)) for number in range(200)]
    assert {answer.outcome for told in words for _, answer in told} == {Outcome.SILENT}
    assert all(words)


async def test_a_server_that_loses_some_messages_is_asked_everything() -> None:
    world = Mute()
    world.lets_through = 2
    world.serve(ONE, ZONE, "@ NS ns1.example.\n")
    names = tuple(Subject(f"n{number}", int(dns.rdatatype.A)) for number in range(200))
    await probed(world, Plan(ZONE, names, name_servers=(Address(ONE),)))
    assert world.count == 202


async def test_who_has_no_zone_of_that_name_has_no_word_on_the_names_in_it() -> None:
    class Denying(Internet):
        async def ask(
            self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
        ) -> dns.message.Message | Answer:
            assert question.type == dns.rdatatype.SOA, "nothing else is asked"
            return Answer(Outcome.NO_NAME, "NXDOMAIN")

    found = await probed(Denying(), Plan(ZONE, (Subject("www", 1),), name_servers=(Address(ONE),)))
    assert [answer.outcome for _, answer in found.apex(dns.rdatatype.SOA)] == [Outcome.NO_NAME]
    assert [answer.outcome for _, answer in found.told(WWW)] == [Outcome.LAME]


async def test_a_server_that_has_lost_the_zone_says_nothing_of_where_its_aliases_lead() -> None:
    class Forgetful(Internet):
        forgets = False

        async def ask(
            self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
        ) -> dns.message.Message | Answer:
            reply = await super().ask(server, question, timeout_s, recursion=recursion)
            if self.forgets and question.type == dns.rdatatype.A:
                self.hosts.clear()
                self.serve(ONE, "test", "@ NS ns1.example.\n")
            return reply

    targets = [Question(f"{name}.shop.test", int(dns.rdatatype.A)) for name in ("one", "two")]
    for forgets, asked, outcome in ((True, 1, Outcome.LAME), (False, 2, Outcome.NO_NAME)):
        world = Forgetful()
        world.forgets = forgets
        world.serve(ONE, ZONE, "@ NS ns1.example.\na CNAME one.shop.test.\nb CNAME two.shop.test.\n")
        proofs = tuple(Subject(name, int(dns.rdatatype.A), proof=True) for name in ("a", "b")[:asked])
        found = await probed(world, Plan(ZONE, proofs, name_servers=(Address(ONE),)))
        told = found.answers[Address(ONE)]
        assert [told[each].outcome for each in targets[:asked]] == [outcome] * asked


def test_a_server_that_there_is_no_way_to_has_one_word_however_many_addresses_it_has() -> None:
    here, there = Address("192.0.2.1"), Address("192.0.2.2")
    for answers in ({here: NO_ROUTE, there: NO_ROUTE}, {here: NO_ROUTE, there: SILENCE}):
        found = Round(ZONE, (Server("ns1", (here, there)),), {at: {WWW: each} for at, each in answers.items()})
        assert [answer for _, answer in found.told(WWW)] == [answers[there]]


class Busy(Internet):
    """Notes how many questions were under way at a time."""

    now = most = 0

    async def ask(
        self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False
    ) -> dns.message.Message | Answer:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return await super().ask(server, question, timeout_s, recursion=recursion)


async def test_a_zone_with_many_servers_and_names_takes_no_more_than_its_share() -> None:
    world = Busy()
    for number in range(40):
        world.serve(f"192.0.3.{number}", ZONE, "@ NS ns1.example.\nwww A 192.0.2.1\n")
    servers = tuple(Address(f"192.0.3.{number}") for number in range(40))
    subjects = tuple(Subject(f"n{number}", dns.rdatatype.A) for number in range(20))
    found = await probed(world, replace(PLAN, subjects=subjects, name_servers=servers))
    assert world.most == SHARE_LIMIT
    assert {len(world.asked[each]) for each in servers} == {22}
    assert len(found.told(Question("n19.shop.test", dns.rdatatype.A))) == 40


async def test_servers_that_name_ever_other_servers_are_not_all_kept_and_the_set_is_known_not_to_be_whole() -> None:
    many = [f"192.0.3.{number}" for number in range(20)]
    own = "".join(f"ns1 A {each}\n" for each in many[:10]) + "".join(f"ns2 A {each}\n" for each in many[10:])
    texts = {
        host: own + "@ NS ns1\n@ NS ns2\n" + "".join(f"@ NS n{number}.{index}.example.\n" for number in range(60))
        for index, host in enumerate(many)
    }
    above = f"shop NS ns1.shop\nshop NS ns2.shop\nns1.shop A {many[0]}\nns2.shop A {many[10]}\n"
    found = await probed(internet(above, texts))
    assert found.names is not None
    assert len(found.names) == NAME_LIMIT
    assert len(found.left_out()) == 20 * 60 + 2 - NAME_LIMIT
