"""What an installation writes when nobody does anything, counted by the audit log of the API server."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cluster.audit import Asked, asked
from tests.cluster.stand import Stand, standing
from tests.helm.life import begin

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SETTLED_S = 45.0
QUIET_S = 180.0
RENEWALS = 0.55  # a second: the Lease is renewed every two, as client-go does


@pytest.fixture(scope="module")
def stand(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with standing(tmp_path_factory.mktemp("stand"), programs) as stand:
        yield stand
    assert stand.product.complaints() == ""


def test_a_quiet_installation_writes_nothing_but_its_lease(stand: Stand) -> None:
    """Zones of every provider, endpoints and withdrawals are there; a whole minute without a write is what the bar allows."""
    begin(stand)
    start = _after(SETTLED_S)
    end = _after(QUIET_S)
    writes = [each for each in _requests(stand) if each.is_write and start <= each.at < end]
    leases = [each for each in writes if each.right.resource == "leases"]
    others = Counter(f"{each.account}: {each.right}" for each in writes if each.right.resource != "leases")
    asked_for = sum(start <= each.at < end for each in _requests(stand))
    minutes = QUIET_S / 60
    print(
        f"\n{QUIET_S:g} s of quiet: {sum(others.values())} writes, {len(leases) / minutes:.1f} renewals of the Lease a minute,"
        f" {asked_for / minutes:.1f} requests of all kinds a minute"
    )
    assert sum(others.values()) < minutes, others
    assert len(leases) <= RENEWALS * QUIET_S


def _after(seconds: float) -> str:
    """Let time pass and return the present as audit logs write it."""
    time.sleep(seconds)  # it is the passing of time that is tested
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _requests(stand: Stand) -> list[Asked]:
    return list(asked(stand.product.plane.audit_log))
