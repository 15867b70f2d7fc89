"""What an installation writes in an hour in which nobody does anything, counted by the audit log of the API server."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cluster.audit import asked
from tests.cluster.fast_clock import SPEED
from tests.cluster.stand import Stand, standing
from tests.helm.life import begin

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SETTLED_S = 30.0
QUIET_S = 3600 / SPEED
HOUR_MINUTES = 60
FAST = ("-m", "tests.cluster.fast_clock")
RENEWAL_S = 2.0
"""A Lease is renewed that often, as client-go does."""


@pytest.fixture(scope="module")
def stand(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with standing(tmp_path_factory.mktemp("stand"), programs) as stand:
        yield stand
    assert stand.product.complaints() == ""


def test_a_quiet_hour_costs_no_write_but_those_of_the_lease(stand: Stand) -> None:
    """Zones of every provider, endpoints and withdrawals are there; a write a minute is what the bar allows."""
    begin(stand)
    stand.product.replace_manager(FAST)
    start = _after(SETTLED_S)
    before = _looks(stand)
    end = _after(QUIET_S)
    looks = [after - at_first for after, at_first in zip(_looks(stand), before, strict=True)]
    quiet = [each for each in asked(stand.product.plane.audit_log) if start <= each.at < end]
    writes = [each for each in quiet if each.is_write]
    leases = sum(each.right.resource == "leases" for each in writes)
    others = Counter(f"{each.account}: {each.right}" for each in writes if each.right.resource != "leases")
    told = f"{sum(others.values())} writes, {leases / HOUR_MINUTES:.1f} renewals of the Lease a minute, {len(quiet)} requests"
    print(
        f"\nan hour of the manager's clock without a change: {told}; Route 53 and Cloudflare were asked {looks} times"
    )
    assert min(looks) > 0
    assert sum(others.values()) < HOUR_MINUTES, others
    assert 0 < leases <= 3600 / RENEWAL_S


def _looks(stand: Stand) -> tuple[int, int]:
    """Count what Route 53 and Cloudflare were asked so far."""
    return len(stand.aws.calls), len(stand.cloudflare.calls)


def _after(seconds: float) -> str:
    """Let time pass and return the present as audit logs write it."""
    time.sleep(seconds)  # it is the passing of time that is tested
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
