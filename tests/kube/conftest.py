"""The fake API, a client of it, and a clock that need not be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from kube.access import Access
from kube.client import Client
from tests.kube.fake_api import FakeApi
from tests.kube.virtual_loop import VirtualTimeLoop

REAL_TIME = {"test_embedded_api", "test_speed", "test_config"}


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.stem in REAL_TIME:
        return {"real": asyncio.new_event_loop}
    return {"virtual": VirtualTimeLoop}


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        yield server


@pytest.fixture
async def client(api: FakeApi) -> AsyncIterator[Client]:
    async with Client(Access(api.url), field_manager="tester") as opened:
        yield opened
