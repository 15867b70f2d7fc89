"""The programs that the tests of the installation run."""

from __future__ import annotations

import pytest

from tests.helm.place import BIN
from tests.tools import kubectl as binaries


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    """Fetch kubectl and helm when the set-up did not."""
    binaries.install(BIN)
