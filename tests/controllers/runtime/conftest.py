"""A clock that need not be waited for, and the fake API where a test needs one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.kube.fake_api_fixtures import api, client
from tests.kube.virtual_loop import VirtualTimeLoop

__all__ = ["api", "client"]


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualTimeLoop}
