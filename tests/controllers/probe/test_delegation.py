"""The set of a zone's servers: all that any of them names, and what cannot be asked as servers that nothing is known of."""

from __future__ import annotations

import dns.rcode
import dns.rdatatype
import pytest

from controllers.probe.address import Address, ServerName
from controllers.probe.answer import Question
from controllers.probe.apex import SERVER_LIMIT, Delegation
from controllers.probe.delegation import Walk
from controllers.probe.host import ADDRESS_LIMIT
from tests.controllers.probe.internet import RESOLVER, Internet, internet
from zonemodel.name import Fqdn

ZONE = "shop.test"
ONE, TWO, THREE, FOUR = "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14"
GLUE = f"ns1.shop A {ONE}\nns2.shop A {TWO}\n"
ABOVE = f"shop NS ns1.shop\nshop NS ns2.shop\n{GLUE}"
OWN = f"ns1 A {ONE}\nns2 A {TWO}\nns3 A {THREE}\nns4 A {FOUR}\n"


def apex(*names: str) -> str:
    return "".join(f"@ NS {name}\n" for name in names) + OWN


async def discover(world: Internet, *resolvers: Address) -> Delegation:
    return await Walk(world, resolvers or (RESOLVER,), 1.0).discover(ZONE)


def hosts(found: Delegation) -> dict[str, list[str]]:
    return {each.name: [address.host for address in each.addresses] for each in found.servers}


def gaps(found: Delegation) -> dict[str, str]:
    return {name: answer.rcode for each in found.servers if each.unasked for name, answer in [each.unasked]}


async def test_every_delegated_server_is_asked_which_name_servers_there_are() -> None:
    world = internet(ABOVE, {ONE: apex("ns1", "ns2"), TWO: apex("ns1", "ns2", "ns3"), THREE: apex("ns3")})
    found = await discover(world)
    assert hosts(found) == {"ns1.shop.test": [ONE], "ns2.shop.test": [TWO], "ns3.shop.test": [THREE]}
    assert found.names == frozenset(hosts(found))
    assert found.faults == ("the apex names ns3.shop.test, which the zone above does not delegate to",)


async def test_servers_that_only_the_apex_names_are_asked_for_further_ones_until_there_are_none() -> None:
    texts = {ONE: apex("ns1", "ns3"), TWO: apex("ns2"), THREE: apex("ns4"), FOUR: apex("ns4")}
    found = await discover(internet(ABOVE, texts))
    assert hosts(found)["ns4.shop.test"] == [FOUR]
    assert gaps(found) == {}


async def test_a_chain_of_name_servers_that_name_ever_new_ones_ends_with_servers_that_nobody_asked() -> None:
    texts = {f"192.0.2.{20 + n}": f"@ NS n{n}\n@ NS n{n + 1}\nn{n + 1} A 192.0.2.{21 + n}\n" for n in range(20)}
    world = internet("shop NS n0.shop\nn0.shop A 192.0.2.20\n", texts)
    found = await discover(world)
    assert found.names == frozenset(hosts(found))
    assert 3 < len(found.servers) < 10
    assert list(gaps(found).values()) == ["UNRESOLVED"]


async def test_a_server_that_does_not_tell_stays_in_the_set_and_is_told_of() -> None:
    world = internet(ABOVE, {ONE: apex("ns1", "ns2")})
    found = await discover(world)
    assert hosts(found) == {"ns1.shop.test": [ONE], "ns2.shop.test": [TWO]}
    assert found.faults == (f"the name servers at the apex are not told by {TWO} TIMEOUT",)


async def test_a_lame_server_names_nobody() -> None:
    world = internet(ABOVE, {ONE: apex("ns1", "ns2")})
    world.serve(TWO, "test", f"shop NS evil.elsewhere.test\n{GLUE}")  # refers to others, as if it were the zone above
    found = await discover(world)
    assert found.names == frozenset({"ns1.shop.test", "ns2.shop.test"})
    assert found.faults == (f"the name servers at the apex are not told by {TWO} LAME",)


async def test_a_name_servers_addresses_are_those_of_its_own_zone_beside_the_glue() -> None:
    own = apex("ns1", "ns2") + "ns1 AAAA 2001:db8::11\nns2 A 192.0.2.99\n"
    world = internet(ABOVE, {ONE: own, TWO: own, "192.0.2.99": own, "2001:db8::11": own})
    assert hosts(await discover(world)) == {
        "ns1.shop.test": [ONE, "2001:db8::11"],
        "ns2.shop.test": [TWO, "192.0.2.99"],
    }


async def test_surplus_name_servers_are_servers_that_nobody_asked() -> None:
    names = [f"n{number}" for number in range(SERVER_LIMIT + 8)]
    body = "".join(f"@ NS {name}\n{name} A {ONE}\n" for name in names)
    found = await discover(internet(ABOVE, {ONE: body, TWO: body}))
    assert len(found.servers) == SERVER_LIMIT + 1
    assert gaps(found) == {"10 more name servers": "NOTASKED"}
    assert f"the zone has {SERVER_LIMIT + 10} name servers, of which {SERVER_LIMIT} are asked" in found.faults
    assert found.names is not None
    assert len(found.names) == SERVER_LIMIT + 10


async def test_surplus_addresses_of_a_name_server_are_addresses_that_nobody_asked() -> None:
    own = apex("ns1") + "".join(f"ns1 A 192.0.3.{number}\n" for number in range(40))
    found = await discover(internet(ABOVE, {ONE: own, TWO: own}))
    (first, _) = found.servers
    assert len(first.addresses) == ADDRESS_LIMIT
    assert gaps(found) == {"ns1.shop.test (other addresses)": "TOOMANY"}
    assert f"name server ns1.shop.test has 41 addresses, of which {ADDRESS_LIMIT} are asked" in found.faults


OUTSIDE = "shop NS ns1.other.example.\n"


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
async def test_a_resolver_that_fails_has_not_said_that_there_is_no_address(rcode: dns.rcode.Rcode) -> None:
    failing = Address("198.51.100.1")
    world = internet(OUTSIDE, {ONE: "@ NS ns1.other.example.\n"}, {"ns1.other.example": ONE})
    world.resolvers[failing.host] = rcode
    # Another resolver is asked instead.
    found = await discover(world, failing, RESOLVER)
    assert (hosts(found), gaps(found), found.faults) == ({"ns1.other.example": [ONE]}, {}, ())
    # When all of them fail it is not known who the servers are.
    named = Walk(world, (failing,), 1.0).named([ServerName(Fqdn("ns1.other.example"))])
    found = await named
    assert gaps(found) == {"ns1.other.example": "UNRESOLVED"}
    assert found.faults == ("no resolver tells all addresses of name server ns1.other.example",)


async def test_a_name_that_resolvers_know_to_have_no_address_has_none() -> None:
    found = await discover(internet(OUTSIDE, {}))
    assert gaps(found) == {"ns1.other.example": "NOADDRESS"}
    assert found.faults == ("name server ns1.other.example has no address",)


async def test_one_address_family_that_nobody_tells_may_hide_an_address() -> None:
    world = internet(OUTSIDE, {ONE: "@ NS ns1.other.example.\n"}, {"ns1.other.example": ONE})

    class NoIPv6(Internet):
        async def ask(self, server: Address, question: Question, timeout_s: float, *, recursion: bool = False):  # type: ignore[no-untyped-def] # as above it
            if question.type == dns.rdatatype.AAAA and recursion:
                return await Internet(resolvers={RESOLVER.host: dns.rcode.SERVFAIL}).ask(server, question, timeout_s)
            return await super().ask(server, question, timeout_s, recursion=recursion)

    found = await discover(NoIPv6(world.hosts, world.names))
    assert hosts(found) == {"ns1.other.example": [ONE]}
    assert gaps(found) == {"ns1.other.example (other addresses)": "UNRESOLVED"}


async def test_servers_that_are_named_are_known_by_name_only_when_all_are() -> None:
    world = internet(OUTSIDE, {}, {"ns1.other.example": ONE})
    walk = Walk(world, (RESOLVER,), 1.0)
    name = ServerName(Fqdn("ns1.other.example"), 5300)
    found = await walk.named([name, name])
    assert found.names == frozenset({"ns1.other.example"})
    assert [str(each) for each in found.servers[0].addresses] == [f"{ONE}:5300"]
    assert (await walk.named([name, Address(TWO)])).names is None
