"""The fake API, a client of it, and a clock that need not be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.kube.fake_api_fixtures import api, client
from tests.kube.virtual_loop import VirtualTimeLoop

__all__ = ["api", "client"]

REAL_TIME = {"test_embedded_api", "test_speed", "test_config"}


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.stem in REAL_TIME:
        return {"real": asyncio.new_event_loop}
    return {"virtual": VirtualTimeLoop}
