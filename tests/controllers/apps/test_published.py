"""From a Service to its answer: the whole product in one process, seen through its two ports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.apps.service.source import HOSTNAMES_ANNOTATION, SERVICES
from kube.config import connect
from tests.product.conftest import fresh_stage
from tests.product.run import running
from tests.product.stage import Stage

LIMIT_S = 60.0


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    with running(tmp_path) as product:
        async with connect(product.kubeconfig) as client:
            yield await fresh_stage(product, client)
    assert product.complaints() == ""


async def balance(stage: Stage, *ips: str) -> None:
    status = {"status": {"loadBalancer": {"ingress": [{"ip": each} for each in ips]}}}
    await stage.client.patch_merge(SERVICES, status, namespace=stage.namespace, name="shop", subresource="status")


async def until_answered(stage: Stage, *addresses: str) -> None:
    """Wait until queries for the shop are answered with these addresses: here nothing but DNS says so."""
    async with asyncio.timeout(LIMIT_S):
        while await answered(stage) != set(addresses):  # noqa: ASYNC110 - only the name server knows
            await asyncio.sleep(0.05)


async def answered(stage: Stage) -> set[str]:
    reply = await asyncio.to_thread(stage.ask, "shop", "A")
    return {rdata.to_text() for rrset in reply.answer for rdata in rrset}


async def test_a_service_is_answered_follows_its_addresses_and_goes(stage: Stage) -> None:
    await stage.set_up()
    annotations = {HOSTNAMES_ANNOTATION: f"shop.{stage.domain}"}
    metadata = {"namespace": stage.namespace, "name": "shop", "annotations": annotations}
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    await stage.client.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    await balance(stage, "192.0.2.10")
    await until_answered(stage, "192.0.2.10")
    await balance(stage, "192.0.2.11")
    await until_answered(stage, "192.0.2.11")
    await stage.client.delete(SERVICES, namespace=stage.namespace, name="shop")
    await until_answered(stage)
    claims = (await stage.client.list(RECORD_WITHDRAWALS, namespace=stage.namespace)).items
    assert {each["spec"]["address"] for each in claims} <= {"192.0.2.10", "192.0.2.11"}
