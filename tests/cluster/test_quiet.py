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
LEASE_S = 15
LONG_LEASE_S = 600
RENEWALS = 3
"""A Lease is renewed that often in its duration."""


@pytest.fixture(scope="module")
def stand(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with standing(tmp_path_factory.mktemp("stand"), programs) as stand:
        yield stand
    assert stand.product.complaints() == ""


def test_a_quiet_hour_costs_less_than_a_write_a_minute(stand: Stand) -> None:
    """Zones of every provider, endpoints and withdrawals are there; with a Lease that lasts, its renewals are within the bar, too."""
    begin(stand)
    begun = _after(0)
    renewals, _, _ = _asked(stand, begun, _after(SETTLED_S))
    stand.product.replace_manager(FAST, f"--lease-duration-seconds={LONG_LEASE_S}")
    start = _after(SETTLED_S)
    before = _looks(stand)
    end = _after(QUIET_S)
    looks = [after - at_first for after, at_first in zip(_looks(stand), before, strict=True)]
    leases, others, requests = _asked(stand, start, end)
    told = f"{others.total()} writes and {leases} renewals of a Lease of {LONG_LEASE_S} s, {requests} requests"
    print(
        f"\nan hour of the manager's clock without a change: {told}; Route 53 and Cloudflare were asked {looks} times;"
        f" {renewals} renewals in {SETTLED_S:g} s of a Lease of {LEASE_S} s; writes: {dict(others)}"
    )
    assert min(looks) > 0
    assert 0 < leases + others.total() < HOUR_MINUTES, others
    assert 0 < renewals <= SETTLED_S * RENEWALS / LEASE_S + 1


def _asked(stand: Stand, start: str, end: str) -> tuple[int, Counter[str], int]:
    """Return the renewals of the Lease, the other writes by right, and the number of all requests."""
    every = [each for each in asked(stand.product.plane.audit_log) if start <= each.at < end]
    writes = Counter(f"{each.account}: {each.right}" for each in every if each.is_write)
    leases = sum(count for right, count in writes.items() if " leases." in right)
    return leases, Counter({right: count for right, count in writes.items() if " leases." not in right}), len(every)


def _looks(stand: Stand) -> tuple[int, int]:
    """Count what Route 53 and Cloudflare were asked so far."""
    return len(stand.aws.calls), len(stand.cloudflare.calls)


def _after(seconds: float) -> str:
    """Let time pass and return the present as audit logs write it."""
    time.sleep(seconds)  # it is the passing of time that is tested
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
