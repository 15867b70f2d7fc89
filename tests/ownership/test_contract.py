"""The backends of this package keep the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ownership.backends.protocol import Backend
from ownership.backends.zone_file import open_zone_file
from tests.ownership.contract import BackendContract
from tests.ownership.fake_zone import FakeBackend
from tests.ownership.primary import KINDS, ZONE_TEXT, running_primary


class TestMasterFile(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        path = tmp_path / "zone"
        path.write_text(ZONE_TEXT)
        return open_zone_file(path)


class TestDnsUpdate(BackendContract):
    @pytest.fixture(params=KINDS)
    async def backend(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
        async with running_primary(request.param, tmp_path / "daemon") as primary:
            yield primary.backend()


class TestFake(BackendContract):
    """The zone of the tests of the writer behaves as real ones do."""

    @pytest.fixture(params=[(True, True), (False, True), (True, False)])
    def backend(self, request: pytest.FixtureRequest) -> Backend:
        enumerates, conditional = request.param
        return FakeBackend(enumerates=enumerates, conditional=conditional)
