"""A hostname that comes to belong to another zone: nothing that is published is lost on the way, whatever the new zone does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from controllers.api.endpoint import ENDPOINT_RECORD_SETS
from controllers.api.endpoint_conversion import CONVERSION_KIND, CONVERSION_PLURAL
from controllers.api.group import RECORD_SETS, ZONES
from controllers.apps.registry import AppsConfig
from kube.client import Client
from kube.errors import Forbidden
from kube.resource import ResourceRef
from tests.controllers.apps.conftest import NAMESPACE, NOTEBOOK
from tests.controllers.apps.shelf import CLOSED, READY, UNREADY, Shelf, is_programmed
from tests.controllers.ledger.notebook import Notebook

SHORT, LONG = ("a.eu", "A", "192.0.2.1"), ("a", "A", "192.0.2.1")
OTHER = ("other", "A", "192.0.2.1")
HOSTNAME = "a.eu.example.test"


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    book = Notebook()
    async with Shelf(tmp_path, AppsConfig(conversion_timeout_s=0.3), book) as found:
        yield found


async def published(shelf: Shelf) -> None:
    await shelf.page("short", "example.test", READY)
    await shelf.endpoint("one", [HOSTNAME])
    await shelf.until_programmed("a.eu")


async def test_records_stay_until_those_in_the_longer_zone_are_programmed(shelf: Shelf) -> None:
    await published(shelf)
    await shelf.page("long", "eu.example.test", UNREADY)
    await shelf.until_records(SHORT, LONG)

    async def told() -> bool:
        found = await shelf.hostname("one", HOSTNAME)
        return bool(found["zone"]["ref"]["name"] == "long")

    await shelf.until(told)
    found = await shelf.hostname("one", HOSTNAME)
    assert {each["name"] for each in found["recordSets"]} == {"a.eu", "a"}
    assert "stay until those in Zone default/long are Programmed" in found["conditions"][0]["message"]
    assert {each["spec"]["name"] for each in await shelf.made() if is_programmed(each)} == {"a.eu"}
    await shelf.pen("later")
    await shelf.until_records(LONG)
    assert {each["spec"]["name"] for each in await shelf.made() if is_programmed(each)} == {"a"}
    await shelf.until_reason("one", HOSTNAME, "True/Resolved")


async def test_records_that_stay_follow_the_targets(shelf: Shelf) -> None:
    await published(shelf)
    await shelf.page("long", "eu.example.test", UNREADY)
    await shelf.until_records(SHORT, LONG)
    await shelf.retarget("192.0.2.9")
    await shelf.until_records(("a.eu", "A", "192.0.2.9"), ("a", "A", "192.0.2.9"))
    await shelf.client.delete(ENDPOINT_RECORD_SETS, namespace=NAMESPACE, name="one")
    await shelf.until_records()


async def test_records_that_stay_follow_the_targets_once_their_zone_is_converted_for_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controllers.apps.endpoint.controller.DENIED_AGAIN_S", 0.2)
    await published(shelf)
    await shelf.page("long", "eu.example.test", UNREADY)
    await shelf.until_records(SHORT, LONG)
    api = ResourceRef(NOTEBOOK.resource.group, NOTEBOOK.resource.version, CONVERSION_PLURAL, CONVERSION_KIND, False)

    denied: list[Mapping[str, Any]] = []

    async def deny_short(question: Mapping[str, Any]) -> dict[str, Any]:
        if question["spec"]["input"]["zone"]["domainName"] == "example.test":
            denied.append(question)
            raise Forbidden("not now", code=403)
        return await shelf.client.create(api, question)

    shelf.converting.fault = deny_short
    await shelf.retarget("192.0.2.9")
    await shelf.until_records(SHORT, ("a", "A", "192.0.2.9"))

    async def asked_again() -> bool:
        return len(denied) > 8  # more often than events alone would have it

    await shelf.until(asked_again)
    shelf.converting.fault = None
    await shelf.until_records(("a.eu", "A", "192.0.2.9"), ("a", "A", "192.0.2.9"))


async def test_a_record_that_stays_and_is_refused_is_tried_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing happens meanwhile that would have anybody look."""
    monkeypatch.setattr("controllers.apps.endpoint.controller.REFUSED_AGAIN_S", 0.3)
    await published(shelf)
    await shelf.page("long", "eu.example.test", UNREADY)
    await shelf.until_records(SHORT, LONG)
    refused: list[str] = []
    apply = Client.apply

    async def refuse_short(client: Client, ref: ResourceRef, obj: Mapping[str, Any], **how: Any) -> dict[str, Any]:
        if obj["spec"]["zoneRef"]["name"] == "short" and len(refused) < 8:
            refused.append(obj["metadata"]["name"])
            raise Forbidden("not now", code=403)
        return await apply(client, ref, obj, **how)

    monkeypatch.setattr(Client, "apply", refuse_short)
    await shelf.retarget("192.0.2.9")
    await shelf.until_records(("a.eu", "A", "192.0.2.9"), ("a", "A", "192.0.2.9"))
    assert len(refused) == 8


async def test_a_refused_zone_is_not_chosen(shelf: Shelf) -> None:
    await published(shelf)
    before = {each["metadata"]["uid"] for each in await shelf.made()}
    await shelf.page("long", "eu.example.test", CLOSED)
    await shelf.accept("False", "long")
    await shelf.until_records(SHORT)
    assert {each["metadata"]["uid"] for each in await shelf.made()} == before

    async def told() -> bool:
        found = await shelf.hostname("one", HOSTNAME)
        return bool(found["zone"]["ref"]["name"] == "short")

    await shelf.until(told)
    await shelf.endpoint("two", ["b.eu.example.test"])
    await shelf.until_reason("two", "b.eu.example.test", "True/Resolved")
    assert (await shelf.hostname("two", "b.eu.example.test"))["zone"]["ref"]["name"] == "short"
    await shelf.let_class_in("All")
    await shelf.until_records(LONG, ("b", "A", "192.0.2.1"))


async def test_nothing_stays_behind_in_a_refused_zone_even_while_the_other_one_is_not_ready(shelf: Shelf) -> None:
    await shelf.page("short", "example.test", UNREADY)
    await shelf.endpoint("one", [HOSTNAME])
    await shelf.until_records(SHORT)
    await shelf.page("long", "eu.example.test", CLOSED)
    await shelf.accept("False", "long")
    await shelf.until_records(SHORT)


async def test_without_another_zone_a_refused_one_is_told_and_what_is_published_stays(shelf: Shelf) -> None:
    await shelf.let_class_in("All")
    await shelf.page("long", "eu.example.test", CLOSED)
    await shelf.endpoint("one", [HOSTNAME])
    await shelf.until_programmed("a")
    await shelf.let_class_in("Same")
    await shelf.until_reason("one", HOSTNAME, "False/ZoneNotAccepted")
    told = (await shelf.hostname("one", HOSTNAME))["conditions"][0]["message"]
    assert "Zone default/long is not accepted" in told
    assert "stays as it is" in told
    assert await shelf.records() == {LONG}
    await shelf.let_class_in("All")
    await shelf.until_reason("one", HOSTNAME, "True/Resolved")


async def test_a_zone_that_loses_its_acceptance_loses_no_records_to_a_shorter_one(shelf: Shelf) -> None:
    await shelf.let_class_in("All")
    await shelf.page("long", "eu.example.test", CLOSED)
    await shelf.endpoint("one", [HOSTNAME])
    await shelf.until_programmed("a")
    uid = next(each["metadata"]["uid"] for each in await shelf.made())
    await shelf.page("short", "example.test", READY)
    await shelf.let_class_in("Same")
    await shelf.until_programmed("a.eu")
    await shelf.endpoint("two", ["other.example.test"])
    await shelf.until_programmed("other")
    assert await shelf.records() == {SHORT, LONG, OTHER}
    await shelf.let_class_in("All")
    await shelf.until_records(LONG, OTHER)
    assert uid in {each["metadata"]["uid"] for each in await shelf.made()}


async def test_a_zone_that_is_being_deleted_is_left_at_once(shelf: Shelf) -> None:
    await published(shelf)
    await shelf.page("again", "example.test", UNREADY)
    await shelf.client.delete(ZONES, namespace=NAMESPACE, name="short")

    async def moved() -> bool:
        return {each["spec"]["zoneRef"]["name"] for each in await shelf.made()} == {"again"}

    await shelf.until(moved)
    assert await shelf.is_gone(ZONES, "short") or "deletionTimestamp" in (await shelf.get(ZONES, "short"))["metadata"]


async def test_a_record_set_whose_hostname_annotation_is_taken_away_stays(shelf: Shelf) -> None:
    await published(shelf)
    await shelf.page("long", "eu.example.test", UNREADY)
    await shelf.until_records(SHORT, LONG)
    for each in await shelf.made():
        annotations = {"endpoint.dns.appthrust.io/hostname": None}
        await shelf.annotate(RECORD_SETS, each["metadata"]["name"], annotations)

    async def put_back() -> bool:
        found = [each["metadata"].get("annotations", {}) for each in await shelf.made()]
        return [each.get("endpoint.dns.appthrust.io/hostname") for each in found] == [HOSTNAME, HOSTNAME]

    await shelf.until(put_back)
    assert await shelf.records() == {SHORT, LONG}
