"""One `dns-api up` for the tests of the contract, with some claims from before its first start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.product.contract import around_admission
from tests.product.product import Product
from tests.product.run import running


@pytest.fixture(scope="package")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("contract")
    with running(folder, before=around_admission.write) as product:
        yield product
    assert product.complaints() == ""
