"""A clock that need not be waited for, and the fake API where a test needs one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from kube.access import Access
from kube.client import Client
from tests.kube.fake_api import FakeApi
from tests.kube.virtual_loop import VirtualTimeLoop


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualTimeLoop}


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        yield server


@pytest.fixture
async def client(api: FakeApi) -> AsyncIterator[Client]:
    async with Client(Access(api.url), field_manager="tester") as opened:
        yield opened
