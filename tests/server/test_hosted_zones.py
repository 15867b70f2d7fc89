"""Zones from HostedZone objects: what is served when, and what is said about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.config import Address, ZoneFile
from server.hosted.object import HOSTED_ZONES
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.target import Target
from server.zone.judge import UnservableError
from tests.kube.fake_api import Json, refuse
from tests.server.hosted_api import COLLECTION, NAMESPACE, HostedApi, a, cname, manifest, paged, txt
from tests.server.running import ask, becomes, data, following, until
from zonemodel.hosted_zone import NameServer
from zonemodel.name import to_wire


@pytest.fixture
async def api() -> AsyncIterator[HostedApi]:
    async with HostedApi() as server:
        yield server


async def test_a_zone_is_served_and_reported(api: HostedApi) -> None:
    stored = api.write(manifest("shop", a("www", "192.0.2.1"), txt("@", "hello"), serial=7))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        assert await data(server, "shop.example", "TXT") == ['"hello"']
        assert await data(server, "shop.example", "NS") == ["ns1.example.net."]
        assert (await data(server, "shop.example", "SOA"))[0].split()[2] == "7"
        await until(lambda: api.servers("shop"), "an entry in status")
    entry = api.servers("shop")["pod-a"]
    assert entry.pop("lastTransitionTime")
    assert entry == {
        "name": "pod-a",
        "observedGeneration": 7,
        "serial": 7,
        "digest": stored["spec"]["digest"],
        "state": "Serving",
        "message": "",
    }


async def test_an_edit_is_served_and_reported(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1"), a("old", "192.0.2.9")))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        changed = api.write(manifest("shop", a("www", "192.0.2.2", "192.0.2.3"), a("new", "192.0.2.4"), serial=2))
        await becomes(server, "www.shop.example", ["192.0.2.2", "192.0.2.3"])
        assert await data(server, "new.shop.example") == ["192.0.2.4"]
        assert await data(server, "old.shop.example") == "NXDOMAIN"
        await until(lambda: api.servers("shop")["pod-a"]["serial"] == 2, "serial 2 reported")
        assert api.servers("shop")["pod-a"]["digest"] == changed["spec"]["digest"]


async def test_a_zone_that_is_deleted_is_refused(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    api.write(manifest("stays", a("www", "192.0.2.2")))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        api.delete("shop")
        await becomes(server, "www.shop.example", "REFUSED")
        assert await data(server, "www.stays.example") == ["192.0.2.2"]


async def test_name_servers_inside_the_zone_have_their_addresses(api: HostedApi) -> None:
    inside = (NameServer(name="ns.shop.example", addresses=("192.0.2.53", "2001:db8::53")),)
    api.write(manifest("shop", txt("www", "x"), name_servers=inside))
    async with following(api) as server:
        await becomes(server, "ns.shop.example", ["192.0.2.53"])
        assert await data(server, "ns.shop.example", "AAAA") == ["2001:db8::53"]
        api.write(manifest("shop", a("ns", "192.0.2.77"), txt("www", "x"), name_servers=inside, serial=2))
        await becomes(server, "ns.shop.example", ["192.0.2.77"])
        assert await data(server, "ns.shop.example", "AAAA") == ["2001:db8::53"]
        api.write(manifest("shop", txt("www", "x"), name_servers=inside, serial=3))
        await becomes(server, "ns.shop.example", ["192.0.2.53"])


async def test_a_snapshot_waits_for_all_its_pages(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        whole, (first, *rest) = paged(
            "shop", *(a(f"host-{number}", f"192.0.2.{number}") for number in range(50)), count=4, serial=2
        )
        assert rest
        api.write(first)
        api.write(whole)
        for page in rest[:-1]:
            api.write(page)
        api.write(manifest("marker", a("www", "192.0.2.99")))
        await becomes(server, "www.marker.example", ["192.0.2.99"])
        assert await data(server, "www.shop.example") == ["192.0.2.1"]
        api.write(rest[-1])
        await becomes(server, "host-7.shop.example", ["192.0.2.7"])
        assert await data(server, "www.shop.example") == "NXDOMAIN"


async def test_an_edit_of_a_paged_zone_takes_effect_whole(api: HostedApi) -> None:
    hosts = {number: a(f"host-{number}", "192.0.2.1") for number in range(200)}
    whole, pages = paged("shop", *hosts.values(), count=4)
    for obj in (*pages, whole):
        api.write(obj)
    async with following(api) as server:
        await becomes(server, "host-199.shop.example", ["192.0.2.1"])
        hosts[7] = a("host-7", "192.0.2.7")
        del hosts[8]
        whole, pages = paged("shop", *hosts.values(), count=4, serial=2)
        for obj in (*pages, whole):
            api.write(obj)
        await becomes(server, "host-7.shop.example", ["192.0.2.7"])
        assert await data(server, "host-8.shop.example") == "NXDOMAIN"
        assert await data(server, "host-199.shop.example") == ["192.0.2.1"]


REJECTED = {
    "another digest": (manifest("shop", a("www", "192.0.2.2"), serial=2, digest="sha256:" + "0" * 64), "the digest"),
    "an alias beside data": (
        manifest("shop", cname("www", "elsewhere.example"), a("www", "192.0.2.2"), serial=2),
        "www.shop.example. has a CNAME record beside A",
    ),
    "no address": (manifest("shop", a("www", "nonsense"), serial=2), "nonsense"),
    "a record set twice": (
        manifest("shop", a("www", "192.0.2.2"), a("www", "192.0.2.3"), serial=2),
        "www.shop.example. A stands twice",
    ),
}


@pytest.mark.parametrize(("bad", "reason"), REJECTED.values(), ids=REJECTED.keys())
async def test_a_bad_snapshot_is_rejected_and_the_previous_one_stays(api: HostedApi, bad: Json, reason: str) -> None:
    good = api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        api.write({**bad, "status": api.stored(COLLECTION, NAMESPACE, "shop").get("status", {})})
        await until(lambda: api.servers("shop").get("pod-a", {}).get("state") == "Rejected", "the rejection reported")
        entry = api.servers("shop")["pod-a"]
        assert reason in entry["message"]
        assert (entry["observedGeneration"], entry["serial"], entry["digest"]) == (2, 1, good["spec"]["digest"])
        assert await data(server, "www.shop.example") == ["192.0.2.1"]
        api.write(manifest("shop", a("www", "192.0.2.5"), serial=3))
        await becomes(server, "www.shop.example", ["192.0.2.5"])
        await until(lambda: api.servers("shop").get("pod-a", {}).get("state") == "Serving", "the recovery reported")
        assert api.servers("shop")["pod-a"]["message"] == ""


async def test_a_fault_in_the_server_is_reported_and_the_previous_version_stays(
    api: HostedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [txt(f"other{number}", "x") for number in range(20)]
    api.write(manifest("shop", a("www", "192.0.2.1"), cname("alias", "www.shop.example"), *others))
    async with following(api) as server:
        await becomes(server, "alias.shop.example", ["192.0.2.1", "www.shop.example."])
        await until(
            lambda: api.servers("shop").get("pod-a", {}).get("state") == "Serving", "the first version reported"
        )
        with monkeypatch.context() as broken:
            broken.setattr(server.catalog, "_put", fail)
            api.write(manifest("shop", a("www", "192.0.2.2"), cname("alias", "other.shop.example"), *others, serial=2))
            await until(
                lambda: api.servers("shop").get("pod-a", {}).get("observedGeneration") == 2, "the fault reported"
            )
            entry = api.servers("shop")["pod-a"]
            assert (entry["state"], entry["serial"], entry["message"]) == ("Rejected", 1, "made to fail")
            assert await data(server, "alias.shop.example") == ["192.0.2.1", "www.shop.example."]
        api.write(manifest("shop", a("www", "192.0.2.5"), cname("alias", "www.shop.example"), *others, serial=3))
        await becomes(server, "alias.shop.example", ["192.0.2.5", "www.shop.example."])
        await until(lambda: api.servers("shop").get("pod-a", {}).get("state") == "Serving", "the recovery reported")


def fail(table: object) -> None:
    raise UnservableError("made to fail")


async def test_a_bad_first_snapshot_is_rejected_and_nothing_is_served(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.2"), digest="sha256:" + "0" * 64))
    async with following(api) as server:
        await until(lambda: api.servers("shop"), "the rejection reported")
        entry = api.servers("shop")["pod-a"]
        assert (entry["state"], entry["serial"], entry["digest"]) == ("Rejected", 0, "")
        await becomes(server, "www.shop.example", "REFUSED")


async def test_the_oldest_manifest_of_a_domain_is_served(api: HostedApi) -> None:
    api.write(manifest("younger", a("www", "192.0.2.2"), domain="shop.example", created="2026-01-02T00:00:00Z"))
    async with following(api) as server:
        await becomes(server, "www.shop.example", ["192.0.2.2"])
        api.write(manifest("older", a("www", "192.0.2.1"), domain="shop.example", created="2026-01-01T00:00:00Z"))
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: api.servers("younger")["pod-a"]["state"] == "Rejected", "the younger one rejected")
        assert "team/older" in api.servers("younger")["pod-a"]["message"]
        await until(lambda: api.servers("older"), "the older one reported")
        api.delete("older")
        await becomes(server, "www.shop.example", ["192.0.2.2"])
        await until(lambda: api.servers("younger")["pod-a"]["state"] == "Serving", "the younger one served again")


async def test_manifests_of_the_same_second_are_ordered_by_name(api: HostedApi) -> None:
    for name, address in (("b", "192.0.2.2"), ("a", "192.0.2.1"), ("c", "192.0.2.3")):
        api.write(manifest(name, a("www", address), domain="shop.example"))
    async with following(api) as server:
        await until(lambda: len([n for n in "abc" if api.servers(n)]) == 3, "all reported")
        assert await data(server, "www.shop.example") == ["192.0.2.1"]
        assert {name: api.servers(name)["pod-a"]["state"] for name in "abc"} == {
            "a": "Serving",
            "b": "Rejected",
            "c": "Rejected",
        }


async def test_a_master_file_goes_before_a_manifest(api: HostedApi, tmp_path: Path) -> None:
    file = tmp_path / "zone"
    file.write_text("shop.example. 300 IN SOA ns. h. 1 2 3 4 5\nwww.shop.example. 300 IN A 192.0.2.200\n")
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, zone_files=(ZoneFile(file),)) as server:
        await until(lambda: api.servers("shop"), "the rejection reported")
        assert "master file" in api.servers("shop")["pod-a"]["message"]
        assert await data(server, "www.shop.example") == ["192.0.2.200"]


async def test_a_pulled_zone_goes_before_a_manifest(api: HostedApi) -> None:
    nobody = Target(Address("127.0.0.1", 9))
    pulled = SecondaryZone(to_wire("shop.example"), (nobody,))
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, transfer=TransferConfig(secondaries=(pulled,))):
        await until(lambda: api.servers("shop"), "the rejection reported")
        assert "shop.example is pulled from another name server" in api.servers("shop")["pod-a"]["message"]


async def test_before_the_first_view_nothing_is_refused(api: HostedApi) -> None:
    """A zone that has not been seen yet is unknown, not absent."""
    remove = api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    async with following(api) as server:
        assert await data(server, "www.shop.example") == "SERVFAIL"
        assert not server.is_ready
        remove()
        await becomes(server, "www.shop.example", "REFUSED")
        assert server.is_ready


async def test_the_server_reads_hosted_zones_and_writes_their_status_only(api: HostedApi) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api):
        await until(lambda: api.servers("shop"), "an entry in status")
    assert {request.path.split("/status")[0] for request in api.requests} <= {
        COLLECTION,
        HOSTED_ZONES.path("team", "shop"),
    }
    assert all(request.path.endswith("/status") for request in api.writes)


async def test_many_zones_are_served(api: HostedApi) -> None:
    for number in range(300):
        api.write(manifest(f"zone-{number}", a("www", f"192.0.2.{number % 256}")))
    async with following(api) as server:
        await until(lambda: len(server.catalog.tables) == 300, "all zones served")
        assert (await ask(server, "www.zone-77.example")).answer
        await until(lambda: all(api.servers(f"zone-{number}") for number in range(300)), "all zones reported")
