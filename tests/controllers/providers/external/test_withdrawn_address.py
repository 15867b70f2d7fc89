"""Withdrawals from zones that others edit: an address is free only when every server has been clean twice, a TTL apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from controllers.api.group import PROVIDERS, ZONE_CLASSES, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, parse_record_withdrawal
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS
from controllers.core.withdrawal.digest import spec_digest
from tests.controllers.probe.peer import running_peer, silent_server, zone_text
from tests.controllers.providers.external.world import DOMAIN, NAMESPACE, World

ADDRESS = "192.0.2.1"
BASE = "ns1 IN A 127.0.0.1\nns2 IN A 127.0.0.1\n"
BUSY = BASE + f"www 600 IN CNAME app.{DOMAIN}.\napp 900 IN A {ADDRESS}\nother IN A {ADDRESS}\n"
FREE = BASE + f"www 600 IN CNAME app.{DOMAIN}.\napp 900 IN A 192.0.2.2\nother IN A {ADDRESS}\n"


def said(world: World, name: str, kind: str) -> Any:
    return world.condition(RECORD_WITHDRAWALS, name, kind)


async def test_verified_needs_two_clean_rounds_of_every_server_a_ttl_apart(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, BUSY)}) as one,
        running_peer("knot", tmp_path / "knot", {DOMAIN: zone_text(DOMAIN, BUSY)}) as other,
        World(tmp_path) as world,
    ):

        async def until(status: str, reason: str, kind: str = "Withdrawn") -> str:
            return await world.until_says(RECORD_WITHDRAWALS, "old", status, reason, kind)

        await world.zone(one.address, other.address)
        await world.withdrawal("old", "www", ADDRESS)
        await until("True", "Accepted", "Accepted")
        message = await until("False", "StillPublished")
        assert message == f"2 of 2 servers give {ADDRESS} for www: {one.address}, {other.address}."
        await until("False", "NotWithdrawn", "Ready")
        evidence = (await world.get(RECORD_WITHDRAWALS, "old"))["status"]["provider"]["data"]
        assert [each["rcode"] for each in evidence["servers"]] == ["NOERROR", "NOERROR"]
        assert evidence["serial"] == 1

        # One server is free of it, and for a long time: that proves nothing.
        await one.edit(DOMAIN, zone_text(DOMAIN, FREE, 2), 2)
        world.go_on(3600)
        await world.next_round()
        message = await until("False", "StillPublished")
        await world.until_message(RECORD_WITHDRAWALS, "old", "Withdrawn", "1 of 2 servers")

        # Both are, once. The alias was seen with 600 s and what it leads to with 900 s.
        await other.edit(DOMAIN, zone_text(DOMAIN, FREE, 2), 2)
        await world.next_round()
        await until("Unknown", "Reconciling")
        await until("False", "NotWithdrawn", "Ready")
        world.go_on(890)
        await world.next_round()
        await until("Unknown", "Reconciling")
        # A server that does not answer is not a server that is free of it.
        await other.end()
        world.go_on(20)
        await world.next_round()
        await until("Unknown", "DNSProbeFailed")
        await until("False", "DNSProbeFailed", "Ready")
        await other.start()
        await world.next_round()
        message = await until("True", "Verified")
        assert message == "None of 2 servers gives the address, in two looks 900 s apart or more."
        await until("True", "Withdrawn", "Ready")

        # The name comes back to the address: the claim says so at once.
        await one.edit(DOMAIN, zone_text(DOMAIN, BUSY, 3), 3)
        await world.next_round()
        await until("False", "StillPublished")
        await until("False", "NotWithdrawn", "Ready")


async def test_half_a_proof_begins_again_with_the_manager_and_a_whole_one_stays(tmp_path: Path) -> None:
    async with (
        running_peer("knot", tmp_path / "knot", {DOMAIN: zone_text(DOMAIN, BUSY)}) as one,
        World(tmp_path) as world,
    ):
        await world.zone(one.address)
        await world.withdrawal("old", "app", ADDRESS)
        await world.until_says(RECORD_WITHDRAWALS, "old", "False", "StillPublished", "Withdrawn")
        await one.edit(DOMAIN, zone_text(DOMAIN, FREE, 2), 2)
        await world.next_round()
        await world.until_says(RECORD_WITHDRAWALS, "old", "Unknown", "Reconciling", "Withdrawn")
        world.go_on(901)
        await world.restart()
        # Nobody has counted the seconds while the manager was away; the TTL that the address was seen with is remembered.
        await world.next_round()
        await world.until_message(RECORD_WITHDRAWALS, "old", "Withdrawn", "None of 1 servers gives the address; it is")
        world.go_on(890)
        await world.next_round()
        assert (await said(world, "old", "Withdrawn"))["reason"] == "Reconciling"
        world.go_on(20)
        await world.next_round()
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "Verified", "Withdrawn")
        await world.restart()
        await world.next_round()
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "Verified", "Withdrawn")


async def test_a_wall_clock_that_is_put_forward_is_no_time_that_passed(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, FREE)}) as one,
        World(tmp_path) as world,
    ):
        await world.zone(one.address)
        await world.withdrawal("old", "www", ADDRESS)
        await world.until_says(RECORD_WITHDRAWALS, "old", "Unknown", "Reconciling", "Withdrawn")
        world.put_forward(7200)
        world.go_on(59)
        await world.next_round()
        assert (await said(world, "old", "Withdrawn"))["reason"] == "Reconciling"
        world.put_forward(-14_400)
        world.go_on(2)
        await world.next_round()
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "Verified", "Withdrawn")


async def test_a_waiver_releases_and_its_end_takes_the_release_back(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, BUSY)}) as one,
        World(tmp_path) as world,
    ):
        await world.zone(one.address)
        await world.withdrawal("old", "www", ADDRESS)
        await world.until_says(RECORD_WITHDRAWALS, "old", "False", "StillPublished", "Withdrawn")
        claim = parse_record_withdrawal(await world.get(RECORD_WITHDRAWALS, "old"))
        spec = {
            "claimRef": {"name": "old", "uid": claim.meta.uid},
            "specDigest": spec_digest(claim),
            "address": ADDRESS,
            "reason": "Nobody reaches the other server any more.",
            "reservationRef": {"group": "ipam.example.com", "kind": "IPReservation", "name": "edge", "uid": "r-1"},
        }
        await world.create(RECORD_WITHDRAWAL_WAIVERS, "wrong", {**spec, "specDigest": "sha256:" + "0" * 64})
        await world.until_says(RECORD_WITHDRAWAL_WAIVERS, "wrong", "False", "InvalidWaiver", "Accepted")
        assert (await said(world, "old", "Ready"))["status"] == "False"
        await world.create(RECORD_WITHDRAWAL_WAIVERS, "release", spec)
        await world.until_says(RECORD_WITHDRAWAL_WAIVERS, "release", "True", "Accepted", "Accepted")
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "OperatorAuthorizedRelease", "Ready")
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "OperatorAuthorizedRelease", "OverrideAccepted")
        assert (await said(world, "old", "Withdrawn"))["reason"] == "StillPublished"
        await world.delete(RECORD_WITHDRAWAL_WAIVERS, "release")
        await world.until_says(RECORD_WITHDRAWALS, "old", "False", "NotWithdrawn", "Ready")
        assert await said(world, "old", "OverrideAccepted") == {}

        # The Zone waits until a person archives the claim; the waiver is told that its claim has gone.
        await world.create(RECORD_WITHDRAWAL_WAIVERS, "release", spec)
        await world.until_says(RECORD_WITHDRAWALS, "old", "True", "OperatorAuthorizedRelease", "Ready")
        await world.delete(ZONES, "shop")
        message = await world.until_says(ZONES, "shop", "False", "ProviderChangePending")
        assert message == (
            f"Waiting for 1 RecordWithdrawals to be archived, which is to be deleted by a person: {NAMESPACE}/old."
        )
        await one.edit(DOMAIN, zone_text(DOMAIN, FREE, 2), 2)
        await world.look_again()
        await world.until_says(RECORD_WITHDRAWALS, "old", "Unknown", "Reconciling", "Withdrawn")
        await world.delete(RECORD_WITHDRAWALS, "old")
        await world.until_gone(ZONES, "shop")
        await world.until_says(RECORD_WITHDRAWAL_WAIVERS, "release", "False", "InvalidWaiver", "Accepted")


async def test_wildcards_aliases_and_silent_servers_count(tmp_path: Path) -> None:
    body = BASE + f"*.app IN A {ADDRESS}\nloop IN CNAME loop2\nloop2 IN CNAME loop\nout IN CNAME www.elsewhere.test.\n"
    async with (
        running_peer("bind", tmp_path / "bind", {DOMAIN: zone_text(DOMAIN, body)}) as one,
        World(tmp_path) as world,
    ):
        with silent_server() as silent:
            await world.zone(one.address)
            await world.withdrawal("made", "shop1.app", ADDRESS)
            await world.withdrawal("out", "out", ADDRESS)
            await world.withdrawal("other-family", "shop1.app", "2001:db8::1")
            await world.until_says(RECORD_WITHDRAWALS, "made", "False", "StillPublished", "Withdrawn")
            await world.until_says(RECORD_WITHDRAWALS, "out", "Unknown", "Reconciling", "Withdrawn")
            await world.until_says(RECORD_WITHDRAWALS, "other-family", "Unknown", "Reconciling", "Withdrawn")
            await world.withdrawal("star", "*.app", ADDRESS)
            await world.until_says(RECORD_WITHDRAWALS, "star", "False", "NotAllowed", "Accepted")
            grant = {
                "namespaces": {"selector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}},
                "records": [{"name": {"pattern": r"\*\.app"}, "types": ["A"]}],
            }
            await world.patch(ZONES, "shop", {"spec": {"allowedRecordSets": [grant]}})
            await world.until_says(RECORD_WITHDRAWALS, "star", "True", "Accepted", "Accepted")
            await world.until_says(RECORD_WITHDRAWALS, "star", "False", "StillPublished", "Withdrawn")
            class_patch = {"spec": {"parameters": {"nameServers": [str(one.address), str(silent)]}}}
            await world.patch(ZONE_CLASSES, "external", class_patch)
            await world.until_says(RECORD_WITHDRAWALS, "out", "Unknown", "DNSProbeFailed", "Withdrawn")
            # What one server gives is known, whatever another one does not say.
            await world.until_says(RECORD_WITHDRAWALS, "star", "False", "StillPublished", "Withdrawn")


async def test_a_provider_version_without_withdrawals_is_unsupported(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        await world.zone("127.0.0.1:9")
        provider = await world.client.get(PROVIDERS, name="external.dns.appthrust.io")
        version = {key: value for key, value in provider["spec"]["versions"][0].items() if key != "recordWithdrawal"}
        await world.client.patch_merge(PROVIDERS, {"spec": {"versions": [version]}}, name="external.dns.appthrust.io")
        await world.withdrawal("old", "www", ADDRESS)
        await world.until_says(RECORD_WITHDRAWALS, "old", "False", "UnsupportedProvider", "Accepted")
        message = await world.until_says(RECORD_WITHDRAWALS, "old", "Unknown", "Reconciling", "Withdrawn")
        assert message == "Nothing is observed, since the claim is not accepted."
        await world.until_says(RECORD_WITHDRAWALS, "old", "False", "NotAccepted", "Ready")
