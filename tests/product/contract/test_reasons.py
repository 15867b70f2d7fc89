"""Every condition reason of the core kinds is reached through the API."""

from __future__ import annotations

import asyncio
import traceback

import pytest

from controllers.api.reason import RECORD_SET_REASONS, ZONE_CLASS_REASONS, ZONE_REASONS
from kube.client import Client
from kube.config import connect
from tests.product.conftest import fresh_stage
from tests.product.contract.around_admission import AROUND_ADMISSION
from tests.product.contract.elsewhere import ELSEWHERE, ONLY_ELSEWHERE
from tests.product.contract.row import Combination, Row
from tests.product.contract.rows import ROWS
from tests.product.contract.rows_alone import ALONE
from tests.product.product import Product

TABLES = {"ZoneClass": ZONE_CLASS_REASONS, "Zone": ZONE_REASONS, "RecordSet": RECORD_SET_REASONS}
ALL: set[Combination] = {
    (kind, str(condition), str(status), str(reason))
    for kind, table in TABLES.items()
    for (condition, status), reasons in table.items()
    for reason in reasons
}
TOGETHER = 6
TOGETHER_ROWS = [*AROUND_ADMISSION, *ROWS, *ELSEWHERE]
EVERY_ROW = [*TOGETHER_ROWS, *ALONE]


def _name(row: Row) -> str:
    kind, condition, status, reason = row.expected[0]
    return f"{row.steps.__name__}-{kind}-{condition}-{status}-{reason}"


@pytest.fixture(scope="module")
def outcomes(product: Product) -> dict[int, str]:
    """What went wrong with each row: several are under way at a time, those that change the product for all alone at the end."""
    return asyncio.run(_run_all(product))


async def _run_all(product: Product) -> dict[int, str]:
    found: dict[int, str] = {}
    gate = asyncio.Semaphore(TOGETHER)

    async def run(client: Client, number: int) -> None:
        async with gate:
            try:
                await EVERY_ROW[number].run(await fresh_stage(product, client))
            except Exception:  # noqa: BLE001 - it is the row's own test that fails
                found[number] = traceback.format_exc()

    async with connect(product.kubeconfig) as client:
        await asyncio.gather(*(run(client, number) for number in range(len(TOGETHER_ROWS))))
        for number in range(len(TOGETHER_ROWS), len(EVERY_ROW)):
            await run(client, number)
    return found


@pytest.mark.parametrize("number", range(len(EVERY_ROW)), ids=[_name(each) for each in EVERY_ROW])
def test_steps_lead_to_their_conditions(outcomes: dict[int, str], number: int) -> None:
    assert number not in outcomes, outcomes[number]


def test_core_and_the_hosted_provider_give_every_reason_that_only_others_do_not() -> None:
    given = {each for row in (*AROUND_ADMISSION, *ROWS, *ALONE) for each in row.expected}
    assert given <= ALL
    assert given.isdisjoint(ONLY_ELSEWHERE)
    assert given | ONLY_ELSEWHERE.keys() == ALL
