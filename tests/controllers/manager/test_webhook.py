"""Admission as the managers serve it: all of them, from the moment their caches are complete, with the answers of in-process calls."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from controllers.api.group import LEASES, NAMESPACES, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.core.admission.handler import Hook
from controllers.core.admission.installation import webhook_manifests
from controllers.core.admission.review import ReviewError
from controllers.core.admission.server import ListenError
from controllers.manager import LEASE_NAME
from kube.errors import Forbidden, Invalid
from kube.resource import ResourceRef
from tests.controllers.core.admission.build import Manifest, ledger, record_set, zone, zone_class
from tests.controllers.core.admission.test_handler import review
from tests.controllers.manager.corpus import reviews
from tests.controllers.manager.world import SYSTEM, World, until
from tests.server.process import free_port

KINDS = {each.kind: each for each in (ZONE_CLASSES, ZONES, RECORD_SETS, ZONE_UNITS)}
RECORD_SETS_PATH = "/validate/dns.appthrust.io/v1alpha1/recordsets"


async def test_every_manager_answers_whoever_leads(world: World) -> None:
    ports = [free_port() for _ in range(3)]
    for port in ports:
        await world.start_manager(port)

    lease = await world.client.get(LEASES, namespace=SYSTEM, name=LEASE_NAME)
    question = review("recordsets", "CREATE", record_set("A", {"spec.ttl": 0}))
    answers = [await world.post(port, RECORD_SETS_PATH, question) for port in ports]

    assert lease["spec"]["holderIdentity"] == f"manager-{ports[0]}"
    assert {status for status, _ in answers} == {200}
    assert len({body for _, body in answers}) == 1
    assert b"spec.ttl: found 0" in answers[0][1]


async def test_answers_are_those_of_calls_in_process_byte_for_byte(world: World) -> None:
    port = free_port()
    manager = await world.start_manager(port)
    hooks = {(hook.resource.plural, hook.subresource): hook for hook in manager.admission.hooks()}
    verdicts = {True: 0, False: 0, None: 0}

    for plural, subresource, question in reviews():
        hook = hooks[plural, subresource]
        expected, verdict = await in_process(hook, question)
        assert await world.post(port, hook.path, question) == expected
        verdicts[verdict] += 1

    assert min(verdicts[True], verdicts[False]) > 100
    assert verdicts[None] == 3


async def in_process(hook: Hook, question: Manifest) -> tuple[tuple[int, bytes], bool | None]:
    """The HTTP answer that a call in process stands for, and whether it allows."""
    try:
        answer = await hook.handler(question)
    except ReviewError as error:
        return (400, str(error).encode()), None
    return (200, orjson.dumps(answer)), answer["response"]["allowed"]


async def test_nobody_listens_before_the_caches_are_complete(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Admission that knows half of the objects would refuse what is right."""
    port = free_port()
    held, listed = asyncio.Event(), asyncio.Event()
    pages = world.client.pages

    async def hold(ref: Any, **options: Any) -> Any:
        if ref is ZONES:
            listed.set()
            await held.wait()
        async for page in pages(ref, **options):
            yield page

    monkeypatch.setattr(world.client, "pages", hold)
    starting = asyncio.create_task(world.start_manager(port))
    await listed.wait()
    for _ in range(20):
        assert await world.status(port, "/readyz") == 0
    held.set()
    await starting
    assert await world.status(port, "/healthz") == 200


async def test_a_cluster_that_calls_the_webhooks_refuses_what_is_wrong(world: World) -> None:
    """Controllers write under the same admission, so the claims get as far as they would in process."""
    ports = free_port(), free_port()
    for port in ports:
        await world.start_manager(port)
    world.call_webhooks(*ports)
    for name in ("platform", "app"):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await world.client.apply(NAMESPACES, namespace, manager="test")

    with pytest.raises(Invalid) as refusal:
        await world.client.create(
            RECORD_SETS, manifest("RecordSet", record_set("A", {"spec.ttl": 0, "spec.name": "A"}))
        )
    assert [cause.field for cause in refusal.value.causes] == ["spec.name", "spec.ttl"]

    await world.client.create(ZONE_CLASSES, manifest("ZoneClass", zone_class()))
    await world.client.create(ZONES, manifest("Zone", zone()))
    await world.client.create(RECORD_SETS, manifest("RecordSet", record_set()))

    async def judged() -> bool:
        claim = await world.client.get(RECORD_SETS, namespace="app", name="www")
        return bool(claim.get("status", {}).get("conditions"))

    await until(judged)


async def test_a_ledger_is_kept_while_its_zone_lives(world: World) -> None:
    port = free_port()
    await world.start_manager(port)
    world.call_webhooks(port)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "app"}}
    await world.client.apply(NAMESPACES, namespace, manager="test")
    await world.client.create(ZONES, manifest("Zone", zone()))
    await world.client.create(ZONE_UNITS, manifest("ZoneUnit", ledger()))

    with pytest.raises(Forbidden):
        await world.client.delete(ZONE_UNITS, namespace="app", name="example")


async def test_an_api_takes_what_is_generated_without_a_field_that_it_does_not_know(world: World) -> None:
    """All but the certificates, whose kinds are not the API's own."""
    taken = []
    for _, generated in webhook_manifests(world.manager(0).admission.hooks()):
        group, _, version = generated["apiVersion"].rpartition("/")
        kind = generated["kind"]
        if group != "cert-manager.io":
            namespaced = "namespace" in generated["metadata"]
            ref = ResourceRef(group, version, f"{kind.lower()}s", kind, namespaced=namespaced)
            created = await world.client.create(ref, generated, field_validation="Strict")
            assert created.get("spec", created.get("webhooks")) is not None
            taken.append(kind)

    assert taken == ["Service", "ValidatingWebhookConfiguration"]


async def test_an_address_in_use_ends_the_manager_with_a_reason(world: World) -> None:
    port = free_port()
    await world.start_manager(port)

    with pytest.raises(ExceptionGroup) as ended:
        await world.manager(port).run()

    (error,) = ended.value.exceptions
    assert isinstance(error, ListenError)
    assert f"127.0.0.1, port {port}" in str(error)


def manifest(kind: str, content: Manifest) -> Manifest:
    metadata = {name: value for name, value in content["metadata"].items() if name != "generation"}
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, **content, "metadata": metadata}
