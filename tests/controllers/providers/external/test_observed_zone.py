"""Zones that NSD, Knot and BIND serve for somebody else: their edits show in conditions, and nothing else does."""

from __future__ import annotations

from pathlib import Path

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from tests.controllers.probe.peer import running_peer, silent_server, zone_text
from tests.controllers.providers.external.world import DOMAIN, World

EMPTY = "ns1 IN A 127.0.0.1\nns2 IN A 127.0.0.1\n"
LONG = "".join(letter * 200 for letter in "abcdefghi")
RECORDS = (
    EMPTY
    + f"""www IN A 192.0.2.1
www IN A 192.0.2.2
*.app IN AAAA 2001:db8::7
big IN TXT {" ".join(f'"{LONG[at : at + 250]}"' for at in range(0, len(LONG), 250))}
mail IN MX 10 MX1.{DOMAIN}.
child IN NS NS.elsewhere.test.
"""
)


async def test_conditions_follow_what_others_do_to_a_zone(tmp_path: Path) -> None:
    zones = {DOMAIN: zone_text(DOMAIN, EMPTY)}
    async with (
        running_peer("nsd", tmp_path / "nsd", zones) as nsd,
        running_peer("knot", tmp_path / "knot", zones) as knot,
        running_peer("bind", tmp_path / "bind", zones) as bind,
        World(tmp_path) as world,
    ):
        peers = (nsd, knot, bind)
        await world.zone(*(peer.address for peer in peers))
        await world.record("www", "www", "A", {"addresses": ["192.0.2.2", "192.0.2.1"]})
        await world.record("app", "*.app", "AAAA", {"addresses": ["2001:db8:0:0::7"]})
        await world.record("big", "big", "TXT", {"values": [LONG]})
        await world.record("mail", "mail", "MX", {"records": [{"preference": 10, "exchange": f"mx1.{DOMAIN}"}]})
        await world.record("child", "child", "NS", {"nameServers": ["ns.elsewhere.test"]})
        await world.until_says(ZONES, "shop", "True", "Programmed")
        names = ("www", "app", "big", "mail", "child")
        for name in names:
            await world.until_says(RECORD_SETS, name, "False", "ExternalResourceNotFound")
        www = await world.get(RECORD_SETS, "www")
        assert www["status"]["provider"]["data"]["pending"] == [
            f"www.{DOMAIN}. 300 IN A 192.0.2.1",
            f"www.{DOMAIN}. 300 IN A 192.0.2.2",
        ]
        status = (await world.get(ZONES, "shop"))["status"]
        assert status["nameServers"] == [f"ns1.{DOMAIN}", f"ns2.{DOMAIN}"]
        assert [each["serial"] for each in status["provider"]["data"]["servers"]] == [1, 1, 1]

        # A person pastes the lines, as they are shown, into the zone of one server, and then into all.
        pasted = EMPTY
        for name in names:
            lines = (await world.get(RECORD_SETS, name))["status"]["provider"]["data"]["pending"]
            pasted += "\n".join(lines) + "\n"
        await nsd.edit(DOMAIN, zone_text(DOMAIN, pasted, 2), 2)
        await world.look_again()
        message = await world.until_says(ZONES, "shop", "True", "Programmed")
        await world.until_says(RECORD_SETS, "www", "False", "ExternalResourceNotFound")
        for peer in (knot, bind):
            await peer.edit(DOMAIN, zone_text(DOMAIN, RECORDS, 2), 2)
        for name in names:
            message = await world.until_says(RECORD_SETS, name, "True", "Programmed", asking=True)
            assert message == "3 of 3 servers answer with the records."
            assert (await world.get(RECORD_SETS, name))["status"]["provider"]["data"] == {"pending": []}

        # One of them is edited to something else, and an alias takes the place of a name.
        await bind.edit(DOMAIN, zone_text(DOMAIN, RECORDS.replace("www IN A 192.0.2.2", "www IN A 192.0.2.9"), 3), 3)
        message = await world.until_says(RECORD_SETS, "www", "False", "ExternalResourceMismatch", asking=True)
        assert message == f"Want 192.0.2.1, 192.0.2.2; got from 1 of 3 servers: {bind.address} 192.0.2.1, 192.0.2.9."
        assert (await world.get(RECORD_SETS, "www"))["status"]["provider"]["data"]["pending"][-1] == (
            f"; remove: www.{DOMAIN}. A 192.0.2.9"
        )
        alias = EMPTY + f"www IN CNAME other.{DOMAIN}.\n"
        await bind.edit(DOMAIN, zone_text(DOMAIN, alias, 4), 4)

        async def mentions_alias() -> bool:
            await world.look_again()
            return "CNAME other" in (await world.condition(RECORD_SETS, "www"))["message"]

        await world.until(mentions_alias)

        # Other TTLs are told and are no mismatch.
        slow = RECORDS.replace("www IN A", "www 60 IN A")
        await bind.edit(DOMAIN, zone_text(DOMAIN, slow, 5), 5)
        message = await world.until_says(RECORD_SETS, "www", "True", "Programmed", asking=True)
        assert message == f"3 of 3 servers answer with the records. TTL: want 300, got {bind.address} 60."


async def test_lame_silent_and_stale_servers_are_told_apart(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "good", {DOMAIN: zone_text(DOMAIN, RECORDS, 2)}) as good,
        running_peer("knot", tmp_path / "lame", {"other.test": zone_text("other.test", EMPTY)}) as lame,
        running_peer("bind", tmp_path / "stale", {DOMAIN: zone_text(DOMAIN, EMPTY, 1)}) as stale,
        World(tmp_path) as world,
    ):
        with silent_server() as silent:
            await world.zone(good.address, silent)
            await world.record("www", "www", "A", {"addresses": ["192.0.2.1", "192.0.2.2"]})
            message = await world.until_says(RECORD_SETS, "www", "Unknown", "ProviderUnavailable")
            assert message == f"No word from 1 of 2 servers: {silent} TIMEOUT."
            await world.until_says(ZONES, "shop", "Unknown", "ProviderUnavailable")

            async def servers_are(*servers: object) -> None:
                await world.patch(
                    ZONE_CLASSES, "external", {"spec": {"parameters": {"nameServers": [str(each) for each in servers]}}}
                )

            await servers_are(silent)
            message = await world.until_says(RECORD_SETS, "www", "False", "ProviderUnavailable")
            assert message == f"No server answers: {silent} TIMEOUT."
            await servers_are(good.address, lame.address)
            message = await world.until_says(RECORD_SETS, "www", "False", "ProviderConflict")
            assert message == f"Not authoritative: 1 of 2 servers: {lame.address} REFUSED."
            await world.until_says(ZONES, "shop", "False", "ProviderConflict")
            await servers_are(good.address, stale.address)
            message = await world.until_says(RECORD_SETS, "www", "False", "ExternalResourceNotFound")
            assert message == f"Want 192.0.2.1, 192.0.2.2; not there on 1 of 2 servers: {stale.address} NXDOMAIN."
            message = await world.until_says(ZONES, "shop", "True", "Programmed")
            assert message == f"2 of 2 servers speak for the zone. Serials differ: {good.address} 2, {stale.address} 1."
            parameters = {
                "nameServers": [str(good.address), str(stale.address), str(silent)],
                "requireAllServers": False,
            }
            await world.patch(ZONE_CLASSES, "external", {"spec": {"parameters": parameters}})
            message = await world.until_says(RECORD_SETS, "www", "True", "Programmed")
            assert message == "1 of 3 servers answer with the records."


async def test_a_deleted_record_set_waits_until_nobody_serves_it_and_nothing_else_is_done(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, RECORDS)}) as one,
        running_peer("bind", tmp_path / "bind", {DOMAIN: zone_text(DOMAIN, RECORDS)}) as other,
        World(tmp_path) as world,
    ):
        await world.zone(one.address, other.address)
        await world.record("www", "www", "A", {"addresses": ["192.0.2.1", "192.0.2.2"]})
        await world.record("mail", "mail", "MX", {"records": [{"preference": 10, "exchange": f"mx1.{DOMAIN}"}]})
        await world.until_says(RECORD_SETS, "www", "True", "Programmed")
        await world.delete(RECORD_SETS, "www")
        message = await world.until_says(RECORD_SETS, "www", "False", "ProviderChangePending")
        assert message == f"2 of 2 servers still serve it: {one.address}, {other.address}. Remove it from the zone."
        pending = (await world.get(RECORD_SETS, "www"))["status"]["provider"]["data"]["pending"]
        assert pending == [f"; remove: www.{DOMAIN}. 300 IN A 192.0.2.1", f"; remove: www.{DOMAIN}. 300 IN A 192.0.2.2"]
        await one.edit(DOMAIN, zone_text(DOMAIN, EMPTY, 2), 2)
        await world.look_again()

        async def one_is_left() -> bool:
            await world.look_again()
            return bool((await world.condition(RECORD_SETS, "www"))["message"].startswith("1 of 2 servers"))

        await world.until(one_is_left)
        # A server that does not answer might still serve it.
        await other.end()
        await world.until_says(RECORD_SETS, "www", "Unknown", "ProviderUnavailable", asking=True)
        await other.start()
        await other.edit(DOMAIN, zone_text(DOMAIN, EMPTY, 2), 2)
        await world.look_again()
        await world.until_gone(RECORD_SETS, "www")

        # With the other policy nobody looks.
        parameters = {"deletionPolicy": "Forget"}
        await world.patch(ZONE_CLASSES, "external", {"spec": {"parameters": parameters}})
        await one.edit(DOMAIN, zone_text(DOMAIN, RECORDS, 3), 3)
        await world.delete(RECORD_SETS, "mail")
        await world.until_gone(RECORD_SETS, "mail")
        await world.delete(ZONES, "shop")
        await world.until_gone(ZONES, "shop")
