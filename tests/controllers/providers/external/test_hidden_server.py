"""Withdrawals from zones with servers that are easily missed: named by one server only, silent, or without an address."""

from __future__ import annotations

from pathlib import Path

from controllers.api.group import RECORD_SETS, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.providers.external.binding import ExternalConfig
from tests.controllers.probe.internet import RESOLVER, internet
from tests.controllers.providers.external.world import DOMAIN, World

ONE, TWO, THREE, ADDRESS = "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.1"
ABOVE = f"shop NS ns1.shop\nshop NS ns2.shop\nns1.shop A {ONE}\nns2.shop A {TWO}\n"
HOSTS = f"ns1 A {ONE}\nns2 A {TWO}\nns3 A {THREE}\nwww A 192.0.2.2\n"
BUSY = f"old A {ADDRESS}\n"


def apex(*names: str) -> str:
    return "".join(f"@ NS {name}\n" for name in names) + HOSTS


async def test_an_address_is_not_free_before_every_server_that_anybody_names_is_free_of_it(tmp_path: Path) -> None:
    both, all_three = apex("ns1", "ns2"), apex("ns1", "ns2", "ns3")
    world_of_dns = internet(ABOVE, {ONE: both, TWO: all_three, THREE: all_three + BUSY})
    async with World(tmp_path, ExternalConfig(queries_per_s=1000.0), world_of_dns) as world:

        async def until(status: str, reason: str, kind: str = "Withdrawn") -> str:
            await world.next_round()
            return await world.until_says(RECORD_WITHDRAWALS, "old", status, reason, kind)

        await world.zone(resolvers=[str(RESOLVER)])
        await world.withdrawal("old", "old", ADDRESS)
        # The one server that gives it is named by the second server only, and by no delegation.
        message = await until("False", "StillPublished")
        assert message == f"1 of 3 servers give {ADDRESS} for old: ns3.{DOMAIN}."

        silent = world_of_dns.hosts.pop(THREE)
        assert f"ns3.{DOMAIN} TIMEOUT" in await until("Unknown", "DNSProbeFailed")
        world.go_on(4000)
        await until("Unknown", "DNSProbeFailed")

        # It has gone from the apex, and a server without an address has come.
        world_of_dns.serve(TWO, DOMAIN, apex("ns1", "ns2", "gone.example."))
        await world.next_round()
        told = "1 of 3 servers gave no answer: gone.example NOADDRESS. NOADDRESS: the server has no address."
        await world.until_message(RECORD_WITHDRAWALS, "old", "Withdrawn", told)
        await world.record("www", "www", "A", {"addresses": ["192.0.2.2"]})
        await world.until_says(RECORD_SETS, "www", "Unknown", "ProviderUnavailable")
        await world.until_says(ZONES, "shop", "Unknown", "ProviderUnavailable")

        world_of_dns.serve(TWO, DOMAIN, both)
        await until("Unknown", "Reconciling")
        await world.until_says(RECORD_SETS, "www", "True", "Programmed")
        world.go_on(301)
        await until("True", "Verified")

        # The former server comes back, named by one server, with the address.
        world_of_dns.hosts[THREE] = silent
        world_of_dns.serve(ONE, DOMAIN, all_three)
        await until("False", "StillPublished")
        await until("False", "NotWithdrawn", "Ready")
