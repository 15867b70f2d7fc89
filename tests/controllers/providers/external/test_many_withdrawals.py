"""As many withdrawals as a ledger holds, and one more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from controllers.api.group import ZONE_UNITS
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from tests.controllers.probe.peer import running_peer, zone_text
from tests.controllers.providers.external.world import DOMAIN, NAMESPACE, World

LIMIT = 256
BODY = "ns1 IN A 127.0.0.1\nns2 IN A 127.0.0.1\n* IN A 192.0.2.1\n"


async def test_one_too_many_refuses_the_inventory_and_loses_none(tmp_path: Path) -> None:
    async with (
        running_peer("nsd", tmp_path / "nsd", {DOMAIN: zone_text(DOMAIN, BODY)}) as peer,
        World(tmp_path) as world,
    ):

        async def accepted() -> dict[str, int]:
            found: dict[str, int] = {}
            for claim in (await world.client.list(RECORD_WITHDRAWALS, namespace=NAMESPACE)).items:
                conditions = claim.get("status", {}).get("conditions", [])
                reason = next((each["reason"] for each in conditions if each["type"] == "Accepted"), "none")
                found[reason] = found.get(reason, 0) + 1
            return found

        async def until(wanted: dict[str, int]) -> None:
            async def holds() -> bool:
                return await accepted() == wanted

            await world.until(holds)

        async def items() -> list[dict[str, Any]]:
            found = await world.get(ZONE_UNITS, "shop")
            return list(found["spec"]["withdrawals"])

        await world.zone(peer.address)
        for start in range(0, LIMIT, 32):
            await asyncio.gather(
                *(world.withdrawal(f"c{number:03}", f"h{number}", "192.0.2.1") for number in range(start, start + 32))
            )
        await until({"Accepted": LIMIT})
        await world.until_says(RECORD_WITHDRAWALS, "c255", "False", "StillPublished", "Withdrawn")
        assert len(await items()) == LIMIT

        await world.withdrawal("one-more", "h256", "192.0.2.1")
        await until({"InvalidWithdrawal": LIMIT + 1})
        kept = await items()
        assert [each["claimName"] for each in kept] == [f"c{number:03}" for number in range(LIMIT)]
        assert not any(each["allowed"] for each in kept)
        await world.until_says(RECORD_WITHDRAWALS, "c000", "False", "NotAccepted", "Ready")
        message = (await world.condition(RECORD_WITHDRAWALS, "one-more", "Accepted"))["message"]
        assert message == "The Zone has 257 RecordWithdrawals, allowed are 256; none of them is observed."

        await world.delete(RECORD_WITHDRAWALS, "c007")
        await until({"Accepted": LIMIT})
        assert {each["claimName"] for each in await items()} >= {"one-more", "c000", "c255"}
        await world.until_says(RECORD_WITHDRAWALS, "one-more", "False", "StillPublished", "Withdrawn")
