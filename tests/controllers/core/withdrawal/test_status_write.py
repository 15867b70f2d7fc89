"""Statuses as they are written: nothing of an older one stays, and only the very object that was judged gets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from controllers.api.crd import custom_resource_definitions
from controllers.api.group import RECORD_SETS
from controllers.api.patch import replacement
from controllers.api.record_set import RecordSetStatus
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, RecordWithdrawalStatus, parse_record_withdrawal
from controllers.api.zone import ProviderData
from controllers.core.withdrawal.projector import write_status_of
from kube.access import Access
from kube.client import Client
from kube.errors import KubeError
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.controllers.core import build

SPEC = {
    "zoneRef": {"name": "example"},
    "provider": build.PROVIDER,
    "name": "www",
    "address": "192.0.2.1",
}
CLAIM = {
    "apiVersion": RECORD_WITHDRAWALS.api_version,
    "kind": RECORD_WITHDRAWALS.kind,
    "metadata": {"namespace": "default", "name": "old", "labels": {"dns.appthrust.io/address": "c0000201"}},
    "spec": SPEC,
}
GOOD = RecordWithdrawalStatus(observed_generation=1, provider=ProviderData(data={"serial": 1}))


def test_a_replacement_names_what_is_not_there_any_more() -> None:
    assert replacement(RecordSetStatus(observed_generation=1)) == {
        "observedGeneration": 1,
        "zone": None,
        "provider": None,
        "conditions": [],
    }
    assert RECORD_SETS.kind in {each["spec"]["names"]["kind"] for each in custom_resource_definitions()}


async def test_a_claim_of_the_same_name_gets_nothing_of_what_was_decided_for_the_former_one(tmp_path: Path) -> None:
    async with ApiServer(tmp_path) as api, Client(Access(api.url), field_manager="test") as client:
        await install(client)
        former = parse_record_withdrawal(await client.create(RECORD_WITHDRAWALS, CLAIM))
        await write_status_of(client, RECORD_WITHDRAWALS, former.meta, GOOD)
        seen = parse_record_withdrawal(await client.get(RECORD_WITHDRAWALS, namespace="default", name="old"))
        assert seen.status == GOOD
        await write_status_of(client, RECORD_WITHDRAWALS, seen.meta, RecordWithdrawalStatus(observed_generation=1))
        found = await client.get(RECORD_WITHDRAWALS, namespace="default", name="old")
        assert "provider" not in found["status"]

        await client.delete(RECORD_WITHDRAWALS, namespace="default", name="old")
        await client.create(RECORD_WITHDRAWALS, CLAIM)
        with pytest.raises(KubeError):
            await write_status_of(client, RECORD_WITHDRAWALS, seen.meta, GOOD)
        again = await client.get(RECORD_WITHDRAWALS, namespace="default", name="old")
        assert "status" not in again
        await client.delete(RECORD_WITHDRAWALS, namespace="default", name="old")
        await write_status_of(client, RECORD_WITHDRAWALS, seen.meta, GOOD)
