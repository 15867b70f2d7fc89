"""Whatever a tenant sends, others are answered meanwhile: patterns, expressions and objects are bounded before they cost much."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest

from controllers.api.group import PROVIDERS, RECORD_SETS
from kube.errors import BadRequest, Invalid, KubeError, TooLarge
from tests.product.claim import claim, manifest, zone_class
from tests.product.contract.other_provider import payload, version
from tests.product.stage import Object, Stage
from tests.product.tenancy.conftest import granting

LIMIT_S = 5.0
ATTACKERS, ROUNDS = 3, 3
SELECTOR = {"matchLabels": {"team": "web"}}
PATTERNS = {
    "many repetitions": ["(a{0,60}b{0,60}){0,60}"],
    "as many as there may be": [f"((a|b)*c{number})*d" for number in range(128)],
    "more than that": ["(a*)*b"] * 5000,
}
EVERY_WITH_EVERY = "self.spec.options.tags.all(a, self.spec.options.tags.all(b, a == b || a.matches('(x+x+)+y')))"


async def _send_zone(stage: Stage, patterns: list[str]) -> None:
    await stage.apply(granting(stage.domain, SELECTOR, [(each, "A") for each in patterns]))


async def _send_record_set(stage: Stage, spec: Object) -> None:
    found = claim("huge", "TXT", "x").manifest()
    found["spec"] |= spec
    await stage.apply(found)


async def _send_provider(stage: Stage, items: int) -> None:
    """A rule that looks at each entry for each entry; who may write Providers is trusted with less than this."""
    tags = {"type": "array", "maxItems": items, "items": {"type": "string", "maxLength": 4000}}
    rules = [{"rule": EVERY_WITH_EVERY, "message": "No."}]
    hostile = version(
        recordSet={"supportedTypes": ["A"], "schemas": {"options": payload(tags=tags)}, "validationRules": rules}
    )
    name = f"{stage.namespace}.stall.test"
    obj = manifest("Provider", name, {"display": {"name": "Stall"}, "versions": [hostile]})
    await stage.client.apply(PROVIDERS, obj, manager="test", force=True)


ATTACKS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    **{f"patterns: {name}": partial(_send_zone, patterns=each) for name, each in PATTERNS.items()},
    "texts of a megabyte": lambda stage: _send_record_set(
        stage, {"txt": {"values": [f"{number:04}" + "x" * 3900 for number in range(300)]}}
    ),
    "a hundred thousand addresses": lambda stage: _send_record_set(
        stage, {"type": "A", "txt": None, "a": {"addresses": ["192.0.2.1"] * 100_000}}
    ),
    "a deep payload": lambda stage: _send_record_set(stage, {"options": _nested(200)}),
    "a rule over thousands": lambda stage: _send_provider(stage, 5000),
    "a rule over dozens": lambda stage: _send_provider(stage, 64),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_others_are_answered_meanwhile(stage: Stage, attack: str) -> None:
    await stage.apply(zone_class())
    done = asyncio.Event()
    slowest_s = 0.0

    async def attacker() -> None:
        for _ in range(ROUNDS):
            with suppress(Invalid, BadRequest, TooLarge):
                await ATTACKS[attack](stage)

    async def victim() -> None:
        nonlocal slowest_s
        number = 0
        while not done.is_set():
            number += 1
            started = time.monotonic()
            obj = claim(f"name-{number}", "A", "192.0.2.1").manifest()
            obj["metadata"]["namespace"] = stage.namespace
            await stage.client.create(RECORD_SETS, obj, dry_run=True)
            slowest_s = max(slowest_s, time.monotonic() - started)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(victim())
        attackers = [tasks.create_task(attacker()) for _ in range(ATTACKERS)]
        await asyncio.wait(attackers)
        done.set()
    assert slowest_s < LIMIT_S
    with suppress(KubeError):
        await stage.client.delete(PROVIDERS, name=f"{stage.namespace}.stall.test")


def _nested(depth: int) -> Object:
    found: Object = {}
    for _ in range(depth):
        found = {"a": found}
    return found
