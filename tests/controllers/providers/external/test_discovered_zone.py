"""Zones whose servers are found by walking the delegation, which others change as well."""

from __future__ import annotations

from pathlib import Path

from controllers.api.group import RECORD_SETS, ZONES
from controllers.providers.external.binding import ExternalConfig
from tests.controllers.probe.peer import free_port, running_peer, zone_text
from tests.controllers.providers.external.world import DOMAIN, World

ABOVE, FIRST, SECOND = "127.0.2.1", "127.0.2.2", "127.0.2.3"


def above(*names: str) -> str:
    glue = {"ns1": FIRST, "ns2": SECOND}
    lines = [f"ns1 IN A {ABOVE}", f"ns2 IN A {ABOVE}"]
    for name in names:
        lines += [f"shop IN NS {name}.shop", f"{name}.shop IN A {glue[name]}"]
    return "\n".join(lines) + "\n"


async def test_servers_are_found_anew_in_each_round(tmp_path: Path) -> None:
    port = free_port(ABOVE, FIRST, SECOND)
    www = "www IN A 192.0.2.1\n"
    one = f"ns1 IN A {FIRST}\n{www}"
    two = f"ns1 IN A {FIRST}\nns2 IN A {SECOND}\n"
    config = ExternalConfig(port=port, queries_per_s=1000.0)
    async with (
        running_peer("nsd", tmp_path / "above", {"test": zone_text("test", above())}, ABOVE, port) as parent,
        running_peer("knot", tmp_path / "one", {DOMAIN: zone_text(DOMAIN, one, names=("ns1",))}, FIRST, port) as first,
        running_peer("nsd", tmp_path / "two", {DOMAIN: zone_text(DOMAIN, two)}, SECOND, port) as second,
        World(tmp_path, config) as world,
    ):
        await world.zone(resolvers=[str(parent.address)])
        await world.record("www", "www", "A", {"addresses": ["192.0.2.1"]})
        message = await world.until_says(ZONES, "shop", "False", "ExternalResourceNotFound")
        assert (
            message == f"No name server of {DOMAIN} is found. Seen besides: no name server of test delegates {DOMAIN}."
        )
        await world.until_says(RECORD_SETS, "www", "False", "ProviderUnavailable")

        await parent.edit("test", zone_text("test", above("ns1"), 2), 2)
        await world.until_says(RECORD_SETS, "www", "True", "Programmed", asking=True)
        assert (await world.get(ZONES, "shop"))["status"]["nameServers"] == [f"ns1.{DOMAIN}"]

        # The zone takes in a second server, which lacks the record, before the zone above delegates to it.
        await first.edit(DOMAIN, zone_text(DOMAIN, f"{two}{www}", 2), 2)
        message = await world.until_says(RECORD_SETS, "www", "False", "ExternalResourceNotFound", asking=True)
        assert message == f"Want 192.0.2.1; not there on 1 of 2 servers: ns2.{DOMAIN} NXDOMAIN."
        await world.until_message(ZONES, "shop", "Programmed", "2 of 2 servers speak for the zone.")
        told = (await world.condition(ZONES, "shop"))["message"]
        assert f"the apex names ns2.{DOMAIN}, which the zone above does not delegate to" in told
        await parent.edit("test", zone_text("test", above("ns1", "ns2"), 3), 3)
        await second.edit(DOMAIN, zone_text(DOMAIN, f"{two}{www}", 2), 2)
        await world.until_says(RECORD_SETS, "www", "True", "Programmed", asking=True)
        status = (await world.get(ZONES, "shop"))["status"]
        assert status["nameServers"] == [f"ns1.{DOMAIN}", f"ns2.{DOMAIN}"]
        assert [each["server"] for each in status["provider"]["data"]["servers"]] == status["nameServers"]
