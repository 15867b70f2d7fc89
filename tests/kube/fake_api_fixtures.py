"""A fake API and a client of it, as fixtures: name both in a conftest or a test module that wants them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kube.access import Access
from kube.client import Client
from tests.kube.fake_api import FakeApi

__all__ = ["api", "client"]


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        yield server


@pytest.fixture
async def client(api: FakeApi) -> AsyncIterator[Client]:
    async with Client(Access(api.url), field_manager="tester") as opened:
        yield opened
