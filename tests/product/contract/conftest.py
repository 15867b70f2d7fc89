"""One `dns-api up` for the tests of the contract, with some claims from before its first start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.product.contract import around_admission
from tests.product.product import Product, running


@pytest.fixture(scope="package")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("contract")
    asyncio.run(around_admission.write(folder / "data"))
    with running(folder) as product:
        yield product
    assert product.complaints() == ""
