"""A fake of AWS for each test, and a world around it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.controllers.providers.route53.fake.server import FakeAws, serving
from tests.controllers.providers.route53.world import World, entering, runtime_credentials


@pytest.fixture
def aws() -> Iterator[FakeAws]:
    with serving(FakeAws()) as fake:
        yield fake


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in runtime_credentials().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
async def world(tmp_path: Path, aws: FakeAws) -> AsyncIterator[World]:
    async with entering(tmp_path, aws) as world:
        yield world
