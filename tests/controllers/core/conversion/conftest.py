"""A clock that need not be waited for, an authority, and a conversion server on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from tests.controllers.core.admission.authority import Authority
from tests.controllers.core.conversion.webhook import ConversionServer
from tests.kube.virtual_loop import VirtualTimeLoop


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualTimeLoop}


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture
async def webhook(authority: Authority, tmp_path: Path) -> AsyncIterator[ConversionServer]:
    async with ConversionServer(authority, tmp_path) as server:
        yield server
