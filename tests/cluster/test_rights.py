"""Every right of the chart is used by some suite on a real control plane, or is listed here with the reason that it is there.

Judges the audit logs of all suites that ran before: `make test-kube` runs this at its end. What the provider of tests needs for its own
kinds is none of the chart's.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cluster.audit import Asked, asked, used
from tests.cluster.installation import SETTINGS
from tests.controllers.ledger.notebook import PENS
from tests.helm.chart import render
from tests.helm.rights import Right, rights_of

AUDIT = os.environ.get("DNS_API_KUBE_AUDIT_OF_ALL", "")
ACCOUNTS = ("dns-api-manager", "dns-api-server")
WITH_A_REASON = {
    "dns-api-manager: get configmaps extension-apiserver-authentication in kube-system": "a role of the cluster has it",
    "dns-api-manager: get hostedzones.hosted.dns.appthrust.io": "a snapshot is read again when another manager made it first",
    "dns-api-manager: get providers.dns.appthrust.io": "admission asks for a Provider that its cache does not have yet",
    "dns-api-manager: get zones.dns.appthrust.io": "admission asks for a Zone that its cache does not have yet",
    "dns-api-server: get hostedzones.hosted.dns.appthrust.io": "what reads a kind is given all three verbs of reading",
}
"""Rights that depend on what comes first, or that nothing needs."""

pytestmark = pytest.mark.skipif(not AUDIT, reason="judges what all suites asked for: DNS_API_KUBE_AUDIT_OF_ALL")


@pytest.fixture(scope="module")
def requests() -> list[Asked]:
    logs = sorted(Path(AUDIT).glob("*.log"))
    found = [each for log in logs for each in asked(log) if not each.right.group.endswith(PENS.group)]
    assert {each.account for each in found} == set(ACCOUNTS)
    return found


@pytest.fixture(scope="module")
def granted() -> dict[str, frozenset[Right]]:
    manifests = render(*SETTINGS)
    return {account: rights_of(manifests, account) for account in ACCOUNTS}


def test_no_right_is_there_for_nothing(requests: list[Asked], granted: dict[str, frozenset[Right]]) -> None:
    needed: dict[str, set[Right]] = {account: set() for account in ACCOUNTS}
    for account, right in used(each for each in requests if each.code < 400):
        needed[account].add(right)
    unused = {
        f"{account}: {right}"
        for account, rights in granted.items()
        for right in rights
        if not any(right.covers(each) for each in needed[account])
    }
    assert unused <= set(WITH_A_REASON)
    assert set(WITH_A_REASON) <= {f"{account}: {right}" for account, rights in granted.items() for right in rights}


def test_nothing_was_asked_for_without_a_right(requests: list[Asked], granted: dict[str, frozenset[Right]]) -> None:
    """An API server that starts refuses everything for a moment, before it has read the roles: what they give is no fault."""
    without = {
        f"{account}: {right}"
        for account, right in used(requests)
        if not any(each.covers(right) for each in granted[account])
    }
    assert without == set()
