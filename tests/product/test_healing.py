"""What somebody changes or deletes behind the product's back is put right, and nothing that is claimed is lost meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from controllers.api.group import HOSTED_ZONES, PROVIDERS, RECORD_SETS, ZONE_UNITS, ZONES
from controllers.manifests import manifests
from kube.config import connect
from tests.product.claim import PROVIDER, ZONE, claim
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import Object, Stage, is_programmed

WWW, API = claim("www", "A", "192.0.2.1"), claim("api", "AAAA", "2001:db8::1")
LARGE = [claim(f"text-{number}", "TXT", "x" * 2000) for number in range(50)]


async def test_a_snapshot_that_was_deleted_comes_back(stage: Stage) -> None:
    await stage.set_up(WWW, API)
    before = await stage.find(HOSTED_ZONES, ZONE)
    assert before is not None
    serial = stage.serial()
    await stage.delete(HOSTED_ZONES, ZONE)
    after = await stage.until_there(HOSTED_ZONES, ZONE, lambda obj: _uid(obj) != _uid(before) and _is_served(obj))
    assert after["spec"]["digest"] == before["spec"]["digest"]
    stage.assert_answered([WWW, API])
    assert stage.serial() >= serial
    await stage.publish(claim("www", "A", "192.0.2.2"))
    stage.assert_answered([claim("www", "A", "192.0.2.2"), API])


async def test_a_page_that_was_deleted_comes_back(stage: Stage) -> None:
    await stage.set_up(*LARGE)
    page = next(name for name in await stage.names(HOSTED_ZONES) if name != ZONE)
    before = await stage.find(HOSTED_ZONES, page)
    assert before is not None
    await stage.delete(HOSTED_ZONES, page)
    await stage.until_there(HOSTED_ZONES, page, lambda obj: _uid(obj) != _uid(before))
    stage.assert_answered(LARGE)
    edited = claim("text-0", "TXT", "y" * 2000)
    await stage.publish(edited)
    stage.assert_answered([edited, *LARGE[1:]])


async def test_a_snapshot_that_was_changed_is_made_right(stage: Stage) -> None:
    await stage.set_up(WWW, API)
    before = await stage.find(HOSTED_ZONES, ZONE)
    assert before is not None
    wrong = [{**each, "ttl": 1} for each in before["spec"]["recordSets"]]
    await stage.client.patch_merge(HOSTED_ZONES, {"spec": {"recordSets": wrong}}, namespace=stage.namespace, name=ZONE)
    await stage.until_there(
        HOSTED_ZONES, ZONE, lambda obj: obj["spec"]["recordSets"] == before["spec"]["recordSets"] and _is_served(obj)
    )
    stage.assert_answered([WWW, API])
    for each in (WWW, API):
        await stage.until_programmed(RECORD_SETS, each.name)


async def test_a_snapshot_of_other_names_is_made_right(stage: Stage) -> None:
    await stage.set_up(WWW)
    await stage.client.patch_merge(
        HOSTED_ZONES, {"spec": {"domainName": f"other.{stage.domain}"}}, namespace=stage.namespace, name=ZONE
    )
    await stage.until_there(
        HOSTED_ZONES, ZONE, lambda obj: obj["spec"]["domainName"] == stage.domain and _is_served(obj)
    )
    stage.assert_answered([WWW])


async def test_a_ledger_that_was_changed_is_made_right(stage: Stage) -> None:
    await stage.set_up(WWW, API)
    await stage.client.patch_merge(ZONE_UNITS, {"spec": {"recordSets": []}}, namespace=stage.namespace, name=ZONE)
    await stage.until_there(ZONE_UNITS, ZONE, lambda obj: len(obj["spec"].get("recordSets", ())) == 2)
    for each in (WWW, API):
        await stage.until_programmed(RECORD_SETS, each.name)
    edited = claim("www", "A", "192.0.2.2")
    await stage.publish(edited)
    stage.assert_answered([edited, API])


async def test_a_status_that_was_changed_is_made_right(stage: Stage) -> None:
    await stage.set_up(WWW)
    for ref, name in ((RECORD_SETS, WWW.name), (ZONES, ZONE)):
        before = await stage.find(ref, name)
        assert before is not None
        await stage.client.patch_merge(
            ref, {"status": {"conditions": []}}, namespace=stage.namespace, name=name, subresource="status"
        )
        after = await stage.until_there(ref, name, is_programmed)
        assert {each["type"] for each in after["status"]["conditions"]} == {"Accepted", "Programmed"}


async def test_finalizers_that_were_taken_away_come_back(stage: Stage) -> None:
    await stage.set_up(WWW)
    for ref, name in ((RECORD_SETS, WWW.name), (ZONES, ZONE), (ZONE_UNITS, ZONE)):
        before = await stage.find(ref, name)
        assert before is not None
        await stage.client.patch_merge(ref, {"metadata": {"finalizers": None}}, namespace=stage.namespace, name=name)
        await stage.until_there(ref, name, _has_finalizers_of(before))
    await stage.delete(RECORD_SETS, WWW.name)
    await stage.until_gone(RECORD_SETS, WWW.name)
    assert stage.rcode("www", "A") == "NXDOMAIN"


async def test_what_is_served_outlives_its_provider(fragile: Product) -> None:
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        await stage.set_up(WWW, API)
        await client.delete(PROVIDERS, name=PROVIDER["name"])
        await stage.until_condition(ZONES, ZONE, "Accepted", "False", "InvalidProvider")
        stage.assert_answered([WWW, API])
        await stage.delete(RECORD_SETS, API.name)
        await stage.until_gone(RECORD_SETS, API.name)
        assert stage.rcode("api", "AAAA") == "NXDOMAIN"
        provider = next(each for each in manifests() if each["metadata"]["name"] == PROVIDER["name"])
        await client.apply(PROVIDERS, dict(provider), manager="test", force=True)
        await stage.publish(claim("www", "A", "192.0.2.2"))
        stage.assert_answered([claim("www", "A", "192.0.2.2")])


def _uid(obj: Object) -> str:
    return str(obj["metadata"]["uid"])


def _has_finalizers_of(before: Object) -> Callable[[Object], bool]:
    return lambda obj: sorted(_finalizers(obj)) == sorted(_finalizers(before))


def _finalizers(obj: Object) -> list[str]:
    return list(obj["metadata"].get("finalizers", ()))


def _is_served(obj: Object) -> bool:
    servers = obj.get("status", {}).get("servers", ())
    return any(each["digest"] == obj["spec"]["digest"] and each["state"] == "Serving" for each in servers)
