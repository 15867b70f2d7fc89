"""One embedded API with the manager and a fake Cloudflare for each test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.controllers.providers.cloudflare.world import World, prepare


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of an API with everything installed, to be copied: installing takes longer than most tests."""
    folder = tmp_path_factory.mktemp("installation")
    asyncio.run(prepare(folder))
    return folder


@pytest.fixture
async def world(tmp_path: Path, installation: Path) -> AsyncIterator[World]:
    async with World(tmp_path, installation) as found:
        yield found
