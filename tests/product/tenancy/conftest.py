"""A zone's owner and a tenant beside it, each in a namespace of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.group import NAMESPACES
from kube.client import Client
from tests.product.claim import Claim, zone
from tests.product.conftest import fresh_stage
from tests.product.product import Product
from tests.product.stage import Object, Stage


@pytest.fixture
async def tenant(product: Product, client: Client, stage: Stage) -> Stage:
    """The other namespace; its domain is that of the owner's zone."""
    return replace(await fresh_stage(product, client), domain=stage.domain)


def granting(domain: str, selector: Object, records: Iterable[tuple[str, str]]) -> Object:
    """The owner's Zone with one grant; `records` are patterns with a type."""
    found = zone(domain)
    listed = [{"name": {"pattern": pattern}, "types": [kind]} for pattern, kind in records]
    found["spec"]["allowedRecordSets"] = [{"namespaces": {"selector": selector}, "records": listed}]
    return found


def claimed_in(owner: Stage, each: Claim) -> Object:
    """A claim of somebody else to a record in the owner's zone."""
    found = each.manifest()
    found["spec"]["zoneRef"]["namespace"] = owner.namespace
    return found


async def label(stage: Stage, **labels: Any) -> None:
    await stage.client.patch_merge(NAMESPACES, {"metadata": {"labels": labels}}, name=stage.namespace)
