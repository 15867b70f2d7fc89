"""One embedded API with the manager and a fake Cloudflare for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.controllers.providers.cloudflare.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as found:
        yield found
