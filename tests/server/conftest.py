"""The server that the black-box tests ask: our own on the test zones, or the one that DNS_TARGET=HOST:PORT names.

Another server has to serve the files of `zones/` already.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import serving
from tests.server.question import Target

ZONES = Path(__file__).parent / "zones"


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    if named := os.environ.get("DNS_TARGET"):
        host, _, port = named.rpartition(":")
        yield Target(host, int(port))
        return
    with serving(sorted(ZONES.glob("*.zone")), tmp_path_factory.mktemp("server")) as server:
        yield server.target
        log = server.log.read_text()
    assert "query failed" not in log, log
