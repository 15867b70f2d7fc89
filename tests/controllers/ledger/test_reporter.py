"""Statuses are written onto what is known of them, never over what another manager has noted meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controllers.api.condition import ConditionStatus
from controllers.api.group import API_VERSION, NAMESPACES, PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from controllers.api.provider import parse_provider
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import ZoneUnit, parse_zone_unit
from controllers.core.providercontract.conversion.client import ConversionClient
from controllers.core.providercontract.conversion.desk import ConversionDesk
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.ledger.binding import Binding
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import ZoneResult
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.errors import Cause, Conflict, Invalid
from kube.informer import Informer
from tests.standalone.installed import installed

NAMESPACE = "team"
BINDING = Binding.of("notebook.test")
SPEC = {
    "provider": {"name": "notebook.test", "version": "v1alpha1"},
    "zone": {
        "ref": {"namespace": NAMESPACE, "name": "zone"},
        "observedGeneration": 1,
        "domainName": "example.test",
        "zoneClassRef": {"namespace": NAMESPACE, "name": "books"},
    },
    "part": 0,
    "recordSets": [],
}
RESULT = ZoneResult(ACCEPTED, Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED, ""), ("ns1.example",))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with installed(tmp_path / "data") as api, Client(Access(api.url), field_manager="test") as client:
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield client


def reporter(client: Client) -> Reporter:
    """A manager's own: it remembers its own writes, and knows of others' what its caches show."""
    informers = LedgerInformers(
        Informer(client, PROVIDERS, parse_provider),
        Informer(client, ZONE_CLASSES, parse_zone_class),
        Informer(client, ZONE_UNITS, parse_zone_unit),
    )
    surroundings = Surroundings(client, informers, EventRecorder(client, "test", instance="test"))
    desk = ConversionDesk(ConversionClient(), lambda key: None)
    return Reporter(LedgerContext(surroundings, BINDING, StoredClasses(desk, BINDING.provider)))


async def made(client: Client) -> ZoneUnit:
    metadata = {"namespace": NAMESPACE, "name": "zone"}
    body = {"apiVersion": API_VERSION, "kind": "ZoneUnit", "metadata": metadata, "spec": SPEC}
    return parse_zone_unit(await client.create(ZONE_UNITS, body))


async def state(client: Client) -> Any:
    found = await client.get(ZONE_UNITS, name="zone", namespace=NAMESPACE)
    return found["status"]["provider"]["state"]


async def test_an_intent_that_the_cache_does_not_show_is_not_written_over(client: Client) -> None:
    stale = await made(client)
    former, successor = reporter(client), reporter(client)
    await former.note(stale, {"callerReference": "first"})
    with pytest.raises(Conflict):
        await successor.note(stale, {"callerReference": "second"})
    assert await state(client) == {"callerReference": "first"}


async def test_a_later_intent_is_not_written_over_either(client: Client) -> None:
    unit = await made(client)
    former, successor = reporter(client), reporter(client)
    await former.note(unit, {"step": "one"})
    stale = parse_zone_unit(await client.get(ZONE_UNITS, name="zone", namespace=NAMESPACE))
    await former.note(unit, {"step": "two"})
    with pytest.raises(Conflict):
        await successor.note(stale, {"step": "mine"})
    assert await state(client) == {"step": "two"}


async def test_own_writes_that_the_cache_does_not_show_are_no_obstacle(client: Client) -> None:
    unit = await made(client)
    writer = reporter(client)
    await writer.hold([unit])
    await writer.note(unit, {"step": "one"})
    await writer.note(unit, {"step": "two"})
    assert await state(client) == {"step": "two"}


async def test_a_status_that_is_refused_is_not_tried_again_before_it_is_another_one(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit, writer = await made(client), reporter(client)
    tried: list[str] = []

    async def refuse(*_: Any, **__: Any) -> dict[str, Any]:
        tried.append("once more")
        raise Invalid("no", code=422, reason="Invalid", causes=(Cause("status", "FieldValueInvalid", "no"),))

    with monkeypatch.context() as patch:
        patch.setattr(client, "patch_json", refuse)
        for _ in range(3):
            with pytest.raises(Invalid, match="no"):
                await writer.report(unit.spec.zone.ref.key, [unit], RESULT, [()], [()])
        assert len(tried) == 1
        other = replace(RESULT, name_servers=("ns2.example",))
        with pytest.raises(Invalid, match="no"):
            await writer.report(unit.spec.zone.ref.key, [unit], other, [()], [()])
        assert len(tried) == 2
    await writer.report(unit.spec.zone.ref.key, [unit], RESULT, [()], [()])
    found = await client.get(ZONE_UNITS, name="zone", namespace=NAMESPACE)
    assert found["status"]["zone"]["nameServers"] == ["ns1.example"]


@pytest.mark.parametrize("moved", ["provider", "status"])
async def test_a_status_that_is_refused_is_tried_again_when_the_provider_or_what_stands_there_is_another_one(
    client: Client, monkeypatch: pytest.MonkeyPatch, moved: str
) -> None:
    """Also when that came while the refused request was under way."""
    unit, writer = await made(client), reporter(client)
    generation = 1
    monkeypatch.setattr(
        LedgerContext, "provider", lambda _: SimpleNamespace(meta=SimpleNamespace(uid="one", generation=generation))
    )

    async def refuse(*_: Any, **__: Any) -> dict[str, Any]:
        nonlocal generation
        generation += moved == "provider"
        raise Invalid("no", code=422, reason="Invalid", causes=(Cause("status", "FieldValueInvalid", "no"),))

    with monkeypatch.context() as patch:
        patch.setattr(client, "patch_json", refuse)
        with pytest.raises(Invalid, match="no"):
            await writer.report(unit.spec.zone.ref.key, [unit], RESULT, [()], [()])
    if moved == "status":
        status = {"status": {"observedGeneration": 1}}
        written = await client.patch_merge(ZONE_UNITS, status, name="zone", namespace=NAMESPACE, subresource="status")
        unit = parse_zone_unit(written)
    await writer.report(unit.spec.zone.ref.key, [unit], RESULT, [()], [()])
    found = await client.get(ZONE_UNITS, name="zone", namespace=NAMESPACE)
    assert found["status"]["zone"]["nameServers"] == ["ns1.example"]
