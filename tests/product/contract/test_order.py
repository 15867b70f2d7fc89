"""A Provider, a class, a zone and records in every order: what needs the Provider is refused until it is there, nothing else is.

A client that applies again what was refused, as GitOps does, ends with the same ledger whatever the order was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations

import pytest

from controllers.api.group import RECORD_SETS, ZONE_UNITS, ZONES
from kube.client import Client
from kube.config import connect
from kube.errors import Invalid
from tests.product.claim import ZONE, claim
from tests.product.conftest import fresh_stage
from tests.product.contract.other_provider import OtherProvider
from tests.product.contract.row import WWW
from tests.product.product import Product

KINDS = ("Provider", "ZoneClass", "Zone", "RecordSets")
TEXT = claim("text", "TXT", "text")
SERVED = [("Accepted", "True", "Accepted"), ("Programmed", "True", "Programmed")]
ORDERS = list(permutations(KINDS))


@pytest.fixture(scope="module")
def outcomes(product: Product) -> dict[tuple[str, ...], str]:
    """What went wrong with each order; several are under way at a time."""

    async def run_all() -> list[str]:
        async with connect(product.kubeconfig) as client:
            return await asyncio.gather(*(_outcome(product, client, order) for order in ORDERS))

    return dict(zip(ORDERS, asyncio.run(run_all()), strict=True))


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_every_order_ends_in_the_same_ledger(outcomes: dict[tuple[str, ...], str], order: tuple[str, ...]) -> None:
    assert outcomes[order] == ""


async def _outcome(product: Product, client: Client, order: tuple[str, ...]) -> str:
    try:
        await _apply_in(product, client, order)
    except (AssertionError, TimeoutError) as error:
        return str(error) or type(error).__name__
    return ""


async def _apply_in(product: Product, client: Client, order: tuple[str, ...]) -> None:
    stage = await fresh_stage(product, client)
    other = OtherProvider(stage)

    async def records() -> None:
        for each in (WWW, TEXT):
            await other.apply_record_set(each)

    acts: dict[str, Callable[[], Awaitable[None]]] = {
        "Provider": other.install,
        "ZoneClass": other.apply_class,
        "Zone": other.apply_zone,
        "RecordSets": records,
    }
    provider_at = order.index("Provider")
    for kind in order[:provider_at]:
        with pytest.raises(Invalid, match="InvalidProvider"):
            await acts[kind]()
    for kind in (*order[provider_at:], *order[:provider_at]):
        await acts[kind]()
    await other.judge_class()
    unit = await stage.until_there(ZONE_UNITS, ZONE, lambda obj: len(obj["spec"].get("recordSets", ())) == 2)
    items = unit["spec"]["recordSets"]
    assert [(each["recordSetName"], each["observedGeneration"]) for each in items] == [("text-txt", 1), ("www-a", 1)]
    await other.say(SERVED, SERVED)
    await stage.until_programmed(ZONES, ZONE)
    for each in (WWW, TEXT):
        await stage.until_programmed(RECORD_SETS, each.name)
